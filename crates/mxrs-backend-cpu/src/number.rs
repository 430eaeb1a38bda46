//! Elements and their arithmetic. [`Element`] can be moved and added, [`Number`] has the arithmetic of the reference
//! kernels, and [`Float`] also has functions such as `exp`. [`Stored`] connects a float of a tensor with the type that it is
//! computed in.

use crate::math;
use crate::pointwise::HalfFloat;
use half::{bf16, f16};
use mxrs_ops::tables::Real;

/// An element type with addition.
pub trait Element: bytemuck::Pod + Send + Sync {
    /// Zero.
    const ZERO: Self;
    /// The sum for a request to add: floats round once, integers wrap.
    fn plus(self, other: Self) -> Self;
}

/// An element with arithmetic: integers wrap, division by the integer 0 gives 0.
pub trait Number: Element + PartialOrd {
    /// The type in which sums are computed.
    type Wide: bytemuck::Pod + Send + Sync;
    /// Zero of the wide type.
    const WIDE_ZERO: Self::Wide;
    /// One of the wide type.
    const WIDE_ONE: Self::Wide;
    /// The lowest value: -∞, or the smallest integer.
    const LOWEST: Self;
    /// The highest value: ∞, or the largest integer.
    const HIGHEST: Self;
    /// Converts from `f64`: floats round; integers truncate and saturate.
    fn from_f64(value: f64) -> Self;
    /// The element as a term of a wide sum.
    fn widen(self) -> Self::Wide;
    /// The sum of two wide terms.
    fn wide_plus(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// The product of two wide factors.
    fn wide_times(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// Converts a wide sum to an element; integers keep the low bits.
    fn narrow(sum: Self::Wide) -> Self;
    /// Difference.
    fn minus(self, other: Self) -> Self;
    /// Product.
    fn times(self, other: Self) -> Self;
    /// Quotient.
    fn over(self, other: Self) -> Self;
    /// The number with the opposite sign.
    fn negative(self) -> Self;
    /// The absolute value.
    fn magnitude(self) -> Self;
    /// Whether the element is NaN.
    fn is_nan(self) -> bool;

    /// The larger of both; NaN if either is NaN.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if (self > other) | self.is_nan() { self } else { other }
    }

    /// The smaller of both; NaN if either is NaN.
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        if (self < other) | self.is_nan() { self } else { other }
    }
}

/// A float with mathematical functions; [`math`] states the errors of the functions for `f32`.
pub trait Float: Number<Wide = f64> {
    /// `self * a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// `e^self`.
    fn exp(self) -> Self;
    /// `e^self` for numbers up to 0. A result below the smallest normal number may be 0.
    fn exp_below(self) -> Self;
    /// `e^self - 1`.
    fn exp_m1(self) -> Self;
    /// `ln(1 + self)` for numbers from 0 to 1.
    fn ln_1p(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// `1 / (1 + e^-self)`.
    fn sigmoid(self) -> Self;
    /// The probability that a number with the standard normal distribution is below this one.
    fn normal_below(self) -> Self;
}

macro_rules! integers {
    ($($t:ident),*) => {$(
        impl Element for $t {
            const ZERO: Self = 0;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
        impl Number for $t {
            type Wide = i64;
            const WIDE_ZERO: i64 = 0;
            const WIDE_ONE: i64 = 1;
            const LOWEST: Self = $t::MIN;
            const HIGHEST: Self = $t::MAX;
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn widen(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn wide_plus(a: i64, b: i64) -> i64 {
                a.wrapping_add(b)
            }
            #[inline(always)]
            fn wide_times(a: i64, b: i64) -> i64 {
                a.wrapping_mul(b)
            }
            #[inline(always)]
            fn narrow(sum: i64) -> Self {
                sum as $t
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn negative(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn magnitude(self) -> Self {
                if self < 0 { self.wrapping_neg() } else { self }
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
        }
    )*};
}
integers!(u8, i8, i32, i64);

macro_rules! floats {
    ($($t:ident),*) => {$(
        impl Element for $t {
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
        }
        impl Number for $t {
            type Wide = f64;
            const WIDE_ZERO: f64 = 0.0;
            const WIDE_ONE: f64 = 1.0;
            const LOWEST: Self = $t::NEG_INFINITY;
            const HIGHEST: Self = $t::INFINITY;
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn widen(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn wide_plus(a: f64, b: f64) -> f64 {
                a + b
            }
            #[inline(always)]
            fn wide_times(a: f64, b: f64) -> f64 {
                a * b
            }
            #[inline(always)]
            fn narrow(sum: f64) -> Self {
                sum as $t
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn negative(self) -> Self {
                -self
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
        }
    )*};
}
floats!(f32, f64);

macro_rules! functions {
    ($t:ident, $exp:path, $exp_below:path, $exp_m1:path, $ln_1p:path, $tanh:path, $sigmoid:path, $normal:path) => {
        impl Float for $t {
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                $t::mul_add(self, a, b)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline(always)]
            fn exp_below(self) -> Self {
                $exp_below(self)
            }
            #[inline(always)]
            fn exp_m1(self) -> Self {
                $exp_m1(self)
            }
            #[inline(always)]
            fn ln_1p(self) -> Self {
                $ln_1p(self)
            }
            #[inline(always)]
            fn tanh(self) -> Self {
                $tanh(self)
            }
            #[inline(always)]
            fn sigmoid(self) -> Self {
                $sigmoid(self)
            }
            #[inline(always)]
            fn normal_below(self) -> Self {
                $normal(self)
            }
        }
    };
}
functions!(f32, math::exp, math::exp_below, math::exp_m1, math::ln_1p, math::tanh, math::sigmoid, math::normal_below);
functions!(f64, f64::exp, f64::exp, f64::exp_m1, f64::ln_1p, f64::tanh, sigmoid_f64, normal_below_f64);

fn normal_below_f64(x: f64) -> f64 {
    0.5 * (1.0 + Real::erf(x * std::f64::consts::FRAC_1_SQRT_2))
}

fn sigmoid_f64(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

macro_rules! halves {
    ($($t:ident),*) => {$(
        impl Element for $t {
            const ZERO: Self = $t::ZERO;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                $t::from_f32(self.to_f32() + other.to_f32())
            }
        }
    )*};
}
halves!(f16, bf16);

/// A float as a tensor holds it.
pub trait Stored: Element {
    /// The type that it is computed in: `f32` for 16-bit floats, otherwise the type itself.
    type Wide: Float + Stored<Wide = Self::Wide>;
    /// The same number in the wide type.
    fn wide(self) -> Self::Wide;
    /// The nearest number, ties to even.
    fn nearest(wide: Self::Wide) -> Self;
}

macro_rules! stored {
    ($($t:ident: $wide:ident, $to_wide:expr, $nearest:expr;)*) => {$(
        impl Stored for $t {
            type Wide = $wide;
            #[inline(always)]
            fn wide(self) -> $wide {
                $to_wide(self)
            }
            #[inline(always)]
            fn nearest(wide: $wide) -> Self {
                $nearest(wide)
            }
        }
    )*};
}
stored!(
    f32: f32, |x| x, |x| x;
    f64: f64, |x| x, |x| x;
    f16: f32, HalfFloat::wide, HalfFloat::nearest;
    bf16: f32, HalfFloat::wide, HalfFloat::nearest;
);

/// If `$dtype` is in the list, evaluates to `Ok($make)`, where `$make` may use the type alias `$t` for the dtype. Otherwise
/// evaluates to `$rest`.
macro_rules! for_types {
    ([$($variant:ident: $type:ty),*], $dtype:expr, $t:ident => $make:expr, $other:ident => $rest:expr) => {
        match $dtype {
            $(::mxrs_types::DType::$variant => {
                type $t = $type;
                Ok($make)
            })*
            $other => $rest,
        }
    };
}

/// Calls [`for_types`] with a list of the integer types that have arithmetic.
macro_rules! for_integers {
    ($dtype:expr, $t:ident => $make:expr, $other:ident => $rest:expr) => {
        $crate::number::for_types!([U8: u8, I8: i8, I32: i32, I64: i64], $dtype, $t => $make, $other => $rest)
    };
}
pub(crate) use {for_integers, for_types};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_wins_comparisons() {
        for (a, b) in [(f32::NAN, 1.0), (1.0, f32::NAN)] {
            assert!(a.larger(b).is_nan() && a.smaller(b).is_nan());
        }
        assert_eq!((2i8.larger(-3), 2i8.smaller(-3)), (2, -3));
    }

    #[test]
    fn integers_wrap_and_divide_by_zero() {
        assert_eq!((100i8.plus(100), i8::MIN.negative(), 7i32.over(0), i64::MIN.over(-1)), (-56, i8::MIN, 0, i64::MIN));
        assert_eq!((u8::narrow(300), i8::from_f64(300.0)), (44, 127));
    }
}
