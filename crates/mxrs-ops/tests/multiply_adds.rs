//! Compares the multiply-adds that operators declare with counts made by hand.

use mxrs_op::{Attrs, OpCall, TensorDesc};
use mxrs_types::DType;

fn count(name: &str, attrs: &[(&str, &str)], inputs: &[&[usize]], outputs: &[&[usize]]) -> u64 {
    let ops = mxrs_ops::catalog();
    let op = ops.get(name).expect("a built operator");
    let attrs: Attrs = attrs.iter().copied().collect();
    let params = op.parse(&attrs).expect("well-formed attributes");
    let descs =
        |shapes: &[&[usize]]| -> Vec<TensorDesc> { shapes.iter().map(|s| TensorDesc::dense(*s, DType::F32)).collect() };
    let (inputs, outputs) = (descs(inputs), descs(outputs));
    let is_constant = vec![false; inputs.len()];
    let call =
        OpCall { op, params: &params, inputs: &inputs, outputs: &outputs, is_constant: &is_constant, is_train: true };
    (op.multiply_adds)(&call)
}

/// The first layer of a residual network: 64 filters of 3 x 7 x 7 at 112 x 112 output pixels.
#[test]
fn a_convolution_has_a_window_for_every_output() {
    let attrs = [("kernel", "(7, 7)"), ("stride", "(2, 2)"), ("pad", "(3, 3)"), ("num_filter", "64"), ("no_bias", "1")];
    let (x, w, y): (&[usize], &[usize], &[usize]) = (&[2, 3, 224, 224], &[64, 3, 7, 7], &[2, 64, 112, 112]);
    let expected = 2 * 118_013_952;
    assert_eq!(count("Convolution", &attrs, &[x, w], &[y]), expected);
    assert_eq!(count("_backward_Convolution_data", &attrs, &[y, w, x], &[x]), expected);
    assert_eq!(count("_backward_Convolution_weight", &attrs, &[y, x, w], &[w]), expected);
}

#[test]
fn a_group_sees_its_own_channels_only() {
    let attrs = [("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("num_filter", "32"), ("num_group", "32"), ("no_bias", "1")];
    assert_eq!(count("Convolution", &attrs, &[&[1, 32, 8, 8], &[32, 1, 3, 3]], &[&[1, 32, 8, 8]]), 32 * 64 * 9);
}

#[test]
fn a_layer_multiplies_every_row_by_the_weight() {
    let attrs = [("num_hidden", "1000")];
    let (x, w, y): (&[usize], &[usize], &[usize]) = (&[4, 2048], &[1000, 2048], &[4, 1000]);
    assert_eq!(count("FullyConnected", &attrs, &[x, w, &[1000]], &[y]), 4 * 2_048_000);
    assert_eq!(count("_backward_FullyConnected_data", &attrs, &[y, w, x], &[x]), 4 * 2_048_000);
    assert_eq!(count("_backward_FullyConnected_weight", &attrs, &[y, x, w], &[w]), 4 * 2_048_000);
}

#[test]
fn others_count_the_elements_of_their_largest_tensor() {
    assert_eq!(count("relu", &[], &[&[3, 5]], &[&[3, 5]]), 15);
    assert_eq!(count("sum", &[], &[&[3, 5]], &[&[1]]), 15);
}
