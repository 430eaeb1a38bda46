//! Functions of 16-bit floats: a few hundred elements at a time are widened to `f32`, the function runs in `f32`, and its
//! results are rounded once.

use super::Run;
use super::loops::{cast, cast_mut};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use mxrs_types::{DType, bfloat16};

/// A 16-bit float.
pub trait HalfFloat: bytemuck::Pod {
    /// Widens every element.
    fn widen(from: &[Self], to: &mut [f32]);
    /// Rounds every element to nearest even.
    fn narrow(from: &[f32], to: &mut [Self]);
}

impl HalfFloat for f16 {
    fn widen(from: &[Self], to: &mut [f32]) {
        from.convert_to_f32_slice(to);
    }
    fn narrow(from: &[f32], to: &mut [Self]) {
        to.convert_from_f32_slice(from);
    }
}

impl HalfFloat for bf16 {
    fn widen(from: &[Self], to: &mut [f32]) {
        to.iter_mut().zip(from).for_each(|(to, x)| *to = bfloat16::widen(*x));
    }
    fn narrow(from: &[f32], to: &mut [Self]) {
        to.convert_from_f32_slice(from);
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
