//! Functions that an epilogue applies after bias, sum and bounds: sigmoid, its product with its argument (SiLU, also
//! called swish), their piecewise linear forms, and the hyperbolic tangent.
//!
//! An algorithm applies the function to each part of the output right after it has written the part, while the part is
//! still in the first-level cache. So the inner loops of the algorithms do not know the functions.

use crate::dispatch::for_each_set;
use crate::gemm::lanes::{Lanes, Plain};
use crate::layouts::BLOCK;
use mxrs_processor::Isa;

/// A function of one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Function {
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// `x / (1 + e^-x)`.
    Silu,
    /// The hyperbolic tangent.
    Tanh,
    /// `slope · x + offset`, limited to 0 and 1.
    HardSigmoid {
        /// Factor of `x`.
        slope: f32,
        /// Value at 0.
        offset: f32,
    },
    /// The product of `x` and [`HardSigmoid`](Self::HardSigmoid).
    HardSwish {
        /// Factor of `x` in the second factor.
        slope: f32,
        /// Value of the second factor at 0.
        offset: f32,
    },
}

impl Function {
    /// Whether the function maps 0, the value of padding channels, to 0.
    fn keeps_zero(self) -> bool {
        matches!(self, Self::Silu | Self::Tanh | Self::HardSwish { .. })
    }
}

/// A function, compiled for an instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Apply {
    function: Function,
    sweep: unsafe fn(function: Function, pixels: *mut f32, n: usize),
}

for_each_set! {
    /// Returns the function that rewrites pixels of 16 channels.
    fn sweep: unsafe fn(function: Function, pixels: *mut f32, n: usize) = sweep_of
}

impl Apply {
    /// Prepares a function for the processor's instructions.
    pub fn new(function: Function, isa: Isa) -> Self {
        Self { function, sweep: sweep(isa) }
    }

    /// Replaces `n` neighboring pixels of 16 channels by the values of the function. Only the first `channels` channels
    /// are used; the others are padding and stay 0.
    ///
    /// # Safety
    /// `pixels` must be valid for reads and writes of `n * BLOCK` values, and no other thread may use them during the
    /// call.
    pub unsafe fn apply_to(&self, pixels: *mut f32, n: usize, channels: usize) {
        // SAFETY: `new` chose the sweep for an `Isa`, which exists only if the processor has the instructions. The
        // caller promises the pixels; the padding of a pixel begins at `channels < BLOCK` and ends with the pixel.
        unsafe {
            (self.sweep)(self.function, pixels, n);
            if channels < BLOCK && !self.function.keeps_zero() {
                for pixel in 0..n {
                    pixels.add(pixel * BLOCK + channels).write_bytes(0, BLOCK - channels);
                }
            }
        }
    }

    /// Replaces `n` neighboring values by those of the function.
    ///
    /// # Safety
    /// `values` must be valid for reads and writes of `n` values, and no other thread may use them during the call.
    pub unsafe fn apply_to_row(&self, values: *mut f32, n: usize) {
        let (whole, rest) = (n / BLOCK, n % BLOCK);
        // SAFETY: `new` chose the sweep for an `Isa`, which exists only if the processor has the instructions. The first
        // `whole * BLOCK` values are in place, and the `rest` behind them in a block of this function.
        unsafe {
            (self.sweep)(self.function, values, whole);
            if rest > 0 {
                let (mut block, last) = ([0.0_f32; BLOCK], values.add(whole * BLOCK));
                block.as_mut_ptr().copy_from_nonoverlapping(last, rest);
                (self.sweep)(self.function, block.as_mut_ptr(), 1);
                last.copy_from_nonoverlapping(block.as_ptr(), rest);
            }
        }
    }
}

/// # Safety
/// `pixels` must be valid for reads and writes of `n * BLOCK` values that no other thread uses, and the processor must
/// have the instructions of `L`.
#[inline(always)]
unsafe fn sweep_of<L: Lanes + Approximate>(function: Function, pixels: *mut f32, n: usize) {
    // A macro, because a closure might not be compiled for the instructions of `L`.
    macro_rules! each {
        ($x:ident => $value:expr) => {
            for at in (0..n * BLOCK).step_by(L::N) {
                let $x = L::load(pixels.add(at));
                $value.store(pixels.add(at));
            }
        };
    }
    // SAFETY: the caller promises `n * BLOCK` valid values. `L::N` divides `BLOCK`, so every access of `L::N` values from `at` on is
    // within them. All other operations use only registers.
    unsafe {
        match function {
            Function::Sigmoid => each!(x => sigmoid(x)),
            Function::Silu => each!(x => x.mul(sigmoid(x))),
            Function::Tanh => each!(x => tanh(x)),
            Function::HardSigmoid { slope, offset } => {
                let (slope, offset) = (L::splat(slope), L::splat(offset));
                each!(x => hard_sigmoid(x, slope, offset));
            }
            Function::HardSwish { slope, offset } => {
                let (slope, offset) = (L::splat(slope), L::splat(offset));
                each!(x => x.mul(hard_sigmoid(x, slope, offset)));
            }
        }
    }
}

/// # Safety
/// The processor must have the instructions of `L`.
#[inline(always)]
unsafe fn hard_sigmoid<L: Lanes>(x: L, slope: L, offset: L) -> L {
    // SAFETY: the operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe { x.mul_add(slope, offset).clamp(L::splat(0.0), L::splat(1.0)) }
}

/// Coefficients of `(2^f - 1) / f` for `|f| <= 1/2`, lowest first. The relative error of `2^f` is below 1e-7 (the
/// polynomial of Cephes's `exp2f`).
const POWERS: [f32; 6] = [6.931_472e-1, 2.402_264_8e-1, 5.550_332_5e-2, 9.618_437e-3, 1.339_887_4e-3, 1.535_336_2e-4];
/// Adding this number to a float rounds the float to an integer; subtracting it again leaves the integer.
const ROUND: f32 = 12_582_912.0;
/// Arguments are clamped to this absolute value. Beyond it, a sigmoid differs from 0 or 1 by less than 1e-37.
const LARGEST: f32 = 87.0;

/// A power of 2 in two parts: `2^power = (q · f + 1) · 2^whole`, where `whole` is an integer and `q · f` is accurate near 0.
#[derive(Clone, Copy)]
struct Power<L> {
    q: L,
    f: L,
    whole: L,
}

/// `2^power`, for values from -126 to 126. NaN stays NaN.
///
/// # Safety
/// The processor must have the instructions of `L`.
#[inline(always)]
unsafe fn power_of_2<L: Lanes>(power: L) -> Power<L> {
    // SAFETY: the operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe {
        let whole = power.add(L::splat(ROUND)).sub(L::splat(ROUND));
        let f = power.sub(whole);
        let mut q = L::splat(POWERS[5]);
        for coefficient in POWERS.iter().rev().skip(1) {
            q = q.mul_add(f, L::splat(*coefficient));
        }
        Power { q, f, whole }
    }
}

/// `1 / (1 + e^-x)`; NaN stays NaN.
///
/// # Safety
/// The processor must have the instructions of `L`.
#[inline(always)]
pub(crate) unsafe fn sigmoid<L: Lanes + Approximate>(x: L) -> L {
    // SAFETY: the operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe {
        let power = x.clamp(L::splat(-LARGEST), L::splat(LARGEST)).mul(L::splat(-std::f32::consts::LOG2_E));
        let Power { q, f, whole } = power_of_2(power);
        let e = q.mul_add(f, L::splat(1.0)).times_power_of_2(whole);
        e.add(L::splat(1.0)).reciprocal()
    }
}

/// `(e^2x - 1) / (e^2x + 1)`, the hyperbolic tangent; NaN stays NaN. The difference is not computed from the power, which
/// would lose the digits of small values: `e^2x - 1 = q · f · 2^whole + (2^whole - 1)`.
///
/// # Safety
/// The processor must have the instructions of `L`.
#[inline(always)]
pub(crate) unsafe fn tanh<L: Lanes + Approximate>(x: L) -> L {
    // SAFETY: the operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe {
        let bound = LARGEST / 2.0;
        let power = x.clamp(L::splat(-bound), L::splat(bound)).mul(L::splat(2.0 * std::f32::consts::LOG2_E));
        let Power { q, f, whole } = power_of_2(power);
        let (one, scale) = (L::splat(1.0), L::splat(1.0).times_power_of_2(whole));
        let e = q.mul(f).mul_add(scale, scale.sub(one));
        e.mul(e.add(L::splat(2.0)).reciprocal()).clamp(L::splat(-1.0), one)
    }
}

/// Operations that [`Lanes`] does not have, because only functions need them.
pub(crate) trait Approximate: Lanes {
    /// `self · 2^n`, where each value of `n` is an integer from -126 to 127.
    unsafe fn times_power_of_2(self, n: Self) -> Self;
    /// `1 / self` within two units in the last place, for values from 1 to 1e38.
    unsafe fn reciprocal(self) -> Self;
}

impl Approximate for Plain {
    #[inline(always)]
    unsafe fn times_power_of_2(self, n: Self) -> Self {
        self.zip(n, |x, n| x * f32::from_bits(((n as i32).wrapping_add(127) as u32) << 23))
    }

    #[inline(always)]
    unsafe fn reciprocal(self) -> Self {
        // SAFETY: `Plain` needs no special instructions.
        unsafe { Self::splat(1.0).div(self) }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Approximate;
    use crate::gemm::lanes::Lanes;
    use std::arch::x86_64::*;

    /// Doubles the number of correct digits of `y`, an estimate of `1 / x`.
    #[inline(always)]
    unsafe fn refined<L: Lanes>(x: L, y: L) -> L {
        // SAFETY: the operations use only registers, and the caller is compiled for the instructions of `L`.
        unsafe { x.neg_mul_add(y, L::splat(2.0)).mul(y) }
    }

    impl Approximate for __m256 {
        #[inline(always)]
        unsafe fn times_power_of_2(self, n: Self) -> Self {
            // SAFETY: the instructions use only registers, and the caller is compiled for AVX2.
            unsafe {
                let exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
                self.mul(_mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponent)))
            }
        }

        #[inline(always)]
        unsafe fn reciprocal(self) -> Self {
            // SAFETY: the instructions use only registers, and the caller is compiled for AVX2.
            unsafe { refined(self, _mm256_rcp_ps(self)) }
        }
    }

    impl Approximate for __m512 {
        #[inline(always)]
        unsafe fn times_power_of_2(self, n: Self) -> Self {
            // SAFETY: the instruction uses only registers, and the caller is compiled for AVX-512F.
            unsafe { _mm512_scalef_ps(self, n) }
        }

        #[inline(always)]
        unsafe fn reciprocal(self) -> Self {
            // SAFETY: the instructions use only registers, and the caller is compiled for AVX-512F.
            unsafe { refined(self, _mm512_rcp14_ps(self)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_processor::Isa;

    fn exact(function: Function, x: f64) -> f64 {
        let hard = |slope: f32, offset: f32| (f64::from(slope) * x + f64::from(offset)).clamp(0.0, 1.0);
        match function {
            Function::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Function::Silu => x / (1.0 + (-x).exp()),
            Function::Tanh => x.tanh(),
            Function::HardSigmoid { slope, offset } => hard(slope, offset),
            Function::HardSwish { slope, offset } => x * hard(slope, offset),
        }
    }

    const ALL: [Function; 5] = [
        Function::Sigmoid,
        Function::Silu,
        Function::Tanh,
        Function::HardSigmoid { slope: 0.2, offset: 0.5 },
        Function::HardSwish { slope: 1.0 / 6.0, offset: 0.5 },
    ];

    #[test]
    fn values_agree_with_float64_on_every_instruction_set() {
        // Half of the values are near 0, where a difference of powers would lose its digits.
        let xs: Vec<f32> =
            (-4000..4000).map(|i| i as f32 * 0.0251).chain((-4000..4000).map(|i| i as f32 * 1.7e-5)).collect();
        for isa in Isa::available() {
            for function in ALL {
                let mut values = xs.clone();
                // SAFETY: `values` has a multiple of 16 values and belongs to this thread.
                unsafe { Apply::new(function, isa).apply_to(values.as_mut_ptr(), xs.len() / BLOCK, BLOCK) };
                for (x, y) in xs.iter().zip(values) {
                    let want = exact(function, f64::from(*x));
                    let size = f64::from(x.abs());
                    let allowed = match function {
                        // The rounding error of `x · log2(e)` grows with the argument, and so does the error of the result.
                        Function::Sigmoid | Function::Silu => want.abs() * 2e-7 * (5.0 + size) + 1e-35,
                        Function::Tanh => want.abs() * 6e-7,
                        // Where the linear part is near 0, it is a difference of two numbers near 1/2. So its error is
                        // absolute, not relative.
                        _ => 2e-7 * (1.0 + size),
                    };
                    assert!((f64::from(y) - want).abs() <= allowed, "{function:?}({x}) = {y}, not {want}");
                }
            }
        }
    }

    #[test]
    fn rows_of_any_length_are_rewritten_and_nothing_behind_them() {
        for isa in Isa::available() {
            for n in [0, 1, 15, 16, 17, 40] {
                let xs: Vec<f32> = (0..64).map(|i| i as f32 * 0.1 - 2.0).collect();
                let mut values = xs.clone();
                // SAFETY: `values` has more than `n` values and belongs to this thread.
                unsafe { Apply::new(Function::Tanh, isa).apply_to_row(values.as_mut_ptr(), n) };
                for (i, (x, y)) in xs.iter().zip(values).enumerate() {
                    let want = if i < n { f64::from(*x).tanh() } else { f64::from(*x) };
                    assert!((f64::from(y) - want).abs() <= 6e-7, "value {i} of {n}: {y}, not {want}");
                }
            }
        }
    }

    #[test]
    fn special_values_and_padding() {
        for isa in Isa::available() {
            for function in ALL {
                let mut values = [0.0f32; BLOCK];
                (values[0], values[1], values[2]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
                // SAFETY: `values` is one pixel and belongs to this thread.
                unsafe { Apply::new(function, isa).apply_to(values.as_mut_ptr(), 1, 5) };
                assert!(values[0].is_nan());
                let grows = matches!(function, Function::Silu | Function::HardSwish { .. });
                let at_infinity = if grows { f32::INFINITY } else { 1.0 };
                assert!(values[1] == at_infinity || (values[1] - at_infinity).abs() <= 2.0 * f32::EPSILON);
                if !grows {
                    let least = if function == Function::Tanh { -1.0 } else { 0.0 };
                    assert!((values[2] - least).abs() <= 2.0 * f32::EPSILON, "{function:?}: {}", values[2]);
                }
                assert!((f64::from(values[3]) - exact(function, 0.0)).abs() < 1e-7);
                assert!(values[5..].iter().all(|x| *x == 0.0));
            }
        }
    }
}
