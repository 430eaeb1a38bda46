//! Compares calls that MXNet's Python package cannot run with the definitions of their operators:
//! - convolution with channels last, which MXNet does not have on a CPU;
//! - `same` pooling, which supports only one spatial axis, but is refused by MXNet for one axis;
//! - shape inference from outputs to inputs, which MXNet rarely supports.

use super::*;

fn array(shape: &[usize], data: Vec<f64>) -> Array {
    Array::float32(shape, data)
}

fn call(op: &str, pairs: &[(&str, &str)], inputs: Vec<Array>) -> Vec<f64> {
    let ops = mxrs_ops::catalog();
    let attrs = pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let case = Values {
        name: "test".into(),
        attrs,
        is_train: false,
        inputs,
        rewritten: Vec::new(),
        outputs: Vec::new(),
        input_names: Vec::new(),
        n_aux: 0,
        n_outputs: 1,
        not_compared: Vec::new(),
        gradients: Vec::new(),
        heads: None,
    };
    let op = ops.get(op).expect("built");
    run(op, &case).expect("a result").remove(0).1
}

/// Transposes [a, b, c] to [a, c, b].
fn swap(data: &[f64], shape: [usize; 3]) -> Vec<f64> {
    let [a, b, c] = shape;
    (0..a * b * c).map(|i| data[(i / (b * c)) * b * c + (i % b) * c + i % (b * c) / b]).collect()
}

#[test]
fn channels_last_convolution_is_the_transposed_one() {
    let numbers = |n: usize| (0..n).map(|i| ((i * 7919) % 23) as f64 / 8.0 - 1.0).collect::<Vec<f64>>();
    let (data, weight) = (numbers(2 * 4 * 5 * 6), numbers(6 * 2 * 3 * 2));
    let common = [("kernel", "(3, 2)"), ("num_filter", "6"), ("num_group", "2"), ("pad", "(1, 0)"), ("no_bias", "1")];
    let first =
        call("Convolution", &common, vec![array(&[2, 4, 5, 6], data.clone()), array(&[6, 2, 3, 2], weight.clone())]);
    let mut last_attrs = common.to_vec();
    last_attrs.push(("layout", "NHWC"));
    let last = call(
        "Convolution",
        &last_attrs,
        vec![array(&[2, 5, 6, 4], swap(&data, [2, 4, 5 * 6])), array(&[6, 3, 2, 2], swap(&weight, [6, 2, 3 * 2]))],
    );
    assert_eq!(swap(&first, [2, 6, 5 * 5]), last);
}

#[test]
fn same_pooling_rounds_up_and_clips_at_the_end() {
    let data = || vec![array(&[1, 1, 5], vec![1.0, 5.0, 2.0, 4.0, 3.0])];
    let attrs = [("kernel", "(2,)"), ("stride", "(2,)"), ("pooling_convention", "same")];
    assert_eq!(call("Pooling", &attrs, data()), [5.0, 4.0, 3.0]);
}

#[test]
fn impossible_calls_are_refused_at_inference() {
    let ops = mxrs_ops::catalog();
    for (name, pairs, shapes) in [
        ("BatchNorm", &[][..], &[&[2, 3, 4, 4][..], &[4], &[3], &[3], &[3]][..]),
        ("Reshape", &[("shape", "(-1, 5)")], &[&[2, 3, 4]]),
        ("Reshape", &[("shape", "(7,)")], &[&[2, 3, 4]]),
        ("transpose", &[("axes", "(1, 1, 0)")], &[&[2, 3, 4]]),
        ("LRN", &[("nsize", "4")], &[&[1, 3, 2, 2]]),
        ("Dropout", &[("p", "1.5")], &[&[2]]),
        ("Pooling", &[("kernel", "(2, 2)"), ("layout", "NCW")], &[&[1, 2, 4, 4]]),
        ("_zeros", &[("shape", "(-2,)")], &[]),
    ] {
        let op = ops.get(name).expect("built");
        let params = op.parse(&pairs.iter().copied().collect()).expect("readable parameters");
        let mut inputs: Vec<PartialShape> = shapes.iter().map(|s| Shape::from(*s).into()).collect();
        let mut outputs = vec![PartialShape::unknown(); op.n_outputs.get(&params)];
        let error = op.infer_shapes(&params, &mut inputs, &mut outputs).expect_err(name).to_string();
        assert!(error.starts_with(name), "{error}");
    }
}

#[test]
fn knowledge_flows_backwards() {
    let ops = mxrs_ops::catalog();
    let infer = |name: &str, pairs: &[(&str, &str)], known: &[&str], out: &str| {
        let op = ops.get(name).expect("built");
        let params = op.parse(&pairs.iter().copied().collect()).expect("readable parameters");
        let read = |text: &str| match text {
            "?" => PartialShape::unknown(),
            text => PartialShape::new(text.split(' ').map(|d| d.parse().ok())),
        };
        let mut inputs: Vec<PartialShape> = known.iter().map(|t| read(t)).collect();
        let mut outputs = vec![read(out)];
        op.infer_shapes(&params, &mut inputs, &mut outputs).expect("consistent shapes");
        inputs[0].to_string()
    };
    let conv = [("kernel", "(3, 3)"), ("num_filter", "8"), ("num_group", "2"), ("pad", "(1, 0)")];
    assert_eq!(infer("Convolution", &conv, &["?", "8 3 3 3", "?"], "2 8 5 5"), "(2, 6, 5, 7)");
    assert_eq!(infer("FullyConnected", &[("num_hidden", "4")], &["? 3 ?", "4 15", "?"], "7 4"), "(7, 3, 5)");
    let rows = [("num_hidden", "4"), ("flatten", "False")];
    assert_eq!(infer("FullyConnected", &rows, &["?", "4 15", "?"], "7 2 4"), "(7, 2, 15)");
    assert_eq!(infer("Concat", &[("num_args", "2")], &["? ? 4", "2 3 4"], "2 8 4"), "(2, 5, 4)");
    assert_eq!(infer("transpose", &[("axes", "(2, 0, 1)")], &["?"], "4 2 3"), "(2, 3, 4)");
    assert_eq!(infer("Flatten", &[], &["? ?"], "2 6"), "(2, 6)");
    assert_eq!(infer("elemwise_add", &[], &["?", "2 ?"], "? 3"), "(2, 3)");
    assert_eq!(infer("broadcast_add", &[], &["? ?", "1 3"], "2 ?"), "(2, ?)");
    assert_eq!(infer("broadcast_add", &[], &["? ?", "1 ?"], "2 1"), "(2, 1)");
    assert_eq!(infer("expand_dims", &[("axis", "1")], &["?"], "2 1 3"), "(2, 3)");
    assert_eq!(infer("sum", &[("axis", "1")], &["? ? ?"], "2 3"), "(2, ?, 3)");
    assert_eq!(infer("Pooling", &[("kernel", "(2, 2)"), ("pool_type", "avg")], &["?"], "2 3 4 4"), "(2, 3, ?, ?)");
    assert_eq!(infer("BatchNorm", &[], &["? ? 4", "3", "?", "?", "?"], "2 ? ?"), "(2, 3, 4)");
}

#[test]
fn sixty_four_bit_integers_stay_exact() {
    let ops = mxrs_ops::catalog();
    let big = i64::MAX - 1;
    for (name, expected) in [("transpose", big), ("_copy", big), ("_plus_scalar", i64::MAX), ("relu", big)] {
        let op = ops.get(name).expect("built");
        let params = op.parse(&Attrs::new()).expect("no parameters needed");
        let desc = TensorDesc::dense(Shape::from([1, 1]), DType::I64);
        let function = op.reference.expect("built");
        let input = AlignedBuffer::from_bytes(&big.to_le_bytes());
        let mut output = AlignedBuffer::zeroed(8);
        let inputs = [mxrs_op::RefInput { desc: &desc, bytes: input.bytes() }];
        let mut outputs = [mxrs_op::RefOutput { desc: &desc, bytes: output.bytes_mut() }];
        function(&params, &inputs, &mut outputs, mxrs_op::RunMode::default()).expect("a result");
        assert_eq!(output.bytes(), expected.to_le_bytes(), "{name}");
    }
}
