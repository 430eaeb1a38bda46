//! Tests errors: their kinds, texts and sources.

use super::*;

#[test]
fn one_word_wide() {
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
}

#[test]
fn message_has_kind_then_chain() {
    let e = Error::shape("Convolution", "weight", "(8, 3, 3, 3)", "(8, 4, 3, 3)").context("binding `conv0`");
    assert_eq!(
        e.to_string(),
        "Convolution: shape of `weight`: got (8, 4, 3, 3), expected (8, 3, 3, 3)\n  while binding `conv0`"
    );
}

#[test]
fn no_room_without_a_pool_has_no_blocks() {
    let error = Error::out_of_memory(Device::cpu(0), 64, "the system refused");
    assert!(matches!(error.kind(), ErrorKind::OutOfMemory { requested: 64, live: 0, cached: 0, .. }), "{error}");
    assert!(error.to_string().ends_with("; the system refused"), "{error}");
}

#[test]
fn the_cause_is_kept_by_its_type_and_shared_by_clones() {
    use std::error::Error as _;
    let refused = io::Error::from_raw_os_error(13);
    let error = Error::io("weights.params", &refused).context("saving");
    let source = |error: &Error| error.source().and_then(|e| e.downcast_ref::<io::Error>()?.raw_os_error());
    assert_eq!(source(&error), Some(13));
    assert_eq!(source(&error.clone()), Some(13));
    assert_eq!(error.to_string(), format!("weights.params: {refused}\n  while saving"));
    let other = "x".parse::<u8>().unwrap_err();
    let error = Error::invalid("batch size", "x", "a number").with_source(other.clone());
    assert_eq!(error.source().unwrap().downcast_ref(), Some(&other));
    assert_eq!(error, Error::invalid("batch size", "x", "a number"), "sources are not compared");
    assert!(Error::invalid("batch size", "x", "a number").source().is_none());
}

#[test]
fn debug_names_the_parts() {
    let error = Error::invalid("batch size", 0, "1 or more").context("binding");
    assert_eq!(
        format!("{error:?}"),
        "Error { kind: InvalidValue { what: \"batch size\", got: \"0\", expected: \"1 or more\" }, \
         chain: [\"binding\"], source: None }"
    );
}

#[test]
fn env_message_is_the_documented_one() {
    let e = Error::new(ErrorKind::Env {
        name: "MXNET_CPU_WORKER_NTHREADS".into(),
        value: "two".into(),
        expected: "an integer >= 1".into(),
    });
    assert_eq!(e.to_string(), "MXNET_CPU_WORKER_NTHREADS: invalid value \"two\": expected an integer >= 1");
}
