//! The types of tensors as loops read and write them: conversion from and to float32.

use half::bf16;
use mxrs_types::bfloat16::{narrow, widen};

/// A type that loops convert from and to float32.
pub trait Number: Copy + Default + Send + Sync + 'static {
    /// The number in float32.
    fn wide(self) -> f32;
    /// The nearest number of this type; halves go to even. Integers saturate, and NaN becomes 0.
    fn of(x: f32) -> Self;
    /// The larger number. For floats, NaN is the larger.
    fn larger(self, other: Self) -> Self;
    /// The number that is smaller than all others: the maximum of no numbers.
    const LOWEST: Self;
}

impl Number for f32 {
    #[inline(always)]
    fn wide(self) -> f32 {
        self
    }

    #[inline(always)]
    fn of(x: f32) -> Self {
        x
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if other > self || other.is_nan() { other } else { self }
    }

    const LOWEST: Self = f32::MIN;
}

impl Number for bf16 {
    #[inline(always)]
    fn wide(self) -> f32 {
        widen(self)
    }

    #[inline(always)]
    fn of(x: f32) -> Self {
        narrow(x)
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        let (x, y) = (widen(self), widen(other));
        if y > x || y.is_nan() { other } else { self }
    }

    const LOWEST: Self = bf16::MIN;
}

macro_rules! integer {
    ($t:ty) => {
        impl Number for $t {
            #[inline(always)]
            fn wide(self) -> f32 {
                f32::from(self)
            }

            #[inline(always)]
            fn of(x: f32) -> Self {
                // The bounds come first, so that the conversion to 32 bits is exact and the one to 8 bits cuts nothing off.
                let x = x.max(<$t>::MIN as f32).min(<$t>::MAX as f32);
                let x = if x.is_nan() { 0.0 } else { x };
                x.round_ties_even() as i32 as $t
            }

            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                self.max(other)
            }

            const LOWEST: Self = <$t>::MIN;
        }
    };
}
integer!(i8);
integer!(u8);
