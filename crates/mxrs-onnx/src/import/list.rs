//! The list of ONNX operators that can be imported, one per line.

use super::node::{Answer, Reading};
use super::ops::{
    activation, compare, create, elementwise, gather, index, layers, normalize, pooling, recurrent, reduce, shape,
};
use crate::refusal::{Refusal, refuse};

/// A function that reads a node and returns the entry of its first output.
type Read = fn(&mut Reading<'_, '_>) -> Answer;

const READERS: &[(&str, Read)] = &[
    ("Abs", |node| elementwise::unary(node, "abs")),
    ("Acos", |node| elementwise::unary(node, "arccos")),
    ("Acosh", |node| elementwise::unary(node, "arccosh")),
    ("Add", |node| elementwise::pair(node, &elementwise::ADD)),
    ("And", |node| compare::pair(node, "_npi_bitwise_and")),
    ("ArgMax", |node| reduce::position(node, "argmax")),
    ("ArgMin", |node| reduce::position(node, "argmin")),
    ("Asin", |node| elementwise::unary(node, "arcsin")),
    ("Asinh", |node| elementwise::unary(node, "arcsinh")),
    ("Atan", |node| elementwise::unary(node, "arctan")),
    ("Atanh", |node| elementwise::unary(node, "arctanh")),
    ("AveragePool", pooling::average),
    ("BatchNormalization", layers::batch_norm),
    ("BitwiseAnd", |node| compare::pair(node, "_npi_bitwise_and")),
    ("BitwiseNot", |node| elementwise::unary(node, "_npi_bitwise_not")),
    ("BitwiseOr", |node| compare::pair(node, "_npi_bitwise_or")),
    ("BitwiseXor", |node| compare::pair(node, "_npi_bitwise_xor")),
    ("Cast", elementwise::cast),
    ("CastLike", elementwise::cast_like),
    ("Ceil", |node| elementwise::unary(node, "ceil")),
    ("Celu", activation::celu),
    ("Clip", elementwise::clip),
    ("Concat", shape::concat),
    ("ConstantOfShape", create::constant_of_shape),
    ("Conv", layers::convolution),
    ("ConvTranspose", layers::deconvolution),
    ("Cos", |node| elementwise::unary(node, "cos")),
    ("Cosh", |node| elementwise::unary(node, "cosh")),
    ("CumSum", gather::cumulative_sum),
    ("DepthToSpace", shape::depth_to_space),
    ("Det", |node| elementwise::unary(node, "_linalg_det")),
    ("Div", |node| elementwise::pair(node, &elementwise::DIV)),
    ("Dropout", elementwise::dropout),
    ("Einsum", layers::einsum),
    ("Elu", activation::elu),
    ("Equal", |node| compare::pair(node, "_npi_equal")),
    ("Erf", |node| elementwise::unary(node, "erf")),
    ("Exp", |node| elementwise::unary(node, "exp")),
    ("Expand", shape::expand),
    ("EyeLike", create::eye_like),
    ("Flatten", shape::flatten),
    ("Floor", |node| elementwise::unary(node, "floor")),
    ("GRU", recurrent::gru),
    ("Gather", gather::gather),
    ("GatherElements", index::gather_elements),
    ("GatherND", gather::gather_nd),
    ("Gelu", activation::gelu),
    ("Gemm", layers::gemm),
    ("GlobalAveragePool", |node| pooling::global(node, "avg")),
    ("GlobalLpPool", |node| pooling::global(node, "lp")),
    ("GlobalMaxPool", |node| pooling::global(node, "max")),
    ("Greater", |node| compare::pair(node, "_npi_greater")),
    ("GreaterOrEqual", |node| compare::pair(node, "_npi_greater_equal")),
    ("GroupNormalization", normalize::group),
    ("HardSigmoid", elementwise::hard_sigmoid),
    ("HardSwish", elementwise::hard_swish),
    ("Hardmax", activation::hardmax),
    ("Identity", |node| elementwise::unary(node, "_copy")),
    ("InstanceNormalization", normalize::instance),
    ("IsInf", compare::is_inf),
    ("IsNaN", |node| elementwise::unary(node, "_npi_isnan")),
    ("LRN", layers::lrn),
    ("LSTM", recurrent::lstm),
    ("LayerNormalization", normalize::layer),
    ("LeakyRelu", activation::leaky_relu),
    ("Less", |node| compare::pair(node, "_npi_less")),
    ("LessOrEqual", |node| compare::pair(node, "_npi_less_equal")),
    ("Log", |node| elementwise::unary(node, "log")),
    ("LogSoftmax", normalize::log_softmax),
    ("LpNormalization", normalize::lp),
    ("LpPool", pooling::lp),
    ("MatMul", layers::mat_mul),
    ("Max", |node| elementwise::extreme(node, "broadcast_maximum", "_maximum_scalar")),
    ("MaxPool", pooling::max),
    ("Mean", elementwise::mean),
    ("MeanVarianceNormalization", normalize::mean_variance),
    ("Min", |node| elementwise::extreme(node, "broadcast_minimum", "_minimum_scalar")),
    ("Mish", activation::mish),
    ("Mod", elementwise::modulo),
    ("Mul", |node| elementwise::pair(node, &elementwise::MUL)),
    ("Neg", |node| elementwise::unary(node, "negative")),
    ("Not", |node| elementwise::unary(node, "_npi_logical_not")),
    ("OneHot", gather::one_hot),
    ("Or", |node| compare::pair(node, "_npi_bitwise_or")),
    ("PRelu", activation::prelu),
    ("Pad", shape::pad),
    ("Pow", elementwise::power),
    ("RNN", recurrent::rnn),
    ("Range", create::range),
    ("Reciprocal", |node| elementwise::unary(node, "reciprocal")),
    ("ReduceL1", |node| reduce::reduced(node, (Some("abs"), "sum", None), 18)),
    ("ReduceL2", |node| reduce::reduced(node, (Some("square"), "sum", Some("sqrt")), 18)),
    ("ReduceLogSum", |node| reduce::reduced(node, (None, "sum", Some("log")), 18)),
    ("ReduceLogSumExp", reduce::log_sum_exp),
    ("ReduceMax", |node| reduce::reduced(node, (None, "max", None), 18)),
    ("ReduceMean", |node| reduce::reduced(node, (None, "mean", None), 18)),
    ("ReduceMin", |node| reduce::reduced(node, (None, "min", None), 18)),
    ("ReduceProd", |node| reduce::reduced(node, (None, "prod", None), 18)),
    ("ReduceSum", |node| reduce::reduced(node, (None, "sum", None), 13)),
    ("ReduceSumSquare", |node| reduce::reduced(node, (Some("square"), "sum", None), 18)),
    ("Relu", |node| elementwise::activation(node, "relu")),
    ("Reshape", shape::reshape),
    ("Resize", shape::resize),
    ("ReverseSequence", index::reverse_sequence),
    ("Round", |node| elementwise::unary(node, "_npi_around")),
    ("ScatterND", index::scatter_nd),
    ("Selu", activation::selu),
    ("Shape", shape::shape_of),
    ("Shrink", activation::shrink),
    ("Sigmoid", |node| elementwise::activation(node, "sigmoid")),
    ("Sign", |node| elementwise::unary(node, "sign")),
    ("Sin", |node| elementwise::unary(node, "sin")),
    ("Sinh", |node| elementwise::unary(node, "sinh")),
    ("Size", shape::size_of),
    ("Slice", shape::slice),
    ("Softmax", layers::softmax),
    ("Softplus", |node| elementwise::activation(node, "softrelu")),
    ("Softsign", |node| elementwise::activation(node, "softsign")),
    ("SpaceToDepth", shape::space_to_depth),
    ("Split", shape::split),
    ("Sqrt", |node| elementwise::unary(node, "sqrt")),
    ("Squeeze", shape::squeeze),
    ("Sub", |node| elementwise::pair(node, &elementwise::SUB)),
    ("Sum", elementwise::sum),
    ("Swish", activation::swish),
    ("Tan", |node| elementwise::unary(node, "tan")),
    ("Tanh", |node| elementwise::activation(node, "tanh")),
    ("ThresholdedRelu", activation::thresholded_relu),
    ("Tile", gather::tile),
    ("TopK", gather::top_k),
    ("Transpose", shape::transpose),
    ("Trilu", gather::triangle),
    ("Unsqueeze", shape::unsqueeze),
    ("Upsample", shape::resize),
    ("Where", compare::select),
    ("Xor", |node| compare::pair(node, "_npi_bitwise_xor")),
];

/// Names of the ONNX operators that can be imported, in alphabetical order. `Constant` is not among them, but can be
/// imported too.
pub fn imported_operators() -> impl Iterator<Item = &'static str> {
    READERS.iter().map(|(name, _)| *name)
}

/// Reads a node and adds it to the graph.
pub(super) fn read(node: &mut Reading<'_, '_>) -> Result<(), Refusal> {
    if !node.node.is_own_domain() {
        return refuse(format!("operators of the domain `{}` are not read", node.node.domain));
    }
    let Some(output) = node.node.output.first() else { return refuse("it has no output") };
    if node.node.op_type == "Constant" {
        if let Some(array) = node.tensor("value")? {
            node.assembly.add_array(output, array);
            return Ok(());
        }
        let Some(tensor) = node.literal()? else { return refuse("a constant without numbers is not read") };
        node.assembly.add_computed(output, tensor);
        return Ok(());
    }
    let Some((_, read)) = READERS.iter().find(|(name, _)| *name == node.node.op_type) else {
        return refuse("no operator here does that, or it is not read yet");
    };
    let entry = read(node)?;
    let computed = node.n_outputs();
    if let Some(other) = node.node.output.iter().skip(computed).find(|output| !output.is_empty()) {
        return refuse(format!("its output `{other}` is not computed here"));
    }
    // Refuses a node with an attribute that was not read, because the attribute could change the result.
    if let Some(unread) = node.unread() {
        return refuse(format!("attribute `{unread}` is not read"));
    }
    node.assembly.set(output, entry);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_in_order_and_listed_once() {
        let names: Vec<&str> = imported_operators().collect();
        assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
    }
}
