//! The numbers that the formulas of the tables compute with.
//!
//! One formula serves three purposes, so it is generic over this trait. With `f64` it is the reference kernel. With the
//! number types of a backend it is a vectorized kernel. With [`Sym`](super::Sym) it writes the calls of operators that
//! compute the formula, which is how second derivatives are made.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Declares the trait with its functions of one number, and implements it for `f64`.
macro_rules! real {
    ($($(#[$doc:meta])* $name:ident = $f64:expr;)*) => {
        /// A number with the functions that formulas use.
        pub trait Real:
            Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
        {
            /// The number nearest to `value`.
            fn of(value: f64) -> Self;
            $($(#[$doc])* fn $name(self) -> Self;)*
            /// `self ^ exponent`.
            fn powf(self, exponent: Self) -> Self;
            /// `√(self² + other²)`.
            fn hypot(self, other: Self) -> Self;
            /// The remainder with the sign of `divisor`; 0 if the divisor is 0.
            fn modulo(self, divisor: Self) -> Self;
            /// The larger number; NaN if either is NaN.
            fn larger(self, other: Self) -> Self;
            /// The smaller number; NaN if either is NaN.
            fn smaller(self, other: Self) -> Self;
            /// 1 if the numbers are equal, else 0.
            fn equals(self, other: Self) -> Self;
            /// 1 if `self > other`, else 0.
            fn exceeds(self, other: Self) -> Self;
            /// 1 if `self >= other`, else 0.
            fn reaches(self, other: Self) -> Self;
            /// `yes` where this number is not 0, else `no`.
            fn choose(self, yes: Self, no: Self) -> Self;
            /// `other` if that is NaN, else this number.
            fn or_nan_of(self, other: Self) -> Self;

            /// The number 1.
            #[inline(always)]
            fn one() -> Self {
                Self::of(1.0)
            }

            /// The number 0.
            #[inline(always)]
            fn zero() -> Self {
                Self::of(0.0)
            }

            /// `self²`.
            #[inline(always)]
            fn squared(self) -> Self {
                self * self
            }
        }

        impl Real for f64 {
            #[inline(always)]
            fn of(value: f64) -> Self {
                value
            }
            $(#[inline(always)] fn $name(self) -> Self {
                let function: fn(f64) -> f64 = $f64;
                function(self)
            })*
            #[inline(always)]
            fn powf(self, exponent: Self) -> Self {
                f64::powf(self, exponent)
            }
            #[inline(always)]
            fn hypot(self, other: Self) -> Self {
                f64::hypot(self, other)
            }
            #[inline(always)]
            fn modulo(self, divisor: Self) -> Self {
                if divisor == 0.0 {
                    return 0.0;
                }
                let rest = self % divisor;
                if rest != 0.0 && (rest < 0.0) != (divisor < 0.0) { rest + divisor } else { rest }
            }
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                if self > other || self.is_nan() { self } else { other }
            }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                if self < other || self.is_nan() { self } else { other }
            }
            #[inline(always)]
            fn equals(self, other: Self) -> Self {
                f64::from(self == other)
            }
            #[inline(always)]
            fn exceeds(self, other: Self) -> Self {
                f64::from(self > other)
            }
            #[inline(always)]
            fn reaches(self, other: Self) -> Self {
                f64::from(self >= other)
            }
            #[inline(always)]
            fn choose(self, yes: Self, no: Self) -> Self {
                if self != 0.0 { yes } else { no }
            }
            #[inline(always)]
            fn or_nan_of(self, other: Self) -> Self {
                if other.is_nan() { other } else { self }
            }
        }
    };
}

real! {
    /// `e^self`.
    exp = f64::exp;
    /// `e^self - 1`, accurate next to 0.
    exp_m1 = f64::exp_m1;
    /// Natural logarithm.
    ln = f64::ln;
    /// `ln(1 + self)`, accurate next to 0.
    ln_1p = f64::ln_1p;
    /// Logarithm to base 2.
    log2 = f64::log2;
    /// Logarithm to base 10.
    log10 = f64::log10;
    /// Square root.
    sqrt = f64::sqrt;
    /// Cube root.
    cbrt = f64::cbrt;
    /// Sine.
    sin = f64::sin;
    /// Cosine.
    cos = f64::cos;
    /// Tangent.
    tan = f64::tan;
    /// Inverse of the sine.
    asin = f64::asin;
    /// Inverse of the cosine.
    acos = f64::acos;
    /// Inverse of the tangent.
    atan = f64::atan;
    /// Hyperbolic sine.
    sinh = f64::sinh;
    /// Hyperbolic cosine.
    cosh = f64::cosh;
    /// Hyperbolic tangent.
    tanh = f64::tanh;
    /// Inverse of the hyperbolic sine.
    asinh = f64::asinh;
    /// Inverse of the hyperbolic cosine.
    acosh = f64::acosh;
    /// Inverse of the hyperbolic tangent.
    atanh = f64::atanh;
    /// `1 / (1 + e^-self)`.
    sigmoid = crate::numeric::sigmoid;
    /// The error function.
    erf = libm::erf;
    /// Inverse of the error function.
    erf_inv = super::special::erf_inv;
    /// The gamma function.
    gamma = super::special::gamma;
    /// Logarithm of the absolute value of the gamma function.
    ln_gamma = libm::lgamma;
    /// Derivative of `ln_gamma`.
    digamma = super::special::digamma;
    /// The absolute value.
    abs = f64::abs;
    /// The sign: -1, 0 or 1; 0 for NaN.
    sign = crate::numeric::sign;
    /// Rounds down.
    floor = f64::floor;
    /// Rounds up.
    ceil = f64::ceil;
    /// Rounds toward zero.
    trunc = f64::trunc;
    /// Rounds to the nearest integer, halves away from zero.
    round = f64::round;
    /// Rounds to the nearest integer, halves down.
    rint = super::special::rint;
    /// 1 for 0, else 0.
    not = |x| f64::from(x == 0.0);
}
