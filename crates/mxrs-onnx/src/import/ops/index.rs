//! Import of operators that read or write elements at indices, and of the reversal of sequences.

use super::elementwise::scalar_attr;
use super::gather::coordinates_first;
use super::shape::place;
use crate::import::node::{Answer, Reading, flag, tuple};
use crate::refusal::refuse;
use mxrs_types::DType;

/// Imports `GatherElements`, which has an index along one axis for each element of its output. The positions in the list of all
/// elements are computed: the index times the stride of its axis, plus the place on each other axis times the stride of that
/// axis. `take` reads the elements at these positions.
pub(crate) fn gather_elements(node: &mut Reading<'_, '_>) -> Answer {
    let axis = node.int("axis", 0)?;
    let (data, indices) = (node.operand(0)?, node.operand(1)?);
    let (from, to) = (node.known_shape(data, "its input")?, node.known_shape(indices, "its indices")?);
    let Some(axis) = place(&from.clone().into(), axis) else { return refuse(format!("axis {axis} of {from}")) };
    let is_within = |i: usize| i == axis || to[i] <= from[i];
    if from.checked_n_elements()? == 0 || to.ndim() != from.ndim() || !(0..from.ndim()).all(is_within) {
        return refuse(format!("indices of shape {to} for an input of shape {from}"));
    }
    let strides = from.strides();
    let wide = match node.dtype(indices) {
        Some(DType::I64) => indices,
        _ => node.call("Cast", &[("dtype", "int64".into())], vec![indices])?,
    };
    // Negative indices count from the end.
    let mut positions = node.call("_npi_mod_scalar", &scalar_attr(from[axis] as f64), vec![wide])?;
    if strides[axis] > 1 {
        positions = node.call("_mul_scalar", &scalar_attr(strides[axis] as f64), vec![positions])?;
    }
    for other in (0..from.ndim()).filter(|other| *other != axis && to[*other] > 1) {
        let (size, stride) = (to[other], strides[other]);
        let attrs = [
            ("start", "0".into()),
            ("stop", (size * stride).to_string()),
            ("step", stride.to_string()),
            ("dtype", "int64".into()),
        ];
        let steps = node.call("_npi_arange", &attrs, Vec::new())?;
        let mut sizes = vec![1; from.ndim()];
        sizes[other] = size as i64;
        let steps = node.call("Reshape", &[("shape", tuple(&sizes))], vec![steps])?;
        positions = node.call("broadcast_add", &[], vec![positions, steps])?;
    }
    let list = node.call("Reshape", &[("shape", "(-1,)".into())], vec![data])?;
    node.call("take", &[("axis", "0".into()), ("mode", "clip".into())], vec![list, positions])
}

/// Imports `ScatterND`, which overwrites slices of its input, or adds to them.
pub(crate) fn scatter_nd(node: &mut Reading<'_, '_>) -> Answer {
    let reduction = node.text("reduction")?.unwrap_or_else(|| "none".into());
    let (data, indices, updates) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let points = coordinates_first(node, indices)?;
    match reduction.as_str() {
        "none" => {
            let shape = node.known_shape(data, "its input")?;
            let sizes: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
            node.call("_scatter_set_nd", &[("shape", tuple(&sizes))], vec![data, updates, points])
        }
        // The gradient of `gather_nd` is the sum of the updates of each element. It reads only the shape of the data.
        "add" => {
            let sums = node.call("_backward_gather_nd", &[], vec![updates, data, points])?;
            node.call("elemwise_add", &[], vec![data, sums])
        }
        other => refuse(format!("the reduction `{other}` is not read")),
    }
}

/// Imports `ReverseSequence`. In MXNet, the first axis is time and the second is the batch, so the axes are exchanged if the
/// batch comes first.
pub(crate) fn reverse_sequence(node: &mut Reading<'_, '_>) -> Answer {
    let axes = (node.int("batch_axis", 1)?, node.int("time_axis", 0)?);
    let is_batch_first = match axes {
        (1, 0) => false,
        (0, 1) => true,
        (batch, time) => return refuse(format!("batch_axis {batch} with time_axis {time}")),
    };
    let (mut data, lengths) = (node.operand(0)?, node.operand(1)?);
    let exchange = [("dim1", "0".to_owned()), ("dim2", "1".to_owned())];
    if is_batch_first {
        data = node.call("SwapAxis", &exchange, vec![data])?;
    }
    let reversed = node.call("SequenceReverse", &[("use_sequence_length", flag(true))], vec![data, lengths])?;
    if is_batch_first { node.call("SwapAxis", &exchange, vec![reversed]) } else { Ok(reversed) }
}
