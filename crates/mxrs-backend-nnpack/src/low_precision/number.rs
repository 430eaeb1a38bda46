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
                // This uses only comparisons and one addition, which compilers vectorize. A float of the size of `ROUND`
                // has no fraction. So the addition rounds `x` to the nearest integer, halves to even, and the integer is in
                // the lowest bits of the sum.
                const ROUND: f32 = 12_582_912.0;
                let x = if x == x { x } else { 0.0 };
                let x = if x < <$t>::MIN as f32 { <$t>::MIN as f32 } else { x };
                let x = if x > <$t>::MAX as f32 { <$t>::MAX as f32 } else { x };
                (x + ROUND).to_bits() as $t
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_rounded_to_even_and_saturate() {
        for (x, signed, unsigned) in [
            (0.5, 0, 0),
            (1.5, 2, 2),
            (-2.5, -2, 0),
            (-0.49, 0, 0),
            (126.5, 126, 126),
            (127.4, 127, 127),
            (254.5, 127, 254),
            (255.5, 127, 255),
            (-128.5, -128, 0),
            (1e30, 127, 255),
            (f32::NEG_INFINITY, -128, 0),
            (f32::NAN, 0, 0),
        ] {
            assert_eq!((i8::of(x), u8::of(x)), (signed, unsigned), "{x}");
        }
    }
}
