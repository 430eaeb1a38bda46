//! A nonlinearity, elementwise: relu `max(x, 0)`; sigmoid `1 / (1 + e^-x)`; tanh; softrelu `ln(1 + e^x)`; softsign
//! `x / (1 + |x|)`. `out` has the shape and dtype of `data`; NaN stays NaN.
//!
//! `_backward_Activation(ograd, saved)` computes the gradient; `saved` is `out`, or `data` for softsign. This backward
//! operator has a gradient itself, except for softsign.
//!
//! MXNet: `Activation`, also `_npx_activation`. Dtypes: f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::families::gradients::{Answers, call_scalar, call_with_params, from_input, from_output};
use crate::families::unary;
use crate::numeric;
use mxrs_op::{
    Fill, Gradient, GradientScope, InputNames, OpDef, OpParams, Precision, RefInput, RefOutput, RunMode, Sample,
    op_enum, op_params,
};
use mxrs_types::{Error, Result};

op_enum! {
    /// The nonlinearity.
    pub enum ActType {
        Relu = "relu",
        Sigmoid = "sigmoid",
        Tanh = "tanh",
        SoftRelu = "softrelu",
        SoftSign = "softsign",
    }
}

impl ActType {
    /// The function that computes the nonlinearity.
    pub(crate) fn function(self) -> fn(f64) -> f64 {
        match self {
            Self::Relu => numeric::relu,
            Self::Sigmoid => numeric::sigmoid,
            Self::Tanh => f64::tanh,
            Self::SoftRelu => |x| numeric::relu(x) + (-x.abs()).exp().ln_1p(),
            Self::SoftSign => |x| x / (1.0 + x.abs()),
        }
    }
}

op_params! {
    /// Parameters of `Activation`.
    pub struct ActivationParams for "Activation" {
        /// The nonlinearity.
        act_type: ActType,
    }
}

/// Defines the operator `Activation`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_activation"],
        summary: "relu, sigmoid, tanh, softrelu, softsign",
        dtypes: FLOATS,
        samples,
        precision,
        gradient: Gradient::By(gradient),
        companions: || vec![define_backward()],
        reference: Some(|params, inputs, outputs, _| {
            numeric::map_float(inputs, outputs, params.get::<ActivationParams>().act_type.function());
            Ok(())
        }),
        ..unary::define("Activation").params::<ActivationParams>()
    }
}

/// All functions but softrelu may compute in the precision of their input.
fn precision(params: &OpParams) -> Precision {
    match params.get::<ActivationParams>().act_type {
        ActType::SoftRelu => Precision::Float32,
        _ => Precision::Follows,
    }
}

fn define_backward() -> OpDef {
    OpDef {
        summary: "gradient of Activation",
        inputs: InputNames::Fixed(&["ograd", "saved"]),
        inplace: &[(0, 0), (1, 0)],
        dtypes: FLOATS,
        samples: backward_samples,
        gradient: Gradient::By(second_gradient),
        reference: Some(backward),
        ..unary::define("_backward_Activation").params::<ActivationParams>()
    }
}

fn gradient(params: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    match params.get::<ActivationParams>().act_type {
        ActType::SoftSign => from_input(scope, "_backward_Activation"),
        _ => from_output(scope, "_backward_Activation"),
    }
}

fn backward(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    // The derivative as a function of the saved tensor, which is out, or data for softsign.
    let slope: fn(f64) -> f64 = match params.get::<ActivationParams>().act_type {
        ActType::Relu => |y| if y.is_nan() { y } else { f64::from(y > 0.0) },
        ActType::Sigmoid => |y| y * (1.0 - y),
        ActType::Tanh => |y| 1.0 - y * y,
        ActType::SoftRelu => |y| -(-y).exp_m1(),
        ActType::SoftSign => |x| (1.0 + x.abs()).powi(-2),
    };
    numeric::zip(inputs, outputs, |g, saved| g * slope(saved), |g, _| g);
    Ok(())
}

/// The gradient of the backward operator `ograd · slope(saved)`. With respect to ograd, it is a call of the same
/// operator. With respect to `saved`, it is `g · ograd` times the derivative of `slope`, where `g` is the gradient of
/// the result.
fn second_gradient(params: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let (g, ograd, saved) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let to_ograd = Some(call_with_params(scope, "_backward_Activation", &[saved])?);
    if !scope.wants(1) {
        return Ok(vec![to_ograd, None]);
    }
    let slope_of_slope = match params.get::<ActivationParams>().act_type {
        ActType::Relu => return Ok(vec![to_ograd, None]),
        ActType::Sigmoid => {
            let doubled = call_scalar(scope, "_mul_scalar", saved, -2.0)?;
            call_scalar(scope, "_plus_scalar", doubled, 1.0)?
        }
        ActType::Tanh => call_scalar(scope, "_mul_scalar", saved, -2.0)?,
        ActType::SoftRelu => {
            let negative = scope.call_one("negative", &[saved])?;
            scope.call_one("exp", &[negative])?
        }
        ActType::SoftSign => {
            let what = "the second derivative of Activation with act_type softsign";
            return Err(Error::not_built(what, "only first derivatives of softsign exist in this version"));
        }
    };
    let both = scope.call_one("elemwise_mul", &[g, ograd])?;
    Ok(vec![to_ograd, Some(scope.call_one("elemwise_mul", &[both, slope_of_slope])?)])
}

fn backward_samples() -> Vec<Sample> {
    let sample = |name, act_type, shape: &[usize], saved| {
        Sample::new(name, [("act_type", act_type)], &[shape, shape]).fill(1, saved)
    };
    vec![
        sample("relu", "relu", &[2, 3, 5, 7], Fill::Uniform(-1.0, 2.0)),
        sample("sigmoid", "sigmoid", &[3, 17], Fill::Uniform(0.0, 1.0)),
        sample("tanh", "tanh", &[3, 17], Fill::Uniform(-1.0, 1.0)),
        sample("softrelu", "softrelu", &[3, 17], Fill::Uniform(0.0, 6.0)),
        sample("softsign", "softsign", &[3, 17], Fill::Uniform(-6.0, 6.0)),
        sample("one", "relu", &[1], Fill::Values(vec![0.0])),
        sample("empty", "relu", &[0, 3], Fill::Uniform(-1.0, 1.0)),
        sample("relu_special", "relu", &[8], Fill::Values(unary::special_values())),
    ]
}

fn samples() -> Vec<Sample> {
    let wide = Fill::Uniform(-6.0, 6.0);
    let special = Fill::Values(unary::special_values());
    vec![
        Sample::new("relu", [("act_type", "relu")], &[&[2, 3, 5, 7]]).fill(0, wide.clone()),
        Sample::new("sigmoid", [("act_type", "sigmoid")], &[&[3, 17]]).fill(0, wide.clone()),
        Sample::new("tanh", [("act_type", "tanh")], &[&[3, 17]]).fill(0, wide.clone()),
        Sample::new("softrelu", [("act_type", "softrelu")], &[&[3, 17]]).fill(0, wide.clone()),
        Sample::new("softsign", [("act_type", "softsign")], &[&[3, 17]]).fill(0, wide),
        Sample::new("one", [("act_type", "relu")], &[&[1]]),
        Sample::new("empty", [("act_type", "relu")], &[&[0, 3]]),
        Sample::new("relu_special", [("act_type", "relu")], &[&[8]]).fill(0, special.clone()),
        Sample::new("tanh_special", [("act_type", "tanh")], &[&[8]]).fill(0, special),
    ]
}
