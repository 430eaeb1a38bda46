//! Functions of 16-bit floats: a few hundred elements at a time are widened to `f32`, the function runs in `f32`, and its
//! results are rounded once.

use super::Run;
use super::loops::{cast, cast_mut};
use crate::level::{Level, Loop};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use mxrs_types::{DType, bfloat16};

/// A 16-bit float.
pub trait HalfFloat: bytemuck::Pod {
    /// Widens every element.
    fn widen(from: &[Self], to: &mut [f32]);
    /// Rounds every element to the nearest 16-bit float; of two equally near ones, to the even one.
    fn narrow(from: &[f32], to: &mut [Self]);
    /// The same number as `f32`.
    fn wide(self) -> f32;
    /// The nearest number, ties to even.
    fn nearest(x: f32) -> Self;
}

struct WidenLoop<'a, H>(&'a [H], &'a mut [f32]);

impl<H: HalfFloat> Loop for WidenLoop<'_, H> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.1.iter_mut().zip(self.0).for_each(|(to, x)| *to = x.wide());
    }
}

struct NarrowLoop<'a, H>(&'a [f32], &'a mut [H]);

impl<H: HalfFloat> Loop for NarrowLoop<'_, H> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.1.iter_mut().zip(self.0).for_each(|(to, x)| *to = H::nearest(*x));
    }
}

/// Widens every element, with the instructions of `level`.
pub fn widen_at<H: HalfFloat>(level: Level, from: &[H], to: &mut [f32]) {
    level.run(WidenLoop(from, to));
}

/// Rounds every element to the nearest 16-bit float, with the instructions of `level`. Of two equally near ones, the even one is
/// taken.
pub fn narrow_at<H: HalfFloat>(level: Level, from: &[f32], to: &mut [H]) {
    level.run(NarrowLoop(from, to));
}

/// Position of the lowest bit of the exponent of an `f32`.
const EXPONENT: u32 = 23;
/// The difference between the biases of the exponents of `f32` and `f16`.
const BIAS: u32 = 112;
/// Number of bits by which the fraction of an `f32` is longer than that of an `f16`.
const MORE: u32 = 13;

impl HalfFloat for f16 {
    fn widen(from: &[Self], to: &mut [f32]) {
        from.convert_to_f32_slice(to);
    }
    fn narrow(from: &[f32], to: &mut [Self]) {
        to.convert_from_f32_slice(from);
    }
    // All cases are computed and one is chosen, so that loops are vectorized. There is no vector instruction for this that
    // every level has.
    #[inline(always)]
    fn wide(self) -> f32 {
        let bits = u32::from(self.to_bits());
        let magnitude = (bits & 0x7fff) << MORE;
        let normal = magnitude + (BIAS << EXPONENT);
        // Infinities and NaN have the highest exponent in both types.
        let highest = magnitude + ((2 * BIAS) << EXPONENT);
        // Subnormal numbers have no leading one; the subtraction normalizes them.
        let smallest = f32::from_bits((BIAS + 1) << EXPONENT);
        let subnormal = (f32::from_bits(magnitude + ((BIAS + 1) << EXPONENT)) - smallest).to_bits();
        let exponent = bits & 0x7c00;
        let result = if exponent == 0 { subnormal } else { normal };
        let result = if exponent == 0x7c00 { highest } else { result };
        f32::from_bits(result | (bits & 0x8000) << 16)
    }
    #[inline(always)]
    fn nearest(x: f32) -> Self {
        let bits = x.to_bits();
        let magnitude = bits & 0x7fff_ffff;
        // Rounds half up, and ties to even by the lowest bit that is kept.
        let odd = magnitude >> MORE & 1;
        let normal = magnitude.wrapping_sub(BIAS << EXPONENT).wrapping_add(0xfff + odd) >> MORE;
        // The addition of one half moves the bits of a subnormal result to the lowest bits, and rounds them.
        let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
        let nan = 0x7e00 | magnitude >> MORE & 0x3ff;
        // Numbers from 2^-14 on are normal; those from 65520 on are rounded to infinity.
        let result = if magnitude < (BIAS + 1) << EXPONENT { subnormal } else { normal };
        let result = if magnitude >= 65520.0f32.to_bits() { 0x7c00 } else { result };
        let result = if magnitude > f32::INFINITY.to_bits() { nan } else { result };
        Self::from_bits((result | (bits >> 16 & 0x8000)) as u16)
    }
}

impl HalfFloat for bf16 {
    fn widen(from: &[Self], to: &mut [f32]) {
        to.iter_mut().zip(from).for_each(|(to, x)| *to = bfloat16::widen(*x));
    }
    fn narrow(from: &[f32], to: &mut [Self]) {
        to.convert_from_f32_slice(from);
    }
    #[inline(always)]
    fn wide(self) -> f32 {
        bfloat16::widen(self)
    }
    #[inline(always)]
    fn nearest(x: f32) -> Self {
        bfloat16::narrow(x)
    }
}

/// Number of elements that are widened at a time.
const PIECE: usize = 256;
/// Largest number of inputs that are widened on the stack.
const MOST_INPUTS: usize = 4;

/// Makes a function of 16-bit floats from one of `f32`.
///
/// # Errors
/// Fails if there are more than [`MOST_INPUTS`] inputs.
pub fn widened(dtype: DType, n_inputs: usize, run: Run) -> Result<Run, String> {
    if n_inputs > MOST_INPUTS {
        return Err(format!("no kernel for {n_inputs} inputs of {dtype}"));
    }
    Ok(if dtype == DType::F16 {
        Box::new(move |inputs, out| in_pieces::<f16>(&run, inputs, out))
    } else {
        Box::new(move |inputs, out| in_pieces::<bf16>(&run, inputs, out))
    })
}

fn in_pieces<H: HalfFloat>(run: &Run, inputs: &[&[u8]], out: &mut [u8]) {
    let mut wide = [[0.0f32; PIECE]; MOST_INPUTS];
    let mut result = [0.0f32; PIECE];
    for (i, out) in cast_mut::<H>(out).chunks_mut(PIECE).enumerate() {
        let n = out.len();
        for (input, wide) in inputs.iter().zip(&mut wide) {
            H::widen(&cast::<H>(input)[i * PIECE..][..n], &mut wide[..n]);
        }
        let [a, b, c, d] = &wide;
        let pieces = [a, b, c, d].map(|piece| bytemuck::cast_slice(&piece[..n]));
        run(&pieces[..inputs.len()], bytemuck::cast_slice_mut(&mut result[..n]));
        H::narrow(&result[..n], out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the crate `half`: all 16-bit numbers, the numbers half way between neighbors, and those next to these.
    #[test]
    fn conversions_by_any_level_are_exact() {
        for level in Level::available() {
            let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
            let mut wide = vec![0.0; all.len()];
            widen_at(level, &all, &mut wide);
            let is_same = |a: f32, b: f32| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            assert!(all.iter().zip(&wide).all(|(x, wide)| is_same(x.to_f32(), *wide)), "{}", level.name());
            // One half of the last place of an `f16` is bit 12 of the `f32`; below the normal numbers it is a higher bit.
            let halves = (0..=u16::MAX).map(|bits| {
                f16::from_bits(bits).to_f64() + f16::from_bits(bits + u16::from(bits % 0x8000 < 0x7bff)).to_f64()
            });
            let near = halves.map(|sum| (sum / 2.0) as f32).flat_map(|x| [x, x.next_up(), x.next_down()]);
            let more = [65519.0, 65520.0, 65536.0, 1e30, f32::INFINITY, 1e-30, f32::MIN_POSITIVE, 2.0f32.powi(-25)];
            let numbers: Vec<f32> = near.chain(more).chain(more.map(|x| -x)).chain([f32::NAN, 0.0, -0.0]).collect();
            let mut narrow = vec![f16::ZERO; numbers.len()];
            narrow_at(level, &numbers, &mut narrow);
            for (x, got) in numbers.iter().zip(narrow) {
                let expected = f16::from_f32(*x);
                let is_right = got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan());
                assert!(is_right, "{x:e}: {got} instead of {expected} on {}", level.name());
            }
        }
    }

    #[test]
    fn every_16_bit_number_survives() {
        for bits in 0..=u16::MAX {
            let (mut wide, mut back) = ([0.0f32], [bf16::ZERO]);
            let x = bf16::from_bits(bits);
            HalfFloat::widen(&[x], &mut wide);
            assert!(wide[0] == x.to_f32() || x.is_nan());
            HalfFloat::narrow(&wide, &mut back);
            assert!(back[0] == x || (x.is_nan() && back[0].is_nan()));
        }
    }
}
