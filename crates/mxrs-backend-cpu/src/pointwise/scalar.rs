//! Arithmetic of an element and the parameter `scalar`, which is converted to the tensor's type first.

use super::binary::{Larger, Minus, Over, Plus, Smaller, Times};
use super::loops::{Binary, Left, Right, functions, map, zip};
use super::{Answer, Ask, Step, for_floats, for_numbers};
use crate::number::{Float, Number};
use mxrs_op::elements;
use mxrs_ops::ScalarParams;

functions! {
    /// Power.
    Power<T: Float>(x, exponent) = x.powf(exponent);
}

/// `g · s · x^(s - 1)`.
#[derive(Clone, Copy)]
struct PowerBack<T>(T);

impl<T: Float + 'static> Binary<T> for PowerBack<T> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        g.times(self.0).times(x.powf(self.0.minus(T::from_f64(1.0))))
    }
}

/// `-g · s / x²`.
#[derive(Clone, Copy)]
struct DividedBack<T>(T);

impl<T: Float + 'static> Binary<T> for DividedBack<T> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        // The quotient first: the square may be 0 or infinite where the result is not.
        g.negative().times(self.0).over(x).over(x)
    }
}

/// `g` where `x` is at least the scalar.
#[derive(Clone, Copy)]
struct LargerBack<T>(T);

impl<T: Float + 'static> Binary<T> for LargerBack<T> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        if x >= self.0 { g } else { T::ZERO }
    }
}

/// `g` where `x` is at most the scalar.
#[derive(Clone, Copy)]
struct SmallerBack<T>(T);

impl<T: Float + 'static> Binary<T> for SmallerBack<T> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        if x <= self.0 { g } else { T::ZERO }
    }
}

/// The scalar as it is after a trip through the tensor's type.
fn scalar<T: Number>(ask: &Ask<'_>) -> T {
    let mut word = 0u64;
    let bytes = &mut bytemuck::bytes_of_mut(&mut word)[..ask.dtype().size_of()];
    elements::write_f64(&[ask.params.get::<ScalarParams>().scalar], ask.dtype(), bytes);
    T::from_f64(elements::read_f64(bytes, ask.dtype())[0])
}

/// The step of arithmetic with a scalar.
pub fn step(ask: &Ask<'_>) -> Option<Answer> {
    let level = ask.level;
    let one = |run: Result<_, String>| run.map(|run| Step::of_first(1, run));
    let two = |run: Result<_, String>| run.map(|run| Step::of_first(2, run));
    Some(match ask.name {
        "_plus_scalar" => for_numbers!(ask, 1, T => map::<T>(level, Right(Plus, scalar::<T>(ask)))),
        "_minus_scalar" => for_numbers!(ask, 1, T => map::<T>(level, Right(Minus, scalar::<T>(ask)))),
        "_rminus_scalar" => for_numbers!(ask, 1, T => map::<T>(level, Left(Minus, scalar::<T>(ask)))),
        "_mul_scalar" => for_numbers!(ask, 1, T => map::<T>(level, Right(Times, scalar::<T>(ask)))),
        "_div_scalar" => for_numbers!(ask, 1, T => map::<T>(level, Right(Over, scalar::<T>(ask)))),
        "_rdiv_scalar" => for_numbers!(ask, 1, T => map::<T>(level, Left(Over, scalar::<T>(ask)))),
        "_maximum_scalar" => for_numbers!(ask, 1, T => map::<T>(level, Right(Larger, scalar::<T>(ask)))),
        "_minimum_scalar" => for_numbers!(ask, 1, T => map::<T>(level, Right(Smaller, scalar::<T>(ask)))),
        "_power_scalar" => one(for_floats!(ask, 1, T => map::<T>(level, Right(Power, scalar::<T>(ask))))),
        "_backward_rdiv_scalar" => two(for_floats!(ask, 2, T => zip::<T>(level, DividedBack(scalar::<T>(ask))))),
        "_backward_power_scalar" => two(for_floats!(ask, 2, T => zip::<T>(level, PowerBack(scalar::<T>(ask))))),
        "_backward_maximum_scalar" => two(for_floats!(ask, 2, T => zip::<T>(level, LargerBack(scalar::<T>(ask))))),
        "_backward_minimum_scalar" => two(for_floats!(ask, 2, T => zip::<T>(level, SmallerBack(scalar::<T>(ask))))),
        _ => return None,
    })
}
