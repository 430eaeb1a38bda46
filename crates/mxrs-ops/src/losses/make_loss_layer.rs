//! `out = data`, whose gradient is `grad_scale`, whatever `ograd` is: data is a loss. With the normalization `batch` the
//! gradient is divided by the size of the first axis; with `valid`, by the number of elements above `valid_thresh`, or by 1
//! if there are none.
//!
//! MXNet: `MakeLoss`. Dtypes: f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::families::gradients::params_of;
use crate::numeric;
use mxrs_op::{Accuracy, Gradient, OpDef, Sample, op_enum, op_params};

op_enum! {
    /// What the gradient is divided by.
    pub enum LossNormalization { Null = "null", Batch = "batch", Valid = "valid" }
}

op_params! {
    /// Parameters of `MakeLoss`.
    pub struct MakeLossParams for "MakeLoss" {
        /// The gradient, before normalization.
        grad_scale: f32 = 1.0,
        /// Elements above this number are valid.
        valid_thresh: f32 = 0.0,
        /// What the gradient is divided by.
        normalization: LossNormalization = LossNormalization::Null,
    }
}

const BACKWARD: &str = "_backward_MakeLoss";

/// Defines the operator `MakeLoss`.
pub fn define() -> OpDef {
    OpDef {
        summary: "out = data; data is a loss",
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        gradient: Gradient::By(|_, scope| {
            let data = scope.input(0);
            let attrs = params_of(scope);
            Ok(vec![Some(scope.call(BACKWARD, attrs, &[data])?[0])])
        }),
        companions: || vec![backward()],
        reference: Some(|_, inputs, outputs, _| {
            numeric::copy_bytes(inputs, outputs);
            Ok(())
        }),
        samples,
        is_loss: |_| true,
        ..OpDef::new("MakeLoss").params::<MakeLossParams>()
    }
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::plain("matrix", &[&[3, 4]]),
        Sample::new("batch", [("normalization", "batch"), ("grad_scale", "2")], &[&[4, 3]]),
        Sample::new("valid", [("normalization", "valid"), ("valid_thresh", "0.25")], &[&[2, 5]]),
        Sample::plain("empty", &[&[0, 3]]),
    ]
}

/// Takes data and returns its gradient.
fn backward() -> OpDef {
    OpDef {
        summary: "gradient of a loss",
        dtypes: FLOATS,
        accuracy: Accuracy::Elementwise,
        reference: Some(|params, inputs, outputs, _| {
            let params: &MakeLossParams = params.get();
            let data = numeric::read(&inputs[0]);
            let count = match params.normalization {
                LossNormalization::Null => 1,
                LossNormalization::Batch => inputs[0].desc.shape.first().copied().unwrap_or(1),
                LossNormalization::Valid => data.iter().filter(|x| **x > f64::from(params.valid_thresh)).count(),
            };
            let gradient = f64::from(params.grad_scale) / count.max(1) as f64;
            numeric::write(&mut outputs[0], &vec![gradient; data.len()]);
            Ok(())
        }),
        samples,
        ..OpDef::new(BACKWARD).params::<MakeLossParams>()
    }
}
