//! A nonlinearity, elementwise: relu `max(x, 0)`; sigmoid `1 / (1 + e^-x)`; tanh; softrelu `ln(1 + e^x)`; softsign
//! `x / (1 + |x|)`. Out has the shape and dtype of data; NaN stays NaN.
//!
//! MXNet: `Activation`, also `_npx_activation`. Dtypes: f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::{numeric, unary};
use mxrs_op::{Fill, OpDef, Sample, op_enum, op_params};

op_enum! {
    /// Which nonlinearity.
    pub enum ActType {
        Relu = "relu",
        Sigmoid = "sigmoid",
        Tanh = "tanh",
        SoftRelu = "softrelu",
        SoftSign = "softsign",
    }
}

op_params! {
    /// Parameters of `Activation`.
    pub struct ActivationParams for "Activation" {
        /// Which nonlinearity.
        act_type: ActType,
    }
}

/// `Activation`.
pub fn define() -> OpDef {
    let elementwise = unary::define("Activation", &["_npx_activation"], "relu, sigmoid, tanh, softrelu, softsign", {
        |params, inputs, outputs, _| {
            let function: fn(f64) -> f64 = match params.get::<ActivationParams>().act_type {
                ActType::Relu => numeric::relu,
                ActType::Sigmoid => numeric::sigmoid,
                ActType::Tanh => f64::tanh,
                ActType::SoftRelu => |x| numeric::relu(x) + (-x.abs()).exp().ln_1p(),
                ActType::SoftSign => |x| x / (1.0 + x.abs()),
            };
            numeric::map_float(inputs, outputs, function);
            Ok(())
        }
    });
    OpDef { dtypes: FLOATS, samples, ..elementwise.params::<ActivationParams>() }
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
