//! Import of reductions.

use crate::import::node::{Answer, Reading, flag, tuple};
use crate::refusal::Refusal;
use mxrs_graph::Entry;

/// The axes of a reduction as text, and whether they are kept.
struct Axes {
    /// `None` means all axes.
    axes: Option<Vec<i64>>,
    keeps: bool,
}

impl Axes {
    /// Reads the axes from the node; `None` if the node reduces nothing because it has no axes. From operator version
    /// `input_since` on, the axes are an input; before, an attribute.
    fn read(node: &mut Reading<'_, '_>, input_since: i64) -> Result<Option<Self>, Refusal> {
        let is_noop = node.int("noop_with_empty_axes", 0)? != 0;
        let axes = node.axes(input_since)?.filter(|axes| !axes.is_empty());
        let keeps = node.int("keepdims", 1)? != 0;
        Ok((axes.is_some() || !is_noop).then_some(Self { axes, keeps }))
    }

    /// Calls a reduction. If all axes are reduced, MXNet's older operators keep one axis of size 1, so the operators of
    /// `mxnet.numpy` are called in that case.
    fn call(&self, node: &mut Reading<'_, '_>, op: &str, data: Entry) -> Answer {
        let numpy = match op {
            "sum" => "_np_sum",
            "mean" => "_npi_mean",
            "max" => "_np_max",
            "min" => "_np_min",
            "prod" => "_np_prod",
            other => other,
        };
        let n_axes = self.axes.as_ref().map(Vec::len);
        let is_scalar = !self.keeps && (n_axes.is_none() || n_axes == node.shape(data).ndim());
        let axes = self.axes.as_ref().map_or("None".into(), |axes| tuple(axes));
        node.call(if is_scalar { numpy } else { op }, &[("axis", axes), ("keepdims", flag(self.keeps))], vec![data])
    }
}

/// Imports a reduction as the operator `op`. If there is an operator `before`, it is applied to the data first; if there is
/// an operator `after`, it is applied to the result.
pub(crate) fn reduced(
    node: &mut Reading<'_, '_>,
    (before, op, after): (Option<&str>, &str, Option<&str>),
    input_since: i64,
) -> Answer {
    let axes = Axes::read(node, input_since)?;
    let mut value = node.operand(0)?;
    if let Some(before) = before {
        value = node.call(before, &[], vec![value])?;
    }
    if let Some(axes) = axes {
        value = axes.call(node, op, value)?;
    } else if before.is_none() && after.is_none() {
        return node.call("_copy", &[], vec![value]);
    }
    match after {
        Some(after) => node.call(after, &[], vec![value]),
        None => Ok(value),
    }
}

/// Imports `ReduceLogSumExp`: `m + ln Σ e^(x - m)`, where `m` is the largest element.
pub(crate) fn log_sum_exp(node: &mut Reading<'_, '_>) -> Answer {
    let axes = Axes::read(node, 18)?;
    let data = node.operand(0)?;
    let Some(axes) = axes else { return node.call("_copy", &[], vec![data]) };
    let kept = Axes { axes: axes.axes.clone(), keeps: true };
    let largest = kept.call(node, "max", data)?;
    // If the largest element is infinite, `x - m` would be NaN (∞ - ∞), so `m` is limited to finite numbers.
    let bounds = [("a_min", f64::from(f32::MIN).to_string()), ("a_max", f64::from(f32::MAX).to_string())];
    let largest = node.call("clip", &bounds, vec![largest])?;
    let moved = node.call("broadcast_sub", &[], vec![data, largest])?;
    let powers = node.call("exp", &[], vec![moved])?;
    let sum = kept.call(node, "sum", powers)?;
    let log = node.call("log", &[], vec![sum])?;
    let result = node.call("elemwise_add", &[], vec![log, largest])?;
    if axes.keeps {
        return Ok(result);
    }
    // The reduced axes have size 1 now, so a sum over them changes no value and removes the axes.
    axes.call(node, "sum", result)
}

/// Imports `ArgMax` or `ArgMin`. Its result is an integer in ONNX, so a `Cast` follows MXNet's operator.
pub(crate) fn position(node: &mut Reading<'_, '_>, op: &str) -> Answer {
    node.require_int("select_last_index", 0)?;
    let axis = node.int("axis", 0)?.to_string();
    let keepdims = flag(node.int("keepdims", 1)? != 0);
    let data = node.operand(0)?;
    let position = node.call(op, &[("axis", axis), ("keepdims", keepdims)], vec![data])?;
    node.call("Cast", &[("dtype", "int64".into())], vec![position])
}
