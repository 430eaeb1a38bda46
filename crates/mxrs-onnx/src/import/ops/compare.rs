//! Import of comparisons, logic and selection. Their results are bools, as in ONNX.

use crate::import::node::{Answer, Reading};

/// Imports an operator of two tensors that broadcast.
pub(crate) fn pair(node: &mut Reading<'_, '_>, op: &str) -> Answer {
    let inputs = vec![node.operand(0)?, node.operand(1)?];
    node.call(op, &[], inputs)
}

/// Imports `IsInf`.
pub(crate) fn is_inf(node: &mut Reading<'_, '_>) -> Answer {
    let op = match (node.int("detect_negative", 1)?, node.int("detect_positive", 1)?) {
        (0, 0) => return crate::refusal::refuse("it looks for no infinity"),
        (_, 0) => "_npi_isneginf",
        (0, _) => "_npi_isposinf",
        _ => "_npi_isinf",
    };
    let data = node.operand(0)?;
    node.call(op, &[], vec![data])
}

/// Imports `Where`.
pub(crate) fn select(node: &mut Reading<'_, '_>) -> Answer {
    let inputs = vec![node.operand(0)?, node.operand(1)?, node.operand(2)?];
    node.call("_npi_where", &[], inputs)
}
