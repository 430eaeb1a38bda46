//! Converts 32-bit sums of products to 8-bit integers: `out = round(data · quantum(data) / quantum(out))`. Also returns the
//! range of out.
//!
//! Shapes: data any; min_range, max_range, min_output and max_output `[1]`; out as data. The range of out is the calibrated
//! range, made symmetric for int8, and starting at 0 for uint8. Without calibration, the range of the values in data takes
//! its place. If min_range and max_range have several elements, each belongs to one position along axis 1 of data; out has
//! one range nevertheless.
//!
//! MXNet: `_contrib_requantize`, which uses 127 levels in out, so its integers can differ by one. Dtypes: i32.

use super::quantize_v2::{QuantizeParams, extent};
use crate::families::quantized::{
    self, Range, floats, integers, learn_data_ranges, learn_range_types, learn_ranges, range_of, ranges, require_type,
    sample, to_integer, write_ranges,
};
use crate::inference::{learn_dtype, unify};
use crate::numeric;
use mxrs_op::{Accuracy, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::{DType, PartialShape, Result};

/// Defines the operator `_contrib_requantize`.
pub fn define() -> OpDef {
    OpDef {
        summary: "int32 to int8 or uint8",
        inputs: InputNames::Fixed(&["data", "min_range", "max_range"]),
        infer_shape,
        infer_dtype: |params, inputs, outputs| {
            require_type(inputs[0], &[DType::I32], "data")?;
            learn_dtype(&mut inputs[0], DType::I32, "data")?;
            learn_range_types(inputs[1..].iter_mut().chain(&mut outputs[1..]))?;
            learn_dtype(&mut outputs[0], params.get::<QuantizeParams>().output_dtype()?, "output")
        },
        dtypes: &[DType::I32],
        accuracy: Accuracy::Quantum,
        reference: Some(run),
        samples,
        ..quantized::define("_contrib_requantize").params::<QuantizeParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    params.get::<QuantizeParams>().calibrated()?;
    let [data, ranges @ ..] = inputs else { return Ok(()) };
    unify(data, &mut outputs[0], "output")?;
    learn_data_ranges(ranges, data)?;
    learn_ranges(&mut outputs[1..])
}

/// The range that is reported for a requantized tensor.
pub fn reported(range: Range, dtype: DType) -> Range {
    match dtype {
        DType::U8 => Range { min: 0.0, max: range.reach() },
        _ => range.reported(dtype),
    }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let (desc, dtype) = (inputs[0].desc, outputs[0].desc.dtype);
    let quanta: Vec<f64> = ranges(&inputs[1], &inputs[2]).iter().map(|r| r.quantum(DType::I32)).collect();
    let real = |(i, q): (usize, &f64)| q * quanta[range_of(i, quanta.len(), &desc.shape)];
    let values: Vec<f64> = numeric::read(&inputs[0]).iter().enumerate().map(real).collect();
    let range = params.get::<QuantizeParams>().calibrated()?.unwrap_or_else(|| extent(&values));
    let per_unit = range.per_unit(dtype);
    let quantized: Vec<f64> = values.iter().map(|x| to_integer(dtype, x * per_unit)).collect();
    numeric::write(&mut outputs[0], &quantized);
    write_ranges(outputs, &[reported(range, dtype)]);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], shape: &[usize], min: &[f64], max: &[f64]| {
        sample(name, attrs, vec![integers(shape, DType::I32), floats(min), floats(max)])
    };
    let calibrated = [("min_calib_range", "-1"), ("max_calib_range", "1.25")];
    let unsigned = [("min_calib_range", "0"), ("max_calib_range", "1.5"), ("out_type", "auto")];
    let (low, high) = ([-1000.0, -2000.0, -500.0], [1500.0, 2000.0, 250.0]);
    vec![
        of("calibrated", &calibrated, &[2, 3, 4, 5], &[-2000.0], &[2000.0]),
        of("unsigned", &unsigned, &[2, 3, 4, 5], &[-2000.0], &[2000.0]),
        of("matrix", &calibrated, &[5, 7], &[-2000.0], &[1000.0]),
        of("own_range", &[], &[2, 3, 4, 5], &[-2000.0], &[2000.0]),
        of("own_range_unsigned", &[("out_type", "uint8")], &[40], &[-2000.0], &[2000.0]),
        of("channels", &calibrated, &[2, 3, 4, 5], &low, &high),
        of("channels_own_range", &[], &[2, 3, 4, 5], &low, &high),
        of("columns", &unsigned, &[4, 3], &low, &high),
        of("empty", &calibrated, &[0, 3], &[-1.0], &[1.0]),
    ]
}
