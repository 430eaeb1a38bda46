//! Quantizes real numbers to 8-bit integers: `out = round(data / quantum)`. The range is the calibrated range or, without
//! calibration, that of the data. The operator returns this range too.
//!
//! Shapes: data any; out as data; min_output and max_output `[1]`. The `out_type` `auto` means uint8 for a calibrated range
//! without negative numbers, else int8. The range of int8 is reported symmetric. In uint8, numbers below 0 become 0. Data
//! that is already quantized is returned unchanged. Its range is the calibrated range or, without calibration, -127.5 to
//! 127.5 for int8 and 0 to 255.5 for uint8.
//!
//! MXNet: `_contrib_quantize_v2`. Dtypes: f32; i8 and u8 are passed on if `out_type` names them. Data that is all zeros
//! becomes zeros (MXNet: 127).

use crate::families::quantized::{
    self, QuantType, Range, chosen_type, floats, integers, learn_range_types, learn_ranges, require_type, sample,
    to_integer, write_ranges,
};
use crate::inference::{learn_dtype, unify};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, SampleInput, op_params};
use mxrs_types::{DType, Error, PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_quantize_v2` and `_contrib_requantize`.
    pub struct QuantizeParams for "_contrib_quantize_v2" {
        /// The type of the result.
        out_type: QuantType = QuantType::Int8,
        /// Smallest value seen in calibration.
        min_calib_range: Option<f32> = None,
        /// Largest value seen in calibration.
        max_calib_range: Option<f32> = None,
    }
}

impl QuantizeParams {
    /// The calibrated range, if there is one.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Attribute`] if only one end is given, or if the two ends are not a range.
    pub fn calibrated(&self) -> Result<Option<Range>> {
        Range::of_params("_contrib_quantize_v2", self.min_calib_range, self.max_calib_range)
    }

    /// Element type of the result.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::calibrated`].
    pub fn output_dtype(&self) -> Result<DType> {
        Ok(chosen_type(self.out_type, self.calibrated()?))
    }
}

/// Defines the operator `_contrib_quantize_v2`.
pub fn define() -> OpDef {
    OpDef {
        summary: "float32 to int8 or uint8, and the range",
        infer_shape,
        infer_dtype,
        dtypes: &[DType::F32, DType::I8, DType::U8],
        accuracy: Accuracy::Quantum,
        reference: Some(run),
        samples,
        ..quantized::define("_contrib_quantize_v2").params::<QuantizeParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    params.get::<QuantizeParams>().calibrated()?;
    unify(&mut inputs[0], &mut outputs[0], "output")?;
    learn_ranges(&mut outputs[1..])
}

fn infer_dtype(params: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let out = params.get::<QuantizeParams>().output_dtype()?;
    require_type(inputs[0], &[DType::F32, out], "data")?;
    learn_dtype(&mut outputs[0], out, "output")?;
    learn_range_types(&mut outputs[1..])
}

/// The range from the smallest to the largest of `values`; from 0 to 0 if there are no values.
pub(crate) fn extent(values: &[f64]) -> Range {
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if min <= max { Range { min, max } } else { Range { min: 0.0, max: 0.0 } }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let calibrated = params.get::<QuantizeParams>().calibrated()?;
    let (dtype, from) = (outputs[0].desc.dtype, inputs[0].desc.dtype);
    if !from.is_float() {
        numeric::copy_bytes(inputs, outputs);
        let whole = if from == DType::U8 { Range { min: 0.0, max: 255.5 } } else { Range { min: -127.5, max: 127.5 } };
        write_ranges(outputs, &[calibrated.unwrap_or(whole)]);
        return Ok(());
    }
    let x = numeric::read(&inputs[0]);
    let range = calibrated.unwrap_or_else(|| extent(&x));
    if x.iter().any(|x| x.is_nan()) && calibrated.is_none() {
        return Err(Error::invalid("data of _contrib_quantize_v2", "NaN", "numbers, where no range was calibrated"));
    }
    let per_unit = range.per_unit(dtype);
    let quantized: Vec<f64> = x.iter().map(|x| to_integer(dtype, x * per_unit)).collect();
    numeric::write(&mut outputs[0], &quantized);
    write_ranges(outputs, &[range.reported(dtype)]);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], shape: &[usize]| {
        let data = SampleInput { shape: shape.into(), fill: Fill::Uniform(-2.0, 2.0), dtype: Some(DType::F32) };
        sample(name, attrs, vec![data])
    };
    let (signed, unsigned, auto) = (("out_type", "int8"), ("out_type", "uint8"), ("out_type", "auto"));
    let calibrated = [("min_calib_range", "-1.5"), ("max_calib_range", "1.25")];
    let positive = [("min_calib_range", "0"), ("max_calib_range", "1.75")];
    let none = [("min_calib_range", "0"), ("max_calib_range", "0")];
    vec![
        of("images", &[signed, calibrated[0], calibrated[1]], &[2, 3, 5, 7]),
        of("images_unsigned", &[unsigned, positive[0], positive[1]], &[2, 16, 5, 7]),
        of("matrix", &[auto, positive[0], positive[1]], &[3, 17]),
        of("auto_signed", &[auto, calibrated[0], calibrated[1]], &[3, 17]),
        of("three_axes", &[signed, calibrated[0], calibrated[1]], &[2, 3, 4]),
        of("five_axes", &[signed, calibrated[0], calibrated[1]], &[1, 3, 2, 4, 5]),
        of("own_range", &[signed], &[2, 3, 4, 5]),
        of("own_range_unsigned", &[unsigned], &[40]),
        of("zero_range", &[signed, none[0], none[1]], &[3, 4]),
        sample("zeros", &[signed], vec![floats(&[0.0, 0.0, -0.0])]),
        sample("as_it_is", &[signed], vec![integers(&[2, 3, 4, 4], DType::I8)]),
        sample("unsigned_as_it_is", &[unsigned, positive[0], positive[1]], vec![integers(&[2, 3], DType::U8)]),
        of("empty", &[signed], &[0, 3]),
    ]
}
