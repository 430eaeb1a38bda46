//! Tests with pickles that Python wrote, and with malicious ones.

use super::*;
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Result<Value> {
    Value::from_pickle(bytes, &Options::default())
}

/// `{'a': [1, -2, 3.5, None, True], 'b': (b'x', 'é')}` written by Python's `pickle.dumps` with protocol 2 and 4.
#[test]
fn values_of_python() {
    let expected = Value::Dict(vec![
        (
            Value::Text("a".into()),
            Value::List(vec![Value::Int(1), Value::Int(-2), Value::Float(3.5), Value::None, Value::Bool(true)]),
        ),
        (Value::Text("b".into()), Value::Tuple(vec![Value::Bytes(vec![b'x']), Value::Text("é".into())])),
    ]);
    let two = b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01]q\x02(K\x01J\xfe\xff\xff\xffG@\x0c\x00\x00\x00\x00\x00\x00N\x88eX\
        \x01\x00\x00\x00bq\x03c_codecs\nencode\nq\x04X\x01\x00\x00\x00xq\x05X\x06\x00\x00\x00latin1q\x06\x86q\x07Rq\x08X\
        \x02\x00\x00\x00\xc3\xa9q\t\x86q\nu.";
    assert_eq!(read(two), Ok(expected.clone()));
    let four =
        b"\x80\x04\x95.\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94]\x94(K\x01J\xfe\xff\xff\xffG@\x0c\x00\x00\x00\
        \x00\x00\x00N\x88e\x8c\x01b\x94C\x01x\x94\x8c\x02\xc3\xa9\x94\x86\x94u.";
    assert_eq!(read(four), Ok(expected));
    assert_eq!(
        read(b"(lp0\nI7\naL8L\naF-0.5\na."),
        Ok(Value::List(vec![Value::Int(7), Value::Int(8), Value::Float(-0.5)]))
    );
}

#[test]
fn nothing_of_a_pickle_runs() {
    for bytes in [&b"cos\nsystem\n(S'true'\ntR."[..], b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R."] {
        let message = read(bytes).expect_err("a call of the system").to_string();
        assert!(message.contains("system"), "{message}");
    }
    // Opcodes for objects by persistent id, extension codes, sets, out-of-band buffers and instances.
    for opcode in [b"P1\n.".as_slice(), b"Q.", b"\x82\x01.", b"\x8f.", b"\x97.", b"i__main__\nA\n."] {
        assert!(read(opcode).is_err(), "{opcode:?}");
    }
}

#[test]
fn sharing_cannot_make_much_of_little() {
    // A list [x, x] whose items are lists [x, x], nested 40 levels deep.
    let mut bytes = b"]q\x00".to_vec();
    for i in 0u8..40 {
        bytes.extend([b']', b'q', i + 1, b'(', b'h', i, b'h', i, b'e']);
    }
    bytes.push(b'.');
    assert!(read(&bytes).is_err());
    // A list that contains itself.
    assert!(read(b"]q\x00h\x00a.").is_err());
    assert!(read(&[vec![b']'; 200], vec![b'a'; 199], vec![b'.']].concat()).is_err());
}

/// Each call in a pickle may copy its whole argument. Without a limit on the copied bytes, these 68 kB would take 64
/// MiB, and 400 kB would take tens of gigabytes.
#[test]
fn calls_cannot_copy_one_argument_again_and_again() {
    let argument = [b"X\x00\x00\x01\x00".as_slice(), &[b'x'; 1 << 16]].concat();
    for callee in [&b"c_codecs\nencode\nq\x00"[..], b"cbuiltins\nbytearray\nq\x00"] {
        let start = [callee, b"0", &argument, b"\x85q\x010"].concat();
        let calls = |n: usize| [start.clone(), b"h\x00h\x01R0".repeat(n), b"N.".to_vec()].concat();
        assert_eq!(read(&calls(2)), Ok(Value::None), "a few calls are honest");
        let message = read(&calls(1000)).expect_err("1000 copies of 64 KiB").to_string();
        assert!(message.contains("bytes that the calls of a pickle copy"), "{message}");
    }
    // One tuple of many items holds the arguments of the constructors of many objects.
    let tuple = [b"(".as_slice(), &[b'N'; 1 << 16], b"tq\x010"].concat();
    let many = [b"cbuiltins\nobject\nq\x000".as_slice(), &tuple, &b"h\x00h\x01R0".repeat(1000), b"N."].concat();
    let message = read(&many).expect_err("1000 copies of 65,536 places").to_string();
    assert!(message.contains("bytes that the calls of a pickle copy"), "{message}");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
        let _ = PickledStates::from_bytes(&bytes, &Options::default());
    }

    #[test]
    fn opcodes_in_any_order_are_read_or_refused(
        codes in proptest::collection::vec(proptest::sample::select(&b"(0NK\x01]}aesut\x85\x86R\x81b\x94h\x00q\x00l d.)"[..]), 0..60)
    ) {
        let _ = read(&codes);
    }
}

/// The error for each limit names the counted quantity and the limit itself.
#[test]
fn a_limit_names_what_it_counts() {
    // A list with 16 references to one text of 1 MB, which the file contains only once.
    let text = vec![b'x'; 1_000_000];
    let mut bytes = [&b"]q\x00(X"[..], &1_000_000u32.to_le_bytes(), &text, b"q\x01"].concat();
    bytes.extend(b"h\x01".repeat(15));
    bytes.extend(b"e.");
    let message = read(&bytes).expect_err("15 MB more than the file has").to_string();
    let max = 2 * bytes.len() + (1 << 20);
    assert!(message.contains("bytes of the values") && message.contains(&max.to_string()), "{message}");
}
