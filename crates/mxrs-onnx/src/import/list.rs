//! The list of ONNX operators that can be imported, one per line.

use super::node::{Answer, Reading};
use super::ops::{elementwise, layers, pooling, reduce, shape};
use crate::refusal::{Refusal, refuse};

/// A function that reads a node and returns the entry of its first output.
type Read = fn(&mut Reading<'_, '_>) -> Answer;

const READERS: &[(&str, Read)] = &[
    ("Abs", |node| elementwise::unary(node, "abs")),
    ("Add", |node| elementwise::pair(node, &elementwise::ADD)),
    ("ArgMax", reduce::argmax),
    ("AveragePool", pooling::average),
    ("BatchNormalization", layers::batch_norm),
    ("Cast", elementwise::cast),
    ("Clip", elementwise::clip),
    ("Concat", shape::concat),
    ("ConstantOfShape", shape::constant_of_shape),
    ("Conv", layers::convolution),
    ("Div", |node| elementwise::pair(node, &elementwise::DIV)),
    ("Dropout", elementwise::dropout),
    ("Exp", |node| elementwise::unary(node, "exp")),
    ("Flatten", shape::flatten),
    ("Gemm", layers::gemm),
    ("GlobalAveragePool", |node| pooling::global(node, "avg")),
    ("GlobalLpPool", |node| pooling::global(node, "lp")),
    ("GlobalMaxPool", |node| pooling::global(node, "max")),
    ("HardSigmoid", elementwise::hard_sigmoid),
    ("HardSwish", elementwise::hard_swish),
    ("Identity", |node| elementwise::unary(node, "_copy")),
    ("LRN", layers::lrn),
    ("Log", |node| elementwise::unary(node, "log")),
    ("LpPool", pooling::lp),
    ("MatMul", layers::mat_mul),
    ("Max", |node| elementwise::with_scalar(node, "_maximum_scalar")),
    ("MaxPool", pooling::max),
    ("Min", |node| elementwise::with_scalar(node, "_minimum_scalar")),
    ("Mul", |node| elementwise::pair(node, &elementwise::MUL)),
    ("Neg", |node| elementwise::unary(node, "negative")),
    ("Pow", |node| elementwise::with_scalar(node, "_power_scalar")),
    ("ReduceMax", |node| reduce::reduced(node, "max", 18)),
    ("ReduceMean", |node| reduce::reduced(node, "mean", 18)),
    ("ReduceSum", |node| reduce::reduced(node, "sum", 13)),
    ("Relu", |node| elementwise::activation(node, "relu")),
    ("Reshape", shape::reshape),
    ("Sigmoid", |node| elementwise::activation(node, "sigmoid")),
    ("Slice", shape::slice),
    ("Softmax", layers::softmax),
    ("Softplus", |node| elementwise::activation(node, "softrelu")),
    ("Softsign", |node| elementwise::activation(node, "softsign")),
    ("Sqrt", |node| elementwise::unary(node, "sqrt")),
    ("Squeeze", shape::squeeze),
    ("Sub", |node| elementwise::pair(node, &elementwise::SUB)),
    ("Sum", elementwise::sum),
    ("Tanh", |node| elementwise::activation(node, "tanh")),
    ("Transpose", shape::transpose),
    ("Unsqueeze", shape::unsqueeze),
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
        let Some(array) = node.tensor("value")? else { return refuse("a constant without `value` is not read") };
        node.assembly.add_array(output, array);
        return Ok(());
    }
    let Some((_, read)) = READERS.iter().find(|(name, _)| *name == node.node.op_type) else {
        return refuse("no operator here does that, or it is not read yet");
    };
    if let Some(second) = node.node.output.iter().skip(1).find(|output| !output.is_empty()) {
        return refuse(format!("its output `{second}` is not computed here"));
    }
    let entry = read(node)?;
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
