//! `out = data`, on another device: the call that placement inserts where data crosses devices (MXNet's `group2ctx`).
//!
//! The executor copies the bytes between the devices. No kernel runs, because a kernel may use only the memory of its own
//! device. Within one device the output is a view of the input's memory.
//!
//! Gradient: `_CrossDeviceCopy(ograd)`, back to the device of the data.
//!
//! MXNet: `_CrossDeviceCopy`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::dtypes::MOVABLE;
use crate::families::gradients::Answers;
use crate::families::unary;
use crate::numeric::{self, reference};
use mxrs_op::{Accuracy, Attrs, Gradient, GradientScope, OpDef, OpParams, Pointwise, Precision, View};

/// The name of the operator.
const NAME: &str = "_CrossDeviceCopy";

/// Defines the operator `_CrossDeviceCopy`.
pub fn define() -> OpDef {
    OpDef {
        summary: "out = data, on another device",
        dtypes: MOVABLE,
        accuracy: Accuracy::Exact,
        pointwise: Pointwise::No,
        view: |_, _| View::Identity,
        crosses_devices: true,
        precision: Precision::follows,
        gradient: Gradient::By(copy_back),
        reference: reference!(numeric::copy_bytes),
        ..unary::define(NAME)
    }
}

fn copy_back(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let head = scope.out_grad(0)?;
    Ok(vec![Some(scope.call(NAME, Attrs::new(), &[head])?[0])])
}
