//! Converts weights and biases to 8-bit integers once. The value of an integer is integer · range / 127.5, as the quantized
//! operators define.
//!
//! MXNet's `_contrib_quantize`, which converts weights offline, has 127 steps per range, but most of MXNet's kernels assume
//! 127.5. This file uses 127.5, so its integers differ from MXNet's by at most one.

use crate::Granularity;
use mxrs_format::Tensor;
use mxrs_types::{Error, Result, Shape};

/// Number of steps from 0 to the end of a range.
const LEVELS: f32 = 127.5;
/// Largest integer. -128 is not used, so that the range of integers is symmetric.
const GREATEST: f32 = 127.0;

/// A parameter in 8 bits with one or more ranges: MXNet's arrays `<name>_quantize`, `<name>_quantize_min` and
/// `<name>_quantize_max`.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizedParam {
    /// The integers, in the shape of the parameter.
    pub values: Tensor,
    /// Lower end of each range.
    pub min: Tensor,
    /// Upper end of each range.
    pub max: Tensor,
}

/// Quantizes `values`. With [`Granularity::Channel`], every index of the first axis has its own range. `at_least` has the
/// smallest allowed range for each index of the first axis.
///
/// # Errors
/// Fails if the tensor has no elements, or an element that is not finite.
pub fn quantize_param(
    shape: &Shape,
    values: &[f32],
    granularity: Granularity,
    at_least: &[f32],
) -> Result<QuantizedParam> {
    if let Some(bad) = values.iter().find(|value| !value.is_finite()) {
        return Err(Error::invalid("values of a parameter to quantize", bad, "finite numbers"));
    }
    let n_channels = shape.first().copied().unwrap_or(1);
    if values.is_empty() || n_channels == 0 {
        return Err(Error::invalid("shape of a parameter to quantize", shape, "at least one element"));
    }
    let n_ranges = if granularity == Granularity::Channel { n_channels } else { 1 };
    let row = values.len() / n_ranges;
    let mut integers = Vec::with_capacity(values.len());
    let mut ranges = Vec::with_capacity(n_ranges);
    for (index, part) in values.chunks_exact(row).enumerate() {
        let greatest = part.iter().fold(0.0f32, |most, value| most.max(value.abs()));
        let wanted = if n_ranges == 1 {
            at_least.iter().fold(0.0f32, |most, least| most.max(*least))
        } else {
            at_least.get(index).copied().unwrap_or(0.0)
        };
        let range = match greatest.max(wanted) {
            0.0 => 1.0,
            range => range,
        };
        let scale = LEVELS / range;
        integers.extend(part.iter().map(|value| nearest(value * scale)));
        ranges.push(range);
    }
    let negative: Vec<f32> = ranges.iter().map(|range| -range).collect();
    Ok(QuantizedParam {
        values: Tensor::from_slice(shape.clone(), &integers)?,
        min: Tensor::from_slice([n_ranges], &negative)?,
        max: Tensor::from_slice([n_ranges], &ranges)?,
    })
}

/// Rounds to the nearest integer, with ties to even, and clamps to ±127.
fn nearest(value: f32) -> i8 {
    value.round_ties_even().clamp(-GREATEST, GREATEST) as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(quantized: &QuantizedParam, row: usize) -> Vec<f32> {
        let ranges = quantized.max.as_slice::<f32>().unwrap();
        let integers = quantized.values.as_slice::<i8>().unwrap();
        let range = |i: usize| if ranges.len() == 1 { ranges[0] } else { ranges[i / row] };
        integers.iter().enumerate().map(|(i, v)| f32::from(*v) * range(i) / 127.5).collect()
    }

    const VALUES: [f32; 6] = [1.0, -0.5, 0.25, 0.001, -0.002, 0.0005];

    #[test]
    fn no_value_moves_by_more_than_half_a_step_of_its_range() {
        for (granularity, steps) in [(Granularity::Tensor, [1.0f32, 1.0]), (Granularity::Channel, [1.0, 0.002])] {
            let quantized = quantize_param(&[2, 3].into(), &VALUES, granularity, &[]).unwrap();
            for (i, (got, want)) in back(&quantized, 3).iter().zip(VALUES).enumerate() {
                let half = steps[i / 3] / 127.5 / 2.0;
                assert!((got - want).abs() <= half * 1.001, "{granularity} {i}: {got} {want}");
            }
            let (min, max) = (quantized.min.as_slice::<f32>().unwrap(), quantized.max.as_slice::<f32>().unwrap());
            assert!(min.iter().zip(max).all(|(min, max)| *min == -max));
        }
    }

    /// The expected integers are those of MXNet 1.9.1's `_contrib_quantize`, with the smallest and largest of these values
    /// as the range.
    #[test]
    fn integers_are_those_of_mxnet_or_next_to_them() {
        let values = [-1.0f32, -0.75, -0.503937, -0.1, 0.0, 0.003, 0.0039371, 0.004, 0.5, 0.9];
        let mxnet = [-127i8, -95, -64, -13, 0, 0, 1, 1, 64, 114];
        let quantized = quantize_param(&[10].into(), &values, Granularity::Tensor, &[]).unwrap();
        let integers = quantized.values.as_slice::<i8>().unwrap();
        assert!(integers.iter().zip(mxnet).all(|(got, want)| got.abs_diff(want) <= 1), "{integers:?}");
        assert_eq!(quantized.max.as_slice::<f32>().unwrap(), [1.0]);
    }

    #[test]
    fn a_channel_of_zeros_has_a_range_all_the_same() {
        let quantized = quantize_param(&[2, 1].into(), &[0.0, 2.0], Granularity::Channel, &[]).unwrap();
        assert_eq!(quantized.max.as_slice::<f32>().unwrap(), [1.0, 2.0]);
        assert_eq!(quantized.values.as_slice::<i8>().unwrap(), [0, 127]);
    }

    #[test]
    fn a_range_is_as_great_as_asked_for() {
        let quantized = quantize_param(&[2, 1].into(), &[0.5, 2.0], Granularity::Channel, &[1.0, 1.0]).unwrap();
        assert_eq!(quantized.max.as_slice::<f32>().unwrap(), [1.0, 2.0]);
        let whole = quantize_param(&[2, 1].into(), &[0.5, 2.0], Granularity::Tensor, &[1.0, 4.0]).unwrap();
        assert_eq!(whole.max.as_slice::<f32>().unwrap(), [4.0]);
    }

    #[test]
    fn what_has_no_range_is_refused() {
        assert!(quantize_param(&[1].into(), &[f32::NAN], Granularity::Tensor, &[]).is_err());
        assert!(quantize_param(&[0, 3].into(), &[], Granularity::Channel, &[]).is_err());
    }
}
