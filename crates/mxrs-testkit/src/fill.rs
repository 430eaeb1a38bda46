//! Seeded content for samples: the same numbers on every machine and in every run.

use crate::AlignedBuffer;
use mxrs_op::{Fill, Sample, SampleInput};
use mxrs_types::DType;

/// A small random generator (SplitMix64, Steele et al. 2014), sufficient to fill test tensors.
#[derive(Clone, Debug)]
pub struct Seeded(u64);

impl Seeded {
    /// A generator for this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator whose seed is computed from a text, such as the name of a test.
    pub fn from_text(text: &str) -> Self {
        // FNV-1a.
        Self(text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number uniform in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number uniform in `[low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// An integer uniform in `[low, high)`; `low` if the range is empty.
    pub fn integer(&mut self, low: i64, high: i64) -> i64 {
        let width = high.saturating_sub(low).max(1) as u64;
        low.wrapping_add((self.next_u64() % width) as i64)
    }
}

/// Factor by which a float range is scaled for integer inputs, so that the integers are small and not all zero.
const INTEGER_SCALE: f64 = 10.0;

fn is_unsigned(dtype: DType) -> bool {
    matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::Bool)
}

/// The content of one input as numbers, before rounding to `dtype`. If [`Fill::Values`] has fewer numbers than the input has
/// elements, the numbers repeat.
fn numbers(input: &SampleInput, dtype: DType, seed: &mut Seeded) -> Vec<f64> {
    let n = input.shape.n_elements();
    match &input.fill {
        Fill::Uniform(low, high) if dtype.is_float() => (0..n).map(|_| seed.uniform(*low, *high)).collect(),
        // Without the scale, a range such as (-1, 1) would give only the integers -1 and 0.
        Fill::Uniform(low, high) => {
            let low = if is_unsigned(dtype) { low.max(0.0) } else { *low };
            (0..n).map(|_| seed.uniform(low * INTEGER_SCALE, high * INTEGER_SCALE).floor()).collect()
        }
        Fill::Integers(low, high) => (0..n).map(|_| seed.integer(*low, *high) as f64).collect(),
        Fill::Values(values) if values.is_empty() => vec![0.0; n],
        Fill::Values(values) => values.iter().copied().cycle().take(n).collect(),
    }
}

/// Fills one input with elements of `dtype`.
pub fn fill_input(input: &SampleInput, dtype: DType, seed: &mut Seeded) -> AlignedBuffer {
    AlignedBuffer::from_f64(&numbers(input, dtype, seed), dtype)
}

/// Fills every input of a sample. Inputs have the dtype that the sample fixes, or `dtype`. The seed is computed from the
/// sample's name. For operators whose inputs have several types, such as BatchNorm, the [`crate::conformance`]
/// runner uses inference instead.
pub fn fill_inputs(sample: &Sample, dtype: DType) -> Vec<AlignedBuffer> {
    let mut seed = Seeded::from_text(sample.name);
    sample.inputs.iter().map(|i| fill_input(i, i.dtype.unwrap_or(dtype), &mut seed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_numbers_and_ranges_hold() {
        let sample = Sample::new("s", [] as [(&str, &str); 0], &[&[100]]);
        let first = fill_inputs(&sample, DType::F32);
        assert_eq!(first[0].bytes(), fill_inputs(&sample, DType::F32)[0].bytes());
        let values = first[0].to_f64(DType::F32);
        assert!(values.iter().all(|v| (-1.0..=1.0).contains(v)) && values.iter().any(|v| *v < -0.5));
        let integers = fill_inputs(&sample, DType::I32)[0].to_f64(DType::I32);
        assert!(integers.iter().any(|v| *v > 2.0) && integers.iter().any(|v| *v < -2.0));
        let unsigned = fill_inputs(&sample, DType::U8)[0].to_f64(DType::U8);
        assert!(unsigned.iter().all(|v| *v <= 10.0) && unsigned.iter().any(|v| *v > 2.0));
    }
}
