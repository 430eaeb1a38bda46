//! Import of activation functions.

use super::elementwise::scalar_attr;
use crate::import::node::{Answer, Reading, flag};
use crate::refusal::refuse;
use mxrs_graph::Entry;

/// The factors `alpha` and `gamma` of `Selu` that MXNet's `LeakyReLU` uses.
const SELU: [f32; 2] = [1.673_263_2, 1.050_701];

/// Calls an operator of a tensor and a number.
fn scalar(node: &mut Reading<'_, '_>, op: &str, data: Entry, value: f64) -> Answer {
    node.call(op, &scalar_attr(value), vec![data])
}

fn leaky(node: &mut Reading<'_, '_>, kind: &str, slope: f64) -> Answer {
    let data = node.operand(0)?;
    node.call("LeakyReLU", &[("act_type", kind.into()), ("slope", slope.to_string())], vec![data])
}

/// Imports `LeakyRelu`.
pub(crate) fn leaky_relu(node: &mut Reading<'_, '_>) -> Answer {
    let slope = node.float("alpha", 0.01)?;
    leaky(node, "leaky", slope.into())
}

/// Imports `Elu`.
pub(crate) fn elu(node: &mut Reading<'_, '_>) -> Answer {
    let slope = node.float("alpha", 1.0)?;
    leaky(node, "elu", slope.into())
}

/// Imports `Selu`, as `gamma · elu` if its factors are not the usual ones.
pub(crate) fn selu(node: &mut Reading<'_, '_>) -> Answer {
    let factors = [node.float("alpha", SELU[0])?, node.float("gamma", SELU[1])?];
    if factors == SELU {
        return leaky(node, "selu", 0.25);
    }
    let elu = leaky(node, "elu", factors[0].into())?;
    scalar(node, "_mul_scalar", elu, factors[1].into())
}

/// Imports `Celu`: `max(x, 0) + min(alpha (e^(x / alpha) - 1), 0)`.
pub(crate) fn celu(node: &mut Reading<'_, '_>) -> Answer {
    let alpha = f64::from(node.float("alpha", 1.0)?);
    let data = node.operand(0)?;
    let scaled = scalar(node, "_div_scalar", data, alpha)?;
    let below = node.call("expm1", &[], vec![scaled])?;
    let below = scalar(node, "_mul_scalar", below, alpha)?;
    let below = scalar(node, "_minimum_scalar", below, 0.0)?;
    let above = scalar(node, "_maximum_scalar", data, 0.0)?;
    node.call("elemwise_add", &[], vec![above, below])
}

/// Imports `PRelu`: `max(x, 0) + slope · min(x, 0)`.
pub(crate) fn prelu(node: &mut Reading<'_, '_>) -> Answer {
    let (data, slope) = (node.operand(0)?, node.operand(1)?);
    let above = scalar(node, "_maximum_scalar", data, 0.0)?;
    let below = scalar(node, "_minimum_scalar", data, 0.0)?;
    let below = node.call("broadcast_mul", &[], vec![below, slope])?;
    node.call("broadcast_add", &[], vec![above, below])
}

/// Imports `Gelu`, exact or with the approximation by `tanh`.
pub(crate) fn gelu(node: &mut Reading<'_, '_>) -> Answer {
    let data = node.operand(0)?;
    if node.text("approximate")?.as_deref() != Some("tanh") {
        return node.call("LeakyReLU", &[("act_type", "gelu".into())], vec![data]);
    }
    // x / 2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))
    let cube = scalar(node, "_power_scalar", data, 3.0)?;
    let cube = scalar(node, "_mul_scalar", cube, 0.044_715)?;
    let sum = node.call("elemwise_add", &[], vec![data, cube])?;
    let sum = scalar(node, "_mul_scalar", sum, (2.0 / std::f64::consts::PI).sqrt())?;
    let tanh = node.call("tanh", &[], vec![sum])?;
    let factor = scalar(node, "_plus_scalar", tanh, 1.0)?;
    let half = scalar(node, "_mul_scalar", data, 0.5)?;
    node.call("elemwise_mul", &[], vec![half, factor])
}

/// Imports `Mish`: `x · tanh(ln(1 + e^x))`.
pub(crate) fn mish(node: &mut Reading<'_, '_>) -> Answer {
    let data = node.operand(0)?;
    let soft = node.call("Activation", &[("act_type", "softrelu".into())], vec![data])?;
    let gate = node.call("tanh", &[], vec![soft])?;
    node.call("elemwise_mul", &[], vec![data, gate])
}

/// Imports `Swish`: `x · sigmoid(alpha x)`.
pub(crate) fn swish(node: &mut Reading<'_, '_>) -> Answer {
    let alpha = node.float("alpha", 1.0)?;
    let data = node.operand(0)?;
    let scaled = if alpha == 1.0 { data } else { scalar(node, "_mul_scalar", data, alpha.into())? };
    let gate = node.call("Activation", &[("act_type", "sigmoid".into())], vec![scaled])?;
    node.call("elemwise_mul", &[], vec![data, gate])
}

/// Imports `ThresholdedRelu`: `x` where it is larger than `alpha`, otherwise 0.
pub(crate) fn thresholded_relu(node: &mut Reading<'_, '_>) -> Answer {
    let alpha = node.float("alpha", 1.0)?;
    let data = node.operand(0)?;
    let is_larger = scalar(node, "_greater_scalar", data, alpha.into())?;
    node.call("elemwise_mul", &[], vec![data, is_larger])
}

/// Imports `Shrink`: `x + bias` below `-lambd`, `x - bias` above `lambd`, otherwise 0.
pub(crate) fn shrink(node: &mut Reading<'_, '_>) -> Answer {
    let (bias, lambd) = (f64::from(node.float("bias", 0.0)?), f64::from(node.float("lambd", 0.5)?));
    let data = node.operand(0)?;
    let part = |node: &mut Reading<'_, '_>, compare: &str, at: f64, by: f64| {
        let is_there = scalar(node, compare, data, at)?;
        let moved = scalar(node, "_plus_scalar", data, by)?;
        node.call("elemwise_mul", &[], vec![moved, is_there])
    };
    let below = part(node, "_lesser_scalar", -lambd, bias)?;
    let above = part(node, "_greater_scalar", lambd, -bias)?;
    node.call("elemwise_add", &[], vec![below, above])
}

/// Imports `Hardmax`: 1 at the first largest element along an axis, otherwise 0.
pub(crate) fn hardmax(node: &mut Reading<'_, '_>) -> Answer {
    let axis = node.int("axis", if node.opset() >= 13 { -1 } else { 1 })?;
    let data = node.operand(0)?;
    let shape = node.shape(data);
    let ndim = node.known_ndim(data, "its input")?;
    let Some(axis) = super::shape::place(&shape, axis) else { return refuse(format!("axis {axis} of {shape}")) };
    if node.opset() < 13 && axis + 1 != ndim {
        return refuse("a hardmax over several axes together (before version 13) is not read");
    }
    let Some(size) = shape.dim(axis) else { return node.unknown(data, "its input") };
    let largest = node.call("argmax", &[("axis", axis.to_string()), ("keepdims", flag(false))], vec![data])?;
    let hot = node.call("one_hot", &[("depth", size.to_string())], vec![largest])?;
    super::shape::move_last_to(node, hot, ndim, axis)
}
