//! `out = on` if `mask` is not 0, otherwise `off`. `mask` has one element, and any dtype; NaN is not 0.
//!
//! Only one of the two tensors is read, so that NaN in the other one has no effect.
//!
//! Gradient: `ograd` for the tensor that was read, 0 for the other.
//!
//! Expanded control flow calls it. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::dtypes::MOVABLE;
use crate::inference::{OP, unify_all, unify_dtypes};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, GradValue, Gradient, GradientScope, InputNames, OpDef, Precision, Sample};
use mxrs_types::{Error, PartialShape, Result};

/// Name of the operator.
pub const SELECT: &str = "_control_select";

/// Defines the operator `_control_select`.
pub fn define() -> OpDef {
    OpDef {
        summary: "one of two tensors",
        inputs: InputNames::Fixed(&["on", "off", "mask"]),
        infer_shape: |_, inputs, outputs| {
            expect_one_element(&inputs[2])?;
            unify_all(&mut inputs[..2], outputs, "off")
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs[..2].iter_mut().chain(outputs), "off"),
        dtypes: MOVABLE,
        accuracy: Accuracy::Exact,
        precision: Precision::follows,
        gradient: Gradient::By(|_, scope| {
            let (head, mask) = (scope.out_grad(0)?, scope.input(2));
            Ok(vec![Some(masked(scope, head, mask, true)?), Some(masked(scope, head, mask, false)?), None])
        }),
        reference: Some(|_, inputs, outputs, _| {
            let is_on = numeric::read(&inputs[2]).first().is_some_and(|mask| *mask != 0.0);
            let from = if is_on { inputs[0] } else { inputs[1] };
            outputs[0].bytes.copy_from_slice(from.bytes);
            Ok(())
        }),
        samples,
        ..OpDef::new(SELECT)
    }
}

/// Calls the operator `_control_select` so that the result is `value` if `(mask != 0) == when`, and zeros otherwise.
pub(super) fn masked(
    scope: &mut dyn GradientScope,
    value: GradValue,
    mask: GradValue,
    when: bool,
) -> Result<GradValue> {
    let zeros = scope.call_one("zeros_like", &[value])?;
    let inputs = if when { [value, zeros, mask] } else { [zeros, value, mask] };
    scope.call_one(SELECT, &inputs)
}

/// Refuses a mask that is known to have more or less than one element.
pub(super) fn expect_one_element(mask: &PartialShape) -> Result<()> {
    match mask.known().map(|shape| shape.checked_n_elements()).transpose()? {
        None | Some(1) => Ok(()),
        Some(_) => Err(Error::shape(OP, "mask", "one element", mask)),
    }
}

fn samples() -> Vec<Sample> {
    let of =
        |name, shape: &[usize], mask: f64| Sample::plain(name, &[shape, shape, &[1]]).fill(2, Fill::Values(vec![mask]));
    vec![of("on", &[2, 3], 1.0), of("off", &[2, 3], 0.0), of("empty", &[0, 2], 1.0), of("vector", &[70], 1.0)]
}
