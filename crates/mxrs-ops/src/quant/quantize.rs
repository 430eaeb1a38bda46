//! Quantizes real numbers to 8-bit integers in a range given by two tensors; also returns that range.
//!
//! Shapes: data any; min_range, max_range, min_output and max_output `[1]`; out as data. Integers and ranges follow the
//! rules of [`_contrib_quantize_v2`](super::quantize_v2).
//!
//! MXNet: `_contrib_quantize`, whose integers can be one less, because it uses 127 or 255 levels. Dtypes: f32.

use crate::families::quantized::{
    self, floats, learn_range_types, learn_ranges, range, require_type, sample, to_integer, write_ranges,
};
use crate::inference::{learn_dtype, unify};
use crate::numeric;
use mxrs_op::{
    Accuracy, Fill, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, SampleInput, op_enum, op_params,
};
use mxrs_types::{DType, Result};

op_enum! {
    /// 8-bit integer types.
    pub enum ByteType { Int8 = "int8", Uint8 = "uint8" }
}

op_params! {
    /// Parameters of `_contrib_quantize`.
    pub struct QuantizeInRangeParams for "_contrib_quantize" {
        /// The type of the result.
        out_type: ByteType = ByteType::Uint8,
    }
}

/// Defines the operator `_contrib_quantize`.
pub fn define() -> OpDef {
    OpDef {
        summary: "float32 to int8 or uint8 in a given range",
        inputs: InputNames::Fixed(&["data", "min_range", "max_range"]),
        infer_shape: |_, inputs, outputs| {
            unify(&mut inputs[0], &mut outputs[0], "output")?;
            learn_ranges(&mut inputs[1..])?;
            learn_ranges(&mut outputs[1..])
        },
        infer_dtype: |params, inputs, outputs| {
            let out = match params.get::<QuantizeInRangeParams>().out_type {
                ByteType::Int8 => DType::I8,
                ByteType::Uint8 => DType::U8,
            };
            require_type(inputs[0], &[DType::F32], "data")?;
            learn_range_types(inputs.iter_mut().chain(&mut outputs[1..]))?;
            learn_dtype(&mut outputs[0], out, "output")
        },
        dtypes: &[DType::F32],
        accuracy: Accuracy::Quantum,
        reference: Some(run),
        samples,
        ..quantized::define("_contrib_quantize").params::<QuantizeInRangeParams>()
    }
}

fn run(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let (dtype, range) = (outputs[0].desc.dtype, range(&inputs[1], &inputs[2])?);
    let per_unit = range.per_unit(dtype);
    let quantized: Vec<f64> = numeric::read(&inputs[0]).iter().map(|x| to_integer(dtype, x * per_unit)).collect();
    numeric::write(&mut outputs[0], &quantized);
    write_ranges(outputs, &[range.reported(dtype)]);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, out_type, shape: &[usize], min, max| {
        let data = SampleInput { shape: shape.into(), fill: Fill::Uniform(-2.0, 2.0), dtype: Some(DType::F32) };
        sample(name, &[("out_type", out_type)], vec![data, floats(&[min]), floats(&[max])])
    };
    vec![
        of("signed", "int8", &[2, 3, 4, 5], -1.5, 1.0),
        of("unsigned", "uint8", &[2, 3, 4, 5], 0.0, 1.5),
        of("matrix", "int8", &[4, 9], -0.5, 3.0),
        of("zero_range", "int8", &[7], 0.0, 0.0),
        of("empty", "uint8", &[0, 3], 0.0, 1.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_types::PartialShape;

    #[test]
    fn a_type_that_is_no_byte_is_refused() {
        let params = define().parse(&[("out_type", "float32")].into_iter().collect());
        assert!(params.is_err());
        let params = define().parse(&mxrs_op::Attrs::new()).expect("all have defaults");
        let mut inputs: Vec<Option<DType>> = vec![Some(DType::F64), None, None];
        let error = define().infer_dtypes(&params, &mut inputs, &mut [None; 3]).expect_err("not float32").to_string();
        assert!(error.starts_with("_contrib_quantize") && error.contains("data"), "{error}");
        let mut shapes = vec![PartialShape::unknown(), PartialShape::new([Some(2)]), PartialShape::unknown()];
        let mut outputs = vec![PartialShape::unknown(); 3];
        assert!(define().infer_shapes(&params, &mut shapes, &mut outputs).is_err());
    }
}
