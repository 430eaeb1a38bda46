//! The definition that operators of a tensor and a scalar parameter share.
//!
//! The scalar is first converted to the tensor's type. So a fractional scalar loses its fraction if the tensor holds
//! integers, as in MXNet.

use crate::families::unary;
use crate::numeric;
use mxrs_op::{Attrs, Fill, OpDef, OpParams, RefInput, RefOutput, Sample, op_params};

op_params! {
    /// Parameters of the operators with a scalar.
    pub struct ScalarParams for "scalar operator" {
        /// The scalar operand.
        scalar: f64 = 1.0,
        /// Whether the scalar was written as an integer. Accepted for compatibility with MXNet; has no effect.
        is_int: bool = true,
    }
}

/// Defines an operator `out[i] = f(data[i], scalar)`. The caller adds the summary and the reference kernel.
pub fn define(name: &'static str) -> OpDef {
    OpDef { samples, ..unary::define(name).params::<ScalarParams>() }
}

/// Defines a backward operator `out[i] = f(ograd[i], data[i], scalar)`, whose output may be written in place of ograd.
pub fn define_backward(name: &'static str) -> OpDef {
    OpDef {
        samples: || {
            let with_ograd = |mut sample: Sample| {
                sample.inputs.insert(0, sample.inputs[0].clone());
                sample
            };
            samples().into_iter().map(with_ograd).collect()
        },
        ..unary::define_backward(name).params::<ScalarParams>()
    }
}

/// Applies `f(ograd, data, scalar)`, computed in floats for all types. Integer results truncate and saturate.
pub fn apply_backward(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    f: impl Fn(f64, f64, f64) -> f64,
) {
    let scalar = numeric::rounded_to(inputs[0].desc.dtype, params.get::<ScalarParams>().scalar);
    unary::apply_backward(inputs, outputs, |g, x| f(g, x, scalar));
}

/// Applies a function to each element: one function if the tensors hold floats, another if they hold integers.
pub fn apply(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    float: impl Fn(f64, f64) -> f64,
    integer: impl Fn(i64, i64) -> i64,
) {
    let scalar = numeric::rounded_to(inputs[0].desc.dtype, params.get::<ScalarParams>().scalar);
    numeric::map(inputs, outputs, |x| float(x, scalar), |x| integer(x, scalar as i64));
}

fn samples() -> Vec<Sample> {
    let three = [("scalar", "3.0")];
    // Positive values, so that powers are not NaN.
    let positive = Fill::Uniform(0.25, 2.0);
    vec![
        Sample::new("matrix", three, &[&[3, 5]]).fill(0, positive.clone()),
        Sample::new("odd", [("scalar", "0.5")], &[&[2, 3, 7]]).fill(0, positive.clone()),
        Sample { attrs: Attrs::new(), ..Sample::new("default", three, &[&[4]]).fill(0, positive) },
        Sample::new("one", three, &[&[1]]),
        Sample::new("empty", three, &[&[0]]),
        Sample::new("special", [("scalar", "2.0")], &[&[8]]).fill(0, Fill::Values(unary::special_values())),
    ]
}
