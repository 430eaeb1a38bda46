//! Converts integers to the real numbers that they represent: `out = data · quantum`.
//!
//! Shapes: data any; min_range and max_range `[1]`; out as data. If the ranges have several elements, each belongs to one
//! position along axis 1 of data.
//!
//! MXNet: `_contrib_dequantize`. Dtypes: i8 u8, and, beyond MXNet, the i32 sums that products return.

use crate::families::quantized::{
    floats, integers, learn_data_ranges, learn_range_types, range_of, ranges, require_type, sample,
};
use crate::inference::{learn_dtype, unify};
use crate::numeric;
use mxrs_op::{Accuracy, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, op_enum, op_params};
use mxrs_types::{DType, PartialShape, Result};

op_enum! {
    /// The type of the result.
    pub enum RealType { Float32 = "float32" }
}

op_params! {
    /// Parameters of `_contrib_dequantize`.
    pub struct DequantizeParams for "_contrib_dequantize" {
        /// Element type of the result.
        out_type: RealType = RealType::Float32,
    }
}

const TYPES: &[DType] = &[DType::I8, DType::U8, DType::I32];

/// Defines the operator `_contrib_dequantize`.
pub fn define() -> OpDef {
    OpDef {
        summary: "integers and their range to float32",
        inputs: InputNames::Fixed(&["data", "min_range", "max_range"]),
        infer_shape,
        infer_dtype: |_, inputs, outputs| {
            require_type(inputs[0], TYPES, "data")?;
            learn_range_types(&mut inputs[1..])?;
            learn_dtype(&mut outputs[0], DType::F32, "output")
        },
        dtypes: TYPES,
        accuracy: Accuracy::Elementwise,
        reference: Some(run),
        samples,
        ..OpDef::new("_contrib_dequantize").params::<DequantizeParams>()
    }
}

fn infer_shape(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [data, ranges @ ..] = inputs else { return Ok(()) };
    unify(data, &mut outputs[0], "output")?;
    learn_data_ranges(ranges, data)
}

fn run(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let (desc, ranges) = (inputs[0].desc, ranges(&inputs[1], &inputs[2]));
    let quanta: Vec<f64> = ranges.iter().map(|r| r.quantum(desc.dtype)).collect();
    let real = |(i, q): (usize, &f64)| q * quanta[range_of(i, quanta.len(), &desc.shape)];
    let values: Vec<f64> = numeric::read(&inputs[0]).iter().enumerate().map(real).collect();
    numeric::write(&mut outputs[0], &values);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, shape: &[usize], dtype, min: &[f64], max: &[f64]| {
        sample(name, &[], vec![integers(shape, dtype), floats(min), floats(max)])
    };
    let (low, high) = ([-1.0, -2.0, -0.5], [1.5, 2.0, 0.25]);
    vec![
        of("signed", &[2, 3, 4, 5], DType::I8, &[-2.0], &[1.0]),
        of("unsigned", &[2, 3, 4, 5], DType::U8, &[0.0], &[3.0]),
        of("matrix", &[5, 7], DType::U8, &[0.0], &[0.5]),
        of("sums", &[2, 3, 4, 5], DType::I32, &[-100.0], &[100.0]),
        of("channels", &[2, 3, 4, 5], DType::I32, &low, &high),
        of("columns", &[4, 3], DType::I32, &low, &high),
        of("one_axis", &[9], DType::I8, &[-1.0], &[1.0]),
        of("empty", &[0, 3], DType::I8, &[-1.0], &[1.0]),
    ]
}
