//! Import of elementwise operators.

use crate::import::node::{Answer, Reading};
use crate::refusal::{Refusal, refuse};
use mxrs_format::Tensor;
use mxrs_format::onnx::dtype;
use mxrs_graph::Entry;
use mxrs_types::DType;

/// The MXNet operators that correspond to a binary ONNX operator.
pub(crate) struct Pair {
    /// Operator for two tensors of equal shape.
    equal: &'static str,
    /// Operator for two tensors that are broadcast.
    broadcast: &'static str,
    /// Operator for a tensor and a scalar.
    scalar: &'static str,
    /// Operator for a scalar and a tensor.
    scalar_first: &'static str,
}

macro_rules! pair {
    ($name:ident, $equal:literal, $broadcast:literal, $scalar:literal, $first:literal) => {
        /// The MXNet operators for the ONNX operator with this name.
        pub(crate) const $name: Pair =
            Pair { equal: $equal, broadcast: $broadcast, scalar: $scalar, scalar_first: $first };
    };
}

pair!(ADD, "elemwise_add", "broadcast_add", "_plus_scalar", "_plus_scalar");
pair!(SUB, "elemwise_sub", "broadcast_sub", "_minus_scalar", "_rminus_scalar");
pair!(MUL, "elemwise_mul", "broadcast_mul", "_mul_scalar", "_mul_scalar");
pair!(DIV, "elemwise_div", "broadcast_div", "_div_scalar", "_rdiv_scalar");

/// Reads an operator with one tensor input and no attributes.
pub(crate) fn unary(node: &mut Reading<'_, '_>, op: &str) -> Answer {
    let data = node.operand(0)?;
    node.call(op, &[], vec![data])
}

/// Reads an activation function as `Activation`.
pub(crate) fn activation(node: &mut Reading<'_, '_>, kind: &str) -> Answer {
    let data = node.operand(0)?;
    node.call("Activation", &[("act_type", kind.into())], vec![data])
}

/// The value of input `index` if that input is a constant scalar.
pub(super) fn number(node: &Reading<'_, '_>, index: usize) -> Result<Option<f64>, Refusal> {
    node.scalar(index)?.map(|tensor| value_of(&tensor)).transpose()
}

pub(super) fn value_of(tensor: &Tensor) -> Result<f64, Refusal> {
    match tensor.cast(DType::F64).as_slice::<f64>()?.first() {
        Some(value) => Ok(*value),
        None => refuse("an empty constant"),
    }
}

/// The parameter of an operator of a tensor and a number.
pub(super) fn scalar_attr(value: f64) -> [(&'static str, String); 1] {
    [("scalar", value.to_string())]
}

/// Reads an operator with two tensors, or with a tensor and a scalar.
pub(crate) fn pair(node: &mut Reading<'_, '_>, pair: &Pair) -> Answer {
    if let Some(value) = number(node, 1)? {
        let data = node.operand(0)?;
        return node.call(pair.scalar, &scalar_attr(value), vec![data]);
    }
    if let Some(value) = number(node, 0)? {
        let data = node.operand(1)?;
        return node.call(pair.scalar_first, &scalar_attr(value), vec![data]);
    }
    let (left, right) = (node.operand(0)?, node.operand(1)?);
    let (a, b) = (node.shape(left), node.shape(right));
    let op = if a.is_known() && a == b { pair.equal } else { pair.broadcast };
    node.call(op, &[], vec![left, right])
}

/// Reads `Max` and `Min`: of a tensor and a constant number by `scalar`, otherwise by a chain of `broadcast`.
pub(crate) fn extreme(node: &mut Reading<'_, '_>, broadcast: &str, scalar: &str) -> Answer {
    if node.node.input.len() == 2
        && let Some(value) = number(node, 1)?
    {
        let data = node.operand(0)?;
        return node.call(scalar, &scalar_attr(value), vec![data]);
    }
    chain(node, broadcast)
}

/// Calls an operator of two tensors for the inputs from left to right.
fn chain(node: &mut Reading<'_, '_>, op: &str) -> Answer {
    let inputs = node.operands()?;
    let Some(first) = inputs.first().copied() else { return refuse("it has no input") };
    inputs[1..].iter().try_fold(first, |all, next| node.call(op, &[], vec![all, *next]))
}

/// Imports `Mean` of several tensors.
pub(crate) fn mean(node: &mut Reading<'_, '_>) -> Answer {
    let n = node.node.input.len();
    let sum = chain(node, "broadcast_add")?;
    node.call("_div_scalar", &scalar_attr(n as f64), vec![sum])
}

/// Imports `Pow`.
pub(crate) fn power(node: &mut Reading<'_, '_>) -> Answer {
    let data = node.operand(0)?;
    match number(node, 1)? {
        // The scalar would be rounded to the type of the data.
        Some(value) if value.fract() != 0.0 && node.dtype(data).is_some_and(|dtype| !dtype.is_float()) => {
            refuse(format!("integers to the power of {value}"))
        }
        Some(value) => node.call("_power_scalar", &scalar_attr(value), vec![data]),
        None => {
            let exponent = node.operand(1)?;
            node.call("_npi_power", &[], vec![data, exponent])
        }
    }
}

/// Imports `Mod`: with `fmod` the remainder has the sign of the first operand, otherwise that of the second.
pub(crate) fn modulo(node: &mut Reading<'_, '_>) -> Answer {
    let is_fmod = node.int("fmod", 0)? != 0;
    let (left, right) = (node.operand(0)?, node.operand(1)?);
    if !is_fmod {
        return node.call("_npi_mod", &[], vec![left, right]);
    }
    let quotient = node.call("_npi_true_divide", &[], vec![left, right])?;
    let whole = node.call("trunc", &[], vec![quotient])?;
    let product = node.call("_npi_multiply", &[], vec![whole, right])?;
    node.call("_npi_subtract", &[], vec![left, product])
}

/// Imports `Sum` as one `add_n` for equal shapes, otherwise a chain of `broadcast_add`.
pub(crate) fn sum(node: &mut Reading<'_, '_>) -> Answer {
    let inputs = node.operands()?;
    let Some(first) = inputs.first().copied() else { return refuse("it has no input") };
    let shape = node.shape(first);
    if shape.is_known() && inputs.iter().all(|input| node.shape(*input) == shape) {
        return node.call("add_n", &[("num_args", inputs.len().to_string())], inputs);
    }
    inputs[1..].iter().try_fold(first, |sum, next| node.call("broadcast_add", &[], vec![sum, *next]))
}

/// Imports `Clip`; the bounds are constant inputs, or attributes before version 11.
pub(crate) fn clip(node: &mut Reading<'_, '_>) -> Answer {
    let mut bounds = [f64::from(f32::MIN), f64::from(f32::MAX)];
    if node.opset() < 11 {
        bounds = [node.float("min", f32::MIN)?.into(), node.float("max", f32::MAX)?.into()];
    } else {
        for (index, bound) in bounds.iter_mut().enumerate() {
            if node.has_input(index + 1) {
                let Some(tensor) = node.array(index + 1)? else { return refuse("its bounds are not constants") };
                *bound = value_of(&tensor)?;
            }
        }
    }
    let data = node.operand(0)?;
    node.call("clip", &[("a_min", bounds[0].to_string()), ("a_max", bounds[1].to_string())], vec![data])
}

/// Imports `HardSigmoid` as a product, a sum and a clip.
pub(crate) fn hard_sigmoid(node: &mut Reading<'_, '_>) -> Answer {
    let (alpha, beta) = (node.float("alpha", 0.2)?, node.float("beta", 0.5)?);
    let data = node.operand(0)?;
    clipped_line(node, data, alpha, beta)
}

/// Imports `HardSwish`, which is `x * HardSigmoid(x)` with `alpha = 1/6` and `beta = 1/2`.
pub(crate) fn hard_swish(node: &mut Reading<'_, '_>) -> Answer {
    let data = node.operand(0)?;
    let gate = clipped_line(node, data, 1.0 / 6.0, 0.5)?;
    node.call("elemwise_mul", &[], vec![data, gate])
}

/// `slope * data + offset`, limited to 0 and 1.
fn clipped_line(node: &mut Reading<'_, '_>, data: Entry, slope: f32, offset: f32) -> Answer {
    let scaled = node.call("_mul_scalar", &scalar_attr(slope.into()), vec![data])?;
    let shifted = node.call("_plus_scalar", &scalar_attr(offset.into()), vec![scaled])?;
    node.call("clip", &[("a_min", "0".into()), ("a_max", "1".into())], vec![shifted])
}

/// Imports `Cast`.
pub(crate) fn cast(node: &mut Reading<'_, '_>) -> Answer {
    // It matters for 8-bit floats only, which have no counterpart.
    node.ignore(&["saturate"]);
    let to = node.int("to", 0)?;
    let Some(to) = i32::try_from(to).ok().and_then(dtype) else {
        return refuse(format!("element type {to} has no counterpart"));
    };
    let data = node.operand(0)?;
    node.call("Cast", &[("dtype", to.name().into())], vec![data])
}

/// Imports `CastLike`, a cast to the type of its second input.
pub(crate) fn cast_like(node: &mut Reading<'_, '_>) -> Answer {
    node.ignore(&["saturate"]);
    let (data, like) = (node.operand(0)?, node.operand(1)?);
    let Some(to) = node.dtype(like) else { return refuse("the type of its second input is not known") };
    node.call("Cast", &[("dtype", to.name().into())], vec![data])
}

/// Imports `Dropout`, which does nothing at inference.
pub(crate) fn dropout(node: &mut Reading<'_, '_>) -> Answer {
    node.ignore(&["ratio", "seed"]);
    if node.has_input(2) {
        let is_training = node.array(2)?.map(|tensor| value_of(&tensor)).transpose()?;
        if is_training != Some(0.0) {
            return refuse("it drops at inference too");
        }
    }
    node.operand(0)
}
