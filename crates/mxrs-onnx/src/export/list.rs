//! The list of operators that can be exported, one per line.

use super::call::{Answer, Call};
use super::ops::elementwise::with_scalar;
use super::ops::{
    activation, constants, convolution, dense, elementwise, normalization, pooling, reduce, shape, softmax,
};
use super::unwritten::{UNWRITTEN, is_of_numpy};
use crate::refusal::refuse;
use mxrs_types::DType::{self, BF16, F16, F32, F64, I8, I16, I32, I64};

/// How an operator is written as ONNX nodes.
pub(super) enum Form {
    /// The operator becomes one node of the ONNX operator with this name, with the same inputs and no attributes. Only calls
    /// with these dtypes can be written.
    Same(&'static str, &'static [DType]),
    /// This function writes the nodes.
    By(fn(&mut Call<'_>) -> Answer),
}

use Form::{By, Same};

/// The dtypes of ONNX's arithmetic operators.
pub(super) const NUMBERS: &[DType] = &[F16, BF16, F32, F64, I32, I64];
/// The dtypes of ONNX's mathematical functions.
pub(super) const FLOATS: &[DType] = &[F16, BF16, F32, F64];
/// The dtypes of ONNX's `Neg`.
const SIGNED: &[DType] = &[F16, BF16, F32, F64, I8, I16, I32, I64];

const FORMS: &[(&str, Form)] = &[
    ("Activation", By(activation::activation)),
    ("BatchNorm", By(normalization::batch_norm)),
    ("Cast", By(elementwise::cast)),
    ("Concat", By(shape::concat)),
    ("Convolution", By(convolution::convolution)),
    ("Dropout", By(elementwise::dropout)),
    ("Flatten", By(shape::flatten)),
    ("FullyConnected", By(dense::fully_connected)),
    ("LRN", By(normalization::lrn)),
    ("Pooling", By(pooling::pooling)),
    ("Reshape", By(shape::reshape)),
    ("SoftmaxOutput", By(softmax::softmax_output)),
    ("_CrossDeviceCopy", Same("Identity", &DType::ALL)),
    ("_copy", Same("Identity", &DType::ALL)),
    ("_div_scalar", By(|call| with_scalar(call, "Div", FLOATS, false))),
    ("_full", By(constants::full)),
    ("_grad_add", Same("Add", NUMBERS)),
    ("_maximum_scalar", By(|call| with_scalar(call, "Max", NUMBERS, false))),
    ("_minimum_scalar", By(|call| with_scalar(call, "Min", NUMBERS, false))),
    ("_minus_scalar", By(|call| with_scalar(call, "Sub", NUMBERS, false))),
    ("_mul_scalar", By(|call| with_scalar(call, "Mul", NUMBERS, false))),
    ("_ones", By(constants::ones)),
    ("_plus_scalar", By(|call| with_scalar(call, "Add", NUMBERS, false))),
    ("_power_scalar", By(|call| with_scalar(call, "Pow", FLOATS, false))),
    ("_rdiv_scalar", By(|call| with_scalar(call, "Div", FLOATS, true))),
    ("_rminus_scalar", By(|call| with_scalar(call, "Sub", NUMBERS, true))),
    ("_zeros", By(constants::zeros)),
    ("abs", Same("Abs", NUMBERS)),
    ("add_n", By(elementwise::add_n)),
    ("amp_cast", By(elementwise::cast)),
    ("argmax", By(reduce::argmax)),
    ("broadcast_add", Same("Add", NUMBERS)),
    // Not for integers: ONNX does not define the division of an integer by 0.
    ("broadcast_div", Same("Div", FLOATS)),
    ("broadcast_mul", Same("Mul", NUMBERS)),
    ("broadcast_sub", Same("Sub", NUMBERS)),
    ("clip", By(elementwise::clip)),
    ("elemwise_add", Same("Add", NUMBERS)),
    ("elemwise_div", Same("Div", FLOATS)),
    ("elemwise_mul", Same("Mul", NUMBERS)),
    ("elemwise_sub", Same("Sub", NUMBERS)),
    ("exp", Same("Exp", FLOATS)),
    ("expand_dims", By(shape::expand_dims)),
    ("log", Same("Log", FLOATS)),
    ("max", By(reduce::max)),
    ("mean", By(reduce::mean)),
    ("negative", Same("Neg", SIGNED)),
    ("ones_like", By(constants::ones_like)),
    ("relu", Same("Relu", FLOATS)),
    ("sigmoid", Same("Sigmoid", FLOATS)),
    ("slice_axis", By(shape::slice_axis)),
    ("softmax", By(softmax::softmax)),
    ("sqrt", Same("Sqrt", FLOATS)),
    ("square", By(elementwise::square)),
    ("squeeze", By(shape::squeeze)),
    ("sum", By(reduce::sum)),
    ("tanh", Same("Tanh", FLOATS)),
    ("transpose", By(shape::transpose)),
    ("zeros_like", By(constants::zeros_like)),
];

/// Names of the operators that can be exported, in alphabetical order.
pub fn exported_operators() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|(name, _)| *name)
}

/// The operator that mixed precision inserts before sums of different dtypes.
const MULTICAST: &str = "amp_multicast";

/// Loss operators, which inference models rarely contain; they cannot be exported.
const OF_LOSSES: [&str; 3] = ["CTCLoss", "log_softmax", "pick"];

/// Whether an operator belongs to quantized networks.
fn is_quantized(name: &str) -> bool {
    ["_contrib_quantize", "_contrib_dequantize", "_contrib_requantize"].iter().any(|start| name.starts_with(start))
}

/// Whether an operator belongs to optimizers.
fn is_of_training(name: &str) -> bool {
    const OTHERS: [&str; 4] = ["all_finite", "multi_all_finite", "multi_lars", "multi_sum_sq"];
    name.ends_with("_update") || name.contains("_update_phase") || OTHERS.contains(&name)
}

/// Writes the nodes of a call.
pub(super) fn write(call: &mut Call<'_>) -> Answer {
    let name = call.node().op_name();
    match FORMS.iter().find(|(known, _)| *known == name) {
        Some((_, By(write))) => write(call),
        Some((_, Same(op_type, dtypes))) => {
            call.require_dtype(op_type, dtypes)?;
            let inputs = call.inputs();
            Ok(call.step(op_type, &inputs, Vec::new()))
        }
        None if name == MULTICAST => refuse("it has several outputs; export the network without mixed precision"),
        None if is_quantized(name) => {
            refuse("operators on 8-bit integers are not written yet; export the network that was quantized")
        }
        None if OF_LOSSES.contains(&name) => refuse("it is not written yet; export the network without its loss"),
        None if is_of_training(name) => refuse("a model for inference has no update of weights"),
        None if UNWRITTEN.contains(&name) || is_of_numpy(name) => refuse("its ONNX form is not written yet"),
        None => refuse("ONNX has no such operator, or it is not written yet"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_of_real_networks_is_listed_once_and_nothing_else() {
        let listed: Vec<&str> = exported_operators().collect();
        let mut built: Vec<&str> = mxrs_ops::catalog().iter().map(|op| op.name).collect();
        built.sort_unstable();
        let is_left_out = |name: &str| {
            UNWRITTEN.contains(&name)
                || is_of_numpy(name)
                || name == MULTICAST
                || OF_LOSSES.contains(&name)
                || is_quantized(name)
                || is_of_training(name)
        };
        let unlisted: Vec<&&str> = built.iter().filter(|name| !listed.contains(name) && !is_left_out(name)).collect();
        assert!(unlisted.is_empty(), "{unlisted:?}");
        assert!(!listed.iter().any(|name| is_left_out(name)));
        assert!(listed.is_sorted(), "in order");
        assert!(listed.iter().all(|name| built.contains(name)));
    }
}
