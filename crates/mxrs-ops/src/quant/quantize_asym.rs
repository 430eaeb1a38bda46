//! Quantizes real numbers to bytes with a scale and a shift: `out = round(data · scale + shift)`, where the ends of the range become 0
//! and 255: `scale = 255 / (max - min)` and `shift = 255 - max · scale`. The range is the calibrated range or, without calibration,
//! that of the data. So `(out - shift) / scale` is almost data.
//!
//! Shapes: data any; out as data; scale and shift `[1]`. Halves are rounded to even, and numbers outside the range become 0 or 255. If
//! the range has no width, scale is 1, and its single number becomes 0.
//!
//! MXNet: `_contrib_quantize_asym`. On a CPU it takes only data of 3 axes, and a range without width has no result. Dtypes: f32.

use super::quantize_v2::extent;
use crate::families::quantized::{self, Range, floats, learn_ranges, require_type, sample, to_integer};
use crate::inference::{learn_dtype, unify};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, SampleInput, op_params};
use mxrs_types::{DType, Error, PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_quantize_asym`.
    pub struct QuantizeAsymParams for "_contrib_quantize_asym" {
        /// Smallest value seen in calibration.
        min_calib_range: Option<f32> = None,
        /// Largest value seen in calibration.
        max_calib_range: Option<f32> = None,
    }
}

impl QuantizeAsymParams {
    /// The calibrated range, if there is one.
    fn calibrated(&self) -> Result<Option<Range>> {
        Range::of_params("_contrib_quantize_asym", self.min_calib_range, self.max_calib_range)
    }
}

/// Defines the operator `_contrib_quantize_asym`.
pub fn define() -> OpDef {
    OpDef {
        summary: "float32 to uint8, with a scale and a shift",
        output_names: &["output", "scale", "shift"],
        infer_shape,
        infer_dtype,
        dtypes: &[DType::F32],
        accuracy: Accuracy::Quantum,
        reference: Some(run),
        samples,
        ..quantized::define("_contrib_quantize_asym").params::<QuantizeAsymParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    params.get::<QuantizeAsymParams>().calibrated()?;
    unify(&mut inputs[0], &mut outputs[0], "output")?;
    learn_ranges(&mut outputs[1..])
}

fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    require_type(inputs[0], &[DType::F32], "data")?;
    for (output, dtype) in outputs.iter_mut().zip([DType::U8, DType::F32, DType::F32]) {
        learn_dtype(output, dtype, "output")?;
    }
    Ok(())
}

/// Scale and shift of a range.
fn scale_and_shift(range: Range) -> (f64, f64) {
    let scale = 255.0 / (range.max - range.min);
    // The scale of a range of almost no width does not fit into float32.
    if scale <= f64::from(f32::MAX) { (scale, 255.0 - range.max * scale) } else { (1.0, -range.min) }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let calibrated = params.get::<QuantizeAsymParams>().calibrated()?;
    let x = numeric::read(&inputs[0]);
    if calibrated.is_none()
        && let Some(wrong) = x.iter().find(|x| !x.is_finite())
    {
        let expected = "finite numbers, where no range was calibrated";
        return Err(Error::invalid("data of _contrib_quantize_asym", wrong, expected));
    }
    let (scale, shift) = scale_and_shift(calibrated.unwrap_or_else(|| extent(&x)));
    let quantized: Vec<f64> = x.iter().map(|x| to_integer(DType::U8, x * scale + shift)).collect();
    for (output, values) in outputs.iter_mut().zip([&quantized[..], &[scale], &[shift]]) {
        numeric::write(output, values);
    }
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], shape: &[usize]| {
        let data = SampleInput { shape: shape.into(), fill: Fill::Uniform(-2.0, 2.0), dtype: Some(DType::F32) };
        sample(name, attrs, vec![data])
    };
    let calibrated = [("min_calib_range", "-1.5"), ("max_calib_range", "1.25")];
    vec![
        of("sequences", &[], &[4, 2, 5]),
        of("calibrated", &calibrated, &[4, 2, 5]),
        of("matrix", &calibrated, &[3, 17]),
        of("own_range", &[], &[40]),
        sample("no_width", &[], vec![floats(&[0.75, 0.75])]),
        of("empty", &[], &[0, 3]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_range_are_0_and_255() {
        let (scale, shift) = scale_and_shift(Range { min: -1.0, max: 1.5 });
        assert_eq!((scale, shift), (102.0, 102.0));
        assert_eq!(to_integer(DType::U8, shift - scale), 0.0);
        assert_eq!(to_integer(DType::U8, 1.5 * scale + shift), 255.0);
    }

    #[test]
    fn a_range_without_width_gives_its_number_back() {
        for number in [0.0, 0.75, -3.0] {
            let (scale, shift) = scale_and_shift(Range { min: number, max: number });
            let quantized = to_integer(DType::U8, number * scale + shift);
            assert_eq!((quantized, (quantized - shift) / scale), (0.0, number));
        }
        let (scale, shift) = scale_and_shift(Range { min: 0.0, max: 1e-45 });
        assert!(scale == 1.0 && shift == 0.0);
    }
}
