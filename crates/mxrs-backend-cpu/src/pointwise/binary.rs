//! Arithmetic of two elements, and sums of any number of elements.

use super::loops::{fold, functions, zip};
use super::{StepCall, StepResult, for_numbers};
use crate::number::Number;

functions! {
    /// Sum.
    Plus<T: Number>(a, b) = a.plus(b);
    /// Difference.
    Minus<T: Number>(a, b) = a.minus(b);
    /// Product.
    Times<T: Number>(a, b) = a.times(b);
    /// Quotient.
    Over<T: Number>(a, b) = a.over(b);
    /// The larger of both; NaN if either is NaN.
    Larger<T: Number>(a, b) = a.larger(b);
    /// The smaller of both; NaN if either is NaN.
    Smaller<T: Number>(a, b) = a.smaller(b);
}

/// Returns the `Step` (the function of slices) of an arithmetic operator; `None` for other operators.
pub fn step(call: &StepCall<'_>) -> Option<StepResult> {
    let level = call.level;
    Some(match call.name {
        "elemwise_add" | "_grad_add" => for_numbers!(call, 2, T => zip::<T>(level, Plus)),
        "elemwise_sub" => for_numbers!(call, 2, T => zip::<T>(level, Minus)),
        "elemwise_mul" => for_numbers!(call, 2, T => zip::<T>(level, Times)),
        "elemwise_div" => for_numbers!(call, 2, T => zip::<T>(level, Over)),
        "add_n" => for_numbers!(call, call.inputs.len(), T => fold::<T>(level, Plus)),
        _ => return None,
    })
}
