//! Arithmetic of two elements, and sums of any number.

use super::loops::{fold, functions, zip};
use super::{Answer, Ask, for_numbers};
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
    /// The larger; NaN when either is.
    Larger<T: Number>(a, b) = a.larger(b);
    /// The smaller; NaN when either is.
    Smaller<T: Number>(a, b) = a.smaller(b);
}

/// The step of arithmetic.
pub fn step(ask: &Ask<'_>) -> Option<Answer> {
    let level = ask.level;
    Some(match ask.name {
        "elemwise_add" | "_grad_add" => for_numbers!(ask, 2, T => zip::<T>(level, Plus)),
        "elemwise_sub" => for_numbers!(ask, 2, T => zip::<T>(level, Minus)),
        "elemwise_mul" => for_numbers!(ask, 2, T => zip::<T>(level, Times)),
        "elemwise_div" => for_numbers!(ask, 2, T => zip::<T>(level, Over)),
        "add_n" => for_numbers!(ask, ask.inputs.len(), T => fold::<T>(level, Plus)),
        _ => return None,
    })
}
