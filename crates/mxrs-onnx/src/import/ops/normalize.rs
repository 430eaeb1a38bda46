//! Import of normalizations other than `BatchNormalization`, and of losses.

use super::elementwise::scalar_attr;
use super::shape::{place, product};
use crate::import::node::{Answer, Reading, flag, tuple};
use crate::refusal::refuse;

/// Imports `InstanceNormalization`.
pub(crate) fn instance(node: &mut Reading<'_, '_>) -> Answer {
    let eps = node.float("epsilon", 1e-5)?;
    let inputs = node.operands()?;
    node.call("InstanceNorm", &[("eps", eps.to_string())], inputs)
}

/// Imports `LayerNormalization`. Several axes are normalized as one.
pub(crate) fn layer(node: &mut Reading<'_, '_>) -> Answer {
    node.require_int("stash_type", 1)?;
    if node.n_wanted() > 1 {
        return refuse("its mean and its deviation are not computed here");
    }
    let (axis, eps) = (node.int("axis", -1)?, node.float("epsilon", 1e-5)?.to_string());
    let (data, scale) = (node.operand(0)?, node.operand(1)?);
    let shift = match node.has_input(2) {
        true => node.operand(2)?,
        false => node.call("zeros_like", &[], vec![scale])?,
    };
    let attrs = [("axis", "-1".into()), ("eps", eps)];
    // The last axis needs no sizes.
    if axis == -1 || node.shape(data).ndim().is_some_and(|ndim| axis == ndim as i64 - 1) {
        return node.call("LayerNorm", &attrs, vec![data, scale, shift]);
    }
    let shape = node.known_shape(data, "its input")?;
    let Some(axis) = place(&shape.clone().into(), axis) else { return refuse(format!("axis {axis} of {shape}")) };
    let as_i64 = |sizes: &[usize]| sizes.iter().map(|size| *size as i64).collect::<Vec<i64>>();
    let Some(n) = product(&shape[axis..]) else { return refuse(format!("a product of sizes of {shape}")) };
    let reshaped =
        |node: &mut Reading<'_, '_>, data, sizes: &[i64]| node.call("Reshape", &[("shape", tuple(sizes))], vec![data]);
    let flat = reshaped(node, data, &[as_i64(&shape[..axis]), vec![n]].concat())?;
    let (scale, shift) = (reshaped(node, scale, &[n])?, reshaped(node, shift, &[n])?);
    let out = node.call("LayerNorm", &attrs, vec![flat, scale, shift])?;
    reshaped(node, out, &as_i64(&shape))
}

/// Imports `GroupNormalization`. From version 21 on its factors belong to channels, not to groups.
pub(crate) fn group(node: &mut Reading<'_, '_>) -> Answer {
    node.require_int("stash_type", 1)?;
    let groups = node.int("num_groups", 1)?;
    let attrs = [("num_groups", groups.to_string()), ("eps", node.float("epsilon", 1e-5)?.to_string())];
    let (data, scale, shift) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    if node.opset() < 21 {
        return node.call("GroupNorm", &attrs, vec![data, scale, shift]);
    }
    let ndim = node.known_ndim(data, "its input")?;
    let one = node.call("_ones", &[("shape", tuple(&[groups]))], Vec::new())?;
    let zero = node.call("_zeros", &[("shape", tuple(&[groups]))], Vec::new())?;
    let normal = node.call("GroupNorm", &attrs, vec![data, one, zero])?;
    let per_channel = [vec![1, -1], vec![1; ndim.saturating_sub(2)]].concat();
    let scale = node.call("Reshape", &[("shape", tuple(&per_channel))], vec![scale])?;
    let shift = node.call("Reshape", &[("shape", tuple(&per_channel))], vec![shift])?;
    let scaled = node.call("broadcast_mul", &[], vec![normal, scale])?;
    node.call("broadcast_add", &[], vec![scaled, shift])
}

/// Imports `LpNormalization`: divides by the sum of absolute values, or by the root of the sum of squares, along an axis.
pub(crate) fn lp(node: &mut Reading<'_, '_>) -> Answer {
    let (axis, p) = (node.int("axis", -1)?, node.int("p", 2)?);
    if !matches!(p, 1 | 2) {
        return refuse(format!("p is {p}"));
    }
    let data = node.operand(0)?;
    let attrs = [("ord", p.to_string()), ("axis", tuple(&[axis])), ("keepdims", flag(true))];
    let norm = node.call("norm", &attrs, vec![data])?;
    // A norm of 0 is replaced by a small positive number, so that elements that are all 0 stay 0.
    let norm = node.call("_maximum_scalar", &scalar_attr(f32::MIN_POSITIVE.into()), vec![norm])?;
    node.call("broadcast_div", &[], vec![data, norm])
}

/// Imports `MeanVarianceNormalization`: `(x - mean) / √variance` over some axes.
pub(crate) fn mean_variance(node: &mut Reading<'_, '_>) -> Answer {
    /// ONNX's reference implementation adds this number to the standard deviation.
    const EPS: f64 = 1e-9;
    let axes = node.ints("axes")?.unwrap_or(&[0, 2, 3]);
    let attrs = [("axis", tuple(axes)), ("keepdims", flag(true))];
    let data = node.operand(0)?;
    let mean = node.call("mean", &attrs, vec![data])?;
    let centered = node.call("broadcast_sub", &[], vec![data, mean])?;
    let squares = node.call("square", &[], vec![centered])?;
    let variance = node.call("mean", &attrs, vec![squares])?;
    let deviation = node.call("sqrt", &[], vec![variance])?;
    let deviation = node.call("_plus_scalar", &scalar_attr(EPS), vec![deviation])?;
    node.call("broadcast_div", &[], vec![centered, deviation])
}

/// Imports `LogSoftmax` over one axis.
pub(crate) fn log_softmax(node: &mut Reading<'_, '_>) -> Answer {
    super::layers::softmax_as(node, "log_softmax")
}
