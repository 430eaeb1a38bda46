//! The sum and the product of two elements, which other kernels use, and the operators that add gradients or any number of
//! tensors.

use super::loops::{fold, functions, zip};
use super::{StepCall, StepResult, for_numbers};
use crate::number::Number;

functions! {
    /// Sum.
    Plus<T: Number>(a, b) = a.plus(b);
    /// Product.
    Times<T: Number>(a, b) = a.times(b);
}

/// Returns the `Step` (the function of slices) of an operator that adds tensors; `None` for other operators.
pub fn step(call: &StepCall<'_>) -> Option<StepResult> {
    let level = call.level;
    Some(match call.name {
        "_grad_add" => for_numbers!(call, 2, T => zip::<T>(level, Plus)),
        "add_n" => for_numbers!(call, call.inputs.len(), T => fold::<T>(level, Plus)),
        _ => return None,
    })
}
