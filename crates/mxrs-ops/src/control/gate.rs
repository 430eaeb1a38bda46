//! `out = data`. The output is a view of data's memory. Only the gradient reads `mask`.
//!
//! Gradient: `ograd` if `mask` is not 0, otherwise 0, even where `ograd` is NaN. With `inverted` it is the other way round.
//!
//! Expanded control flow passes the inputs of each step and branch through gates. Steps and branches that are not taken are
//! computed too, and the gate keeps their gradients from counting. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use super::select::{expect_one_element, masked};
use crate::dtypes::MOVABLE;
use crate::inference::{unify_all, unify_dtypes};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, Gradient, InputNames, OpDef, Precision, Sample, View, op_params};

op_params! {
    /// Parameters of `_control_gate`.
    pub struct GateParams for "_control_gate" {
        /// Whether the gradient passes if the mask is 0.
        inverted: bool = false,
    }
}

/// Defines the operator `_control_gate`.
pub fn define() -> OpDef {
    OpDef {
        summary: "out = data, whose gradient a mask may stop",
        inputs: InputNames::Fixed(&["data", "mask"]),
        infer_shape: |_, inputs, outputs| {
            expect_one_element(&inputs[1])?;
            unify_all(&mut inputs[..1], outputs, "data")
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs[..1].iter_mut().chain(outputs), "data"),
        dtypes: MOVABLE,
        accuracy: Accuracy::Exact,
        view: |_, _| View::Identity,
        ignored_inputs: &[1],
        precision: Precision::follows,
        gradient: Gradient::By(|params, scope| {
            let (head, mask) = (scope.out_grad(0)?, scope.input(1));
            Ok(vec![Some(masked(scope, head, mask, !params.get::<GateParams>().inverted)?), None])
        }),
        reference: Some(|_, inputs, outputs, _| {
            numeric::copy_bytes(inputs, outputs);
            Ok(())
        }),
        samples,
        ..OpDef::new("_control_gate").params::<GateParams>()
    }
}

fn samples() -> Vec<Sample> {
    let of = |name, inverted, shape: &[usize]| {
        Sample::new(name, [("inverted", inverted)], &[shape, &[1]]).fill(1, Fill::Values(vec![1.0]))
    };
    vec![
        of("open", "False", &[2, 3]),
        of("closed", "True", &[2, 3]),
        of("empty", "False", &[0, 2]),
        of("vector", "False", &[5]),
    ]
}
