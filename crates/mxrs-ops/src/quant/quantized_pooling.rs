//! The maximum or mean of each window of a quantized tensor. The range is returned unchanged; a mean is rounded.
//!
//! data, out and parameters are those of [`Pooling`](crate::nn::pooling); min_data, max_data, min_output and max_output are
//! `[1]`.
//!
//! MXNet: `_contrib_quantized_pooling`, for max and avg with channels before two or three spatial axes. Dtypes: i8 u8.

use crate::families::quantized::{self, floats, integers, learn_ranges, ranges, sample, to_integer, write_ranges};
use crate::inference::bad_attribute;
use crate::nn::pooling::{self, PoolType, PoolingParams};
use crate::numeric;
use mxrs_op::param::Choice;
use mxrs_op::{Accuracy, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::{DType, PartialShape, Result};

/// Defines the operator `_contrib_quantized_pooling`.
pub fn define() -> OpDef {
    OpDef {
        summary: "max, mean over windows of a quantized tensor",
        infer_shape,
        accuracy: Accuracy::Quantum,
        reference: Some(run),
        samples,
        ..quantized::define_same_type("_contrib_quantized_pooling").params::<PoolingParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let pool = params.get::<PoolingParams>();
    let refused =
        |name, expected: &str, got: &str| Err(bad_attribute("_contrib_quantized_pooling", name, expected, got));
    if !matches!(pool.pool_type, PoolType::Max | PoolType::Avg) {
        return refused("pool_type", "max or avg", pool.pool_type.to_word());
    }
    if let Some(layout) = pool.layout.filter(|_| pool.is_channels_last()) {
        return refused("layout", "channels before space", layout.to_word());
    }
    pooling::infer_shape(params, &mut inputs[..1], &mut outputs[..1])?;
    learn_ranges(&mut inputs[1..])?;
    learn_ranges(&mut outputs[1..])
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let (x, dtype) = (numeric::read(&inputs[0]), inputs[0].desc.dtype);
    let lowest = if dtype == DType::U8 { 0.0 } else { -128.0 };
    let y = pooling::pooled(params.get(), &inputs[0].desc.shape, &outputs[0].desc.shape, &x, lowest)?;
    let rounded: Vec<f64> = y.into_iter().map(|y| to_integer(dtype, y)).collect();
    numeric::write(&mut outputs[0], &rounded);
    write_ranges(outputs, &ranges(&inputs[1], &inputs[2]));
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], shape: &[usize], dtype| {
        sample(name, attrs, vec![integers(shape, dtype), floats(&[-1.0]), floats(&[1.5])])
    };
    let (three, two, one) = (("kernel", "(3, 3)"), ("stride", "(2, 2)"), ("pad", "(1, 1)"));
    let avg = ("pool_type", "avg");
    vec![
        of("max", &[three, two, one], &[2, 3, 9, 7], DType::I8),
        of("max_unsigned", &[three, two, one], &[2, 16, 9, 7], DType::U8),
        of("avg", &[three, two, one, avg], &[2, 16, 9, 7], DType::U8),
        of("avg_signed", &[("kernel", "(2, 2)"), avg], &[1, 3, 5, 5], DType::I8),
        of("avg_without_padding", &[three, one, avg, ("count_include_pad", "False")], &[1, 3, 5, 5], DType::U8),
        of("global_avg", &[("kernel", "(1, 1)"), avg, ("global_pool", "True")], &[2, 16, 7, 7], DType::U8),
        of("global_avg_signed", &[avg, ("global_pool", "True")], &[2, 16, 7, 7], DType::I8),
        of("max_full", &[three, two, ("pooling_convention", "full")], &[1, 3, 8, 8], DType::I8),
        of("three_axes", &[("kernel", "(2, 2, 2)"), avg], &[1, 2, 3, 4, 5], DType::U8),
        of("no_images", &[three], &[0, 3, 4, 4], DType::I8),
    ]
}
