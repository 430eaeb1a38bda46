//! Import of operators that pick elements by index, sort or repeat them.

use super::elementwise::value_of;
use super::shape::{move_last_to, place};
use crate::import::node::{Answer, Reading, flag, tuple};
use crate::refusal::refuse;
use mxrs_graph::Entry;
use mxrs_types::DType;

/// Imports `Gather` as `take`. If the index is a single constant number, imports it as a slice of size 1 whose axis is then
/// removed. Negative indices count from the end.
pub(crate) fn gather(node: &mut Reading<'_, '_>) -> Answer {
    let axis = node.int("axis", 0)?;
    let data = node.operand(0)?;
    if let Some(index) = node.scalar(1)? {
        let shape = node.shape(data);
        let size = place(&shape, axis).and_then(|axis| shape.dim(axis)).map(|size| size as f64);
        let at = value_of(&index)?;
        let at = match size {
            Some(size) if at < -size || at >= size => return refuse(format!("index {at} of {size} elements")),
            Some(size) if at < 0.0 => at + size,
            None if at < 0.0 => return node.unknown(data, "its input, where a negative index counts from the end,"),
            _ => at,
        };
        let ends = [("axis", axis.to_string()), ("begin", at.to_string()), ("end", (at + 1.0).to_string())];
        let part = node.call("slice_axis", &ends, vec![data])?;
        return node.call("_np_squeeze", &[("axis", tuple(&[axis]))], vec![part]);
    }
    let indices = node.operand(1)?;
    node.call("take", &[("axis", axis.to_string()), ("mode", "wrap".into())], vec![data, indices])
}

/// Imports `GatherND` without batch axes. In ONNX, the last axis of `indices` holds the coordinates of an element; in MXNet,
/// the first axis does.
pub(crate) fn gather_nd(node: &mut Reading<'_, '_>) -> Answer {
    node.require_int("batch_dims", 0)?;
    let (data, indices) = (node.operand(0)?, node.operand(1)?);
    let points = coordinates_first(node, indices)?;
    node.call("gather_nd", &[], vec![data, points])
}

/// Moves the last axis of indices, which holds the coordinates of a point, to the front.
pub(super) fn coordinates_first(node: &mut Reading<'_, '_>, indices: Entry) -> Answer {
    let ndim = node.known_ndim(indices, "its indices")? as i64;
    let last_first: Vec<i64> = [ndim - 1].into_iter().chain(0..ndim - 1).collect();
    node.call("transpose", &[("axes", tuple(&last_first))], vec![indices])
}

/// Imports `OneHot` with a constant depth and constant values.
pub(crate) fn one_hot(node: &mut Reading<'_, '_>) -> Answer {
    let axis = node.int("axis", -1)?;
    let (Some(depth), Some(values)) = (node.array(1)?, node.array(2)?) else {
        return refuse("its depth and its values are not constants");
    };
    let (depth, dtype) = (value_of(&depth)?, values.dtype().unwrap_or(DType::F32));
    let values = values.cast(DType::F64);
    let [off, on] = values.as_slice::<f64>()? else { return refuse("its values are not two numbers") };
    let indices = node.operand(0)?;
    let ndim = node.known_ndim(indices, "its indices")?;
    let indices = node.call("_npi_mod_scalar", &[("scalar", depth.to_string())], vec![indices])?;
    let attrs = [
        ("depth", depth.to_string()),
        ("on_value", on.to_string()),
        ("off_value", off.to_string()),
        ("dtype", dtype.name().into()),
    ];
    let hot = node.call("one_hot", &attrs, vec![indices])?;
    let Ok(axis) = usize::try_from(if axis < 0 { axis + ndim as i64 + 1 } else { axis }) else {
        return refuse(format!("axis {axis}"));
    };
    move_last_to(node, hot, ndim + 1, axis)
}

/// Imports `TopK` with a constant k.
pub(crate) fn top_k(node: &mut Reading<'_, '_>) -> Answer {
    node.ignore(&["sorted"]);
    let axis = node.int("axis", -1)?;
    let is_ascending = node.int("largest", 1)? == 0;
    let k = if node.opset() < 10 { Some(vec![node.int("k", 1)?]) } else { node.constant_ints(1)? };
    let Some([k]) = k.as_deref() else { return refuse("its k is not one constant number") };
    let data = node.operand(0)?;
    let attrs = [
        ("axis", axis.to_string()),
        ("k", k.to_string()),
        ("ret_typ", "both".into()),
        ("is_ascend", flag(is_ascending)),
        ("dtype", "int64".into()),
    ];
    let values = node.call("topk", &attrs, vec![data])?;
    node.set_output(1, node.output_of(values, 1));
    Ok(values)
}

/// Imports `CumSum` along a constant axis.
pub(crate) fn cumulative_sum(node: &mut Reading<'_, '_>) -> Answer {
    let (is_exclusive, is_reversed) = (node.int("exclusive", 0)? != 0, node.int("reverse", 0)? != 0);
    let axes = node.constant_ints(1)?;
    let Some([axis]) = axes.as_deref() else { return refuse("its axis is not one constant number") };
    let axis = *axis;
    let data = node.operand(0)?;
    let turned = |node: &mut Reading<'_, '_>, data| match is_reversed {
        true => node.call("reverse", &[("axis", tuple(&[axis]))], vec![data]),
        false => Ok(data),
    };
    let from = turned(node, data)?;
    let sums = node.call("_np_cumsum", &[("axis", axis.to_string())], vec![from])?;
    let sums = turned(node, sums)?;
    if is_exclusive { node.call("elemwise_sub", &[], vec![sums, data]) } else { Ok(sums) }
}

/// Imports `Tile`.
pub(crate) fn tile(node: &mut Reading<'_, '_>) -> Answer {
    let Some(repeats) = node.constant_ints(1)? else { return refuse("its repeats are not constants") };
    let data = node.operand(0)?;
    node.call("tile", &[("reps", tuple(&repeats))], vec![data])
}

/// Imports `Trilu`. The upper triangle is computed as the data minus the lower triangle below it.
pub(crate) fn triangle(node: &mut Reading<'_, '_>) -> Answer {
    let is_upper = node.int("upper", 1)? != 0;
    let k = match node.constant_ints(1)?.as_deref() {
        None => 0,
        Some([k]) => *k,
        Some(_) => return refuse("its k is not one number"),
    };
    let data = node.operand(0)?;
    let lower =
        node.call("_npi_tril", &[("k", if is_upper { k.saturating_sub(1) } else { k }.to_string())], vec![data])?;
    if is_upper { node.call("elemwise_sub", &[], vec![data, lower]) } else { Ok(lower) }
}
