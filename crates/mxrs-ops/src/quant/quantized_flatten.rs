//! Keeps the first axis of a quantized tensor and merges all others; the range is returned unchanged.
//!
//! Shapes: data [N, a, b, …]; out [N, a·b·…]; min_data, max_data, min_output and max_output `[1]`.
//!
//! MXNet: `_contrib_quantized_flatten`. Dtypes: i8 u8.

use crate::families::quantized::{self, floats, integers, learn_ranges, ranges, sample, write_ranges};
use crate::numeric;
use crate::shape::flatten;
use mxrs_op::{OpDef, OpParams, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::{DType, PartialShape, Result};

/// Defines the operator `_contrib_quantized_flatten`.
pub fn define() -> OpDef {
    OpDef {
        summary: "[N, ...] to [N, rest], quantized",
        infer_shape,
        reference: Some(run),
        samples,
        ..quantized::define_same_type("_contrib_quantized_flatten")
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    flatten::infer_shape(params, &mut inputs[..1], &mut outputs[..1])?;
    learn_ranges(&mut inputs[1..])?;
    learn_ranges(&mut outputs[1..])
}

fn run(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    numeric::copy_bytes(inputs, outputs);
    write_ranges(outputs, &ranges(&inputs[1], &inputs[2]));
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of =
        |name, shape: &[usize], dtype| sample(name, &[], vec![integers(shape, dtype), floats(&[-1.0]), floats(&[1.5])]);
    vec![
        of("images", &[2, 3, 4, 5], DType::I8),
        of("unsigned", &[2, 16, 3, 3], DType::U8),
        of("matrix", &[3, 4], DType::I8),
        of("vector", &[5], DType::U8),
        of("no_rows", &[0, 3, 2], DType::I8),
    ]
}
