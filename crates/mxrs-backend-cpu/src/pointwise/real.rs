//! Numbers of this backend for the formulas of `mxrs_ops::tables`.

use super::loops::{Binary, Unary, map_slice, map_slice_plain, zip_slices, zip_slices_plain};
use crate::level::Level;
use crate::math;
use crate::number::Number;
use mxrs_ops::tables::{BinaryFn, Real, UnaryFn};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// An `f32` whose functions are those of [`math`], which loops vectorize. Functions that are not there are computed in
/// `f64`.
#[derive(Clone, Copy)]
pub struct Fast(f32);

macro_rules! operators {
    ($($operator:ident::$name:ident),*) => {$(
        impl $operator for Fast {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Self($operator::$name(self.0, other.0))
            }
        }
    )*};
}
operators!(Add::add, Sub::sub, Mul::mul, Div::div);

impl Neg for Fast {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

macro_rules! functions {
    ($($name:ident = $f32:expr),*; wide: $($wide:ident),* $(,)?) => {
        impl Real for Fast {
            #[inline(always)]
            fn of(value: f64) -> Self {
                Self(value as f32)
            }
            $(#[inline(always)]
            fn $name(self) -> Self {
                let function: fn(f32) -> f32 = $f32;
                Self(function(self.0))
            })*
            $(#[inline(always)]
            fn $wide(self) -> Self {
                Self(Real::$wide(f64::from(self.0)) as f32)
            })*
            #[inline(always)]
            fn powf(self, exponent: Self) -> Self {
                Self(self.0.powf(exponent.0))
            }
            #[inline(always)]
            fn hypot(self, other: Self) -> Self {
                Self(f64::from(self.0).hypot(f64::from(other.0)) as f32)
            }
            #[inline(always)]
            fn modulo(self, divisor: Self) -> Self {
                Self(f64::from(self.0).modulo(f64::from(divisor.0)) as f32)
            }
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                Self(Number::larger(self.0, other.0))
            }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                Self(Number::smaller(self.0, other.0))
            }
            #[inline(always)]
            fn equals(self, other: Self) -> Self {
                Self(if self.0 == other.0 { 1.0 } else { 0.0 })
            }
            #[inline(always)]
            fn exceeds(self, other: Self) -> Self {
                Self(if self.0 > other.0 { 1.0 } else { 0.0 })
            }
            #[inline(always)]
            fn reaches(self, other: Self) -> Self {
                Self(if self.0 >= other.0 { 1.0 } else { 0.0 })
            }
            #[inline(always)]
            fn choose(self, yes: Self, no: Self) -> Self {
                if self.0 != 0.0 { yes } else { no }
            }
            #[inline(always)]
            fn or_nan_of(self, other: Self) -> Self {
                if other.0.is_nan() { other } else { self }
            }
        }
    };
}

functions! {
    exp = math::exp, exp_m1 = math::exp_m1, ln = math::ln, tanh = math::tanh, sigmoid = math::sigmoid, sqrt = f32::sqrt,
    abs = f32::abs, floor = f32::floor, ceil = f32::ceil, trunc = f32::trunc,
    sign = |x| if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { 0.0 },
    not = |x| if x == 0.0 { 1.0 } else { 0.0 };
    wide: ln_1p, log2, log10, cbrt, sin, cos, tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh, erf, erf_inv, gamma,
    ln_gamma, digamma, round, rint,
}

/// An element type for which the formulas of the tables have loops.
pub trait Evaluate: Number {
    /// The value of a function of one number.
    fn unary<F: UnaryFn>(x: Self) -> Self;
    /// The gradient of a function of one number.
    fn unary_back<F: UnaryFn>(g: Self, saved: Self) -> Self;
    /// The value of a function of two numbers.
    fn binary<F: BinaryFn>(a: Self, b: Self) -> Self;
    /// The gradient of the left operand of a function of two numbers.
    fn by_lhs<F: BinaryFn>(g: Self, a: Self, b: Self) -> Self;
    /// The gradient of the right operand of a function of two numbers.
    fn by_rhs<F: BinaryFn>(g: Self, a: Self, b: Self) -> Self;

    /// Computes `out[i] = f(x[i])`. Only loops over `f32` are compiled for every instruction set, to keep the backend small.
    fn map<F: Unary<Self>>(_: Level, f: F, x: &[Self], out: &mut [Self]) {
        map_slice_plain(f, x, out);
    }

    /// Computes `out[i] = f(a[i], b[i])`.
    fn zip<F: Binary<Self>>(_: Level, f: F, a: &[Self], b: &[Self], out: &mut [Self]) {
        zip_slices_plain(f, a, b, out);
    }
}

impl Evaluate for f32 {
    #[inline(always)]
    fn unary<F: UnaryFn>(x: Self) -> Self {
        F::value(Fast(x)).0
    }
    #[inline(always)]
    fn unary_back<F: UnaryFn>(g: Self, saved: Self) -> Self {
        F::back(Fast(g), Fast(saved)).0
    }
    #[inline(always)]
    fn binary<F: BinaryFn>(a: Self, b: Self) -> Self {
        F::value(Fast(a), Fast(b)).0
    }
    #[inline(always)]
    fn by_lhs<F: BinaryFn>(g: Self, a: Self, b: Self) -> Self {
        F::by_lhs(Fast(g), Fast(a), Fast(b)).0
    }
    #[inline(always)]
    fn by_rhs<F: BinaryFn>(g: Self, a: Self, b: Self) -> Self {
        F::by_rhs(Fast(g), Fast(a), Fast(b)).0
    }
    fn map<F: Unary<Self>>(level: Level, f: F, x: &[Self], out: &mut [Self]) {
        map_slice(level, f, x, out);
    }
    fn zip<F: Binary<Self>>(level: Level, f: F, a: &[Self], b: &[Self], out: &mut [Self]) {
        zip_slices(level, f, a, b, out);
    }
}

impl Evaluate for f64 {
    #[inline(always)]
    fn unary<F: UnaryFn>(x: Self) -> Self {
        F::value(x)
    }
    #[inline(always)]
    fn unary_back<F: UnaryFn>(g: Self, saved: Self) -> Self {
        F::back(g, saved)
    }
    #[inline(always)]
    fn binary<F: BinaryFn>(a: Self, b: Self) -> Self {
        F::value(a, b)
    }
    #[inline(always)]
    fn by_lhs<F: BinaryFn>(g: Self, a: Self, b: Self) -> Self {
        F::by_lhs(g, a, b)
    }
    #[inline(always)]
    fn by_rhs<F: BinaryFn>(g: Self, a: Self, b: Self) -> Self {
        F::by_rhs(g, a, b)
    }
}

/// Integers compute as the reference kernels do: with the formula for integers, or in `f64`.
macro_rules! integers {
    ($($t:ident),*) => {$(
        impl Evaluate for $t {
            #[inline(always)]
            fn unary<F: UnaryFn>(x: Self) -> Self {
                if F::IS_EXACT { F::integer(x as i64) as $t } else { F::value(x as f64) as $t }
            }
            #[inline(always)]
            fn unary_back<F: UnaryFn>(g: Self, saved: Self) -> Self {
                F::back(g as f64, saved as f64) as $t
            }
            #[inline(always)]
            fn binary<F: BinaryFn>(a: Self, b: Self) -> Self {
                F::integer(a as i64, b as i64) as $t
            }
            #[inline(always)]
            fn by_lhs<F: BinaryFn>(g: Self, a: Self, b: Self) -> Self {
                F::by_lhs(g as f64, a as f64, b as f64) as $t
            }
            #[inline(always)]
            fn by_rhs<F: BinaryFn>(g: Self, a: Self, b: Self) -> Self {
                F::by_rhs(g as f64, a as f64, b as f64) as $t
            }
        }
    )*};
}
integers!(u8, i8, i32, i64);
