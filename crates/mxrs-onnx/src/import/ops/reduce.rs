//! Import of reductions. If all axes are reduced, MXNet's operators keep one axis of size 1.

use crate::import::node::{Answer, Reading, flag, tuple};

/// Imports a reduction as `op`. From operator version `input_since` on, its axes are an input.
pub(crate) fn reduced(node: &mut Reading<'_, '_>, op: &str, input_since: i64) -> Answer {
    node.require_int("noop_with_empty_axes", 0)?;
    let axes = node.axes(input_since)?.map_or("None".into(), |axes| tuple(&axes));
    let keepdims = flag(node.int("keepdims", 1)? != 0);
    let data = node.operand(0)?;
    node.call(op, &[("axis", axes), ("keepdims", keepdims)], vec![data])
}

/// Imports `ArgMax`. Its result is an integer in ONNX, so a `Cast` follows MXNet's `argmax`.
pub(crate) fn argmax(node: &mut Reading<'_, '_>) -> Answer {
    node.require_int("select_last_index", 0)?;
    let axis = node.int("axis", 0)?.to_string();
    let keepdims = flag(node.int("keepdims", 1)? != 0);
    let data = node.operand(0)?;
    let position = node.call("argmax", &[("axis", axis), ("keepdims", keepdims)], vec![data])?;
    node.call("Cast", &[("dtype", "int64".into())], vec![position])
}
