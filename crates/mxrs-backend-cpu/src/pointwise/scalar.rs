//! Arithmetic of an element and the parameter `scalar`, which is first converted to the dtype of the tensor.

use super::binary::{Larger, Minus, Over, Plus, Smaller, Times};
use super::loops::{Binary, Left, Right, functions, map, zip};
use super::{Step, StepCall, StepResult, for_floats, for_numbers};
use crate::number::{Float, Number};
use mxrs_op::elements;
use mxrs_ops::ScalarParams;

functions! {
    /// `x^exponent`.
    Power<T: Float>(x, exponent) = x.powf(exponent);
}

/// Gradient of the power: `g · s · x^(s - 1)`.
#[derive(Clone, Copy)]
struct PowerBack<T>(T);

impl<T: Float + 'static> Binary<T> for PowerBack<T> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        g.times(self.0).times(x.powf(self.0.minus(T::from_f64(1.0))))
    }
}

/// Gradient of the quotient: `-g · s / x²`.
#[derive(Clone, Copy)]
struct DividedBack<T>(T);

impl<T: Float + 'static> Binary<T> for DividedBack<T> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        // Divides by `x` twice, because the square of `x` may be 0 or infinite even if the result is neither.
        g.negative().times(self.0).over(x).over(x)
    }
}

/// `g` where `x` is at least the scalar, else 0.
#[derive(Clone, Copy)]
struct LargerBack<T>(T);

impl<T: Float + 'static> Binary<T> for LargerBack<T> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        if x >= self.0 { g } else { T::ZERO }
    }
}

/// `g` where `x` is at most the scalar, else 0.
#[derive(Clone, Copy)]
struct SmallerBack<T>(T);

impl<T: Float + 'static> Binary<T> for SmallerBack<T> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        if x <= self.0 { g } else { T::ZERO }
    }
}

/// The scalar, converted to the tensor's type.
fn scalar<T: Number>(call: &StepCall<'_>) -> T {
    let mut word = 0u64;
    let bytes = &mut bytemuck::bytes_of_mut(&mut word)[..call.dtype().size_of()];
    elements::write_f64(&[call.params.get::<ScalarParams>().scalar], call.dtype(), bytes);
    T::from_f64(elements::read_f64(bytes, call.dtype())[0])
}

/// Returns the `Step` (the function of slices) of an arithmetic operator with a scalar; `None` for other operators.
pub fn step(call: &StepCall<'_>) -> Option<StepResult> {
    let level = call.level;
    let one = |run: Result<_, String>| run.map(|run| Step::of_first(1, run));
    let two = |run: Result<_, String>| run.map(|run| Step::of_first(2, run));
    Some(match call.name {
        "_plus_scalar" => for_numbers!(call, 1, T => map::<T>(level, Right(Plus, scalar::<T>(call)))),
        "_minus_scalar" => for_numbers!(call, 1, T => map::<T>(level, Right(Minus, scalar::<T>(call)))),
        "_rminus_scalar" => for_numbers!(call, 1, T => map::<T>(level, Left(Minus, scalar::<T>(call)))),
        "_mul_scalar" => for_numbers!(call, 1, T => map::<T>(level, Right(Times, scalar::<T>(call)))),
        "_div_scalar" => for_numbers!(call, 1, T => map::<T>(level, Right(Over, scalar::<T>(call)))),
        "_rdiv_scalar" => for_numbers!(call, 1, T => map::<T>(level, Left(Over, scalar::<T>(call)))),
        "_maximum_scalar" => for_numbers!(call, 1, T => map::<T>(level, Right(Larger, scalar::<T>(call)))),
        "_minimum_scalar" => for_numbers!(call, 1, T => map::<T>(level, Right(Smaller, scalar::<T>(call)))),
        "_power_scalar" => one(for_floats!(call, 1, T => map::<T>(level, Right(Power, scalar::<T>(call))))),
        "_backward_rdiv_scalar" => two(for_floats!(call, 2, T => zip::<T>(level, DividedBack(scalar::<T>(call))))),
        "_backward_power_scalar" => two(for_floats!(call, 2, T => zip::<T>(level, PowerBack(scalar::<T>(call))))),
        "_backward_maximum_scalar" => two(for_floats!(call, 2, T => zip::<T>(level, LargerBack(scalar::<T>(call))))),
        "_backward_minimum_scalar" => two(for_floats!(call, 2, T => zip::<T>(level, SmallerBack(scalar::<T>(call))))),
        _ => return None,
    })
}
