//! Batch normalization of a quantized tensor by moving statistics; the result is i8 in the calibrated range.
//!
//! Inputs and parameters are those of [`BatchNorm`](crate::nn::batch_norm), followed by the inputs min_data and max_data
//! `[1]`. The statistics are plain inputs, not auxiliary states, because there is no training. Outputs: out, shaped like
//! data, and min_output and max_output `[1]`.
//!
//! MXNet: `_contrib_quantized_batch_norm`. MXNet's operator needs the calibrated range too, but ignores fix_gamma; this
//! operator takes gamma as 1 with fix_gamma. Dtypes: data i8 u8, the others f32; out i8.

use crate::families::quantized::{
    self, ACTIVATIONS, Range, floats, integers, learn_range_types, learn_ranges, range, require_type, sample,
    to_integer, write_ranges,
};
use crate::inference::{bad_attribute, learn, learn_dim, learn_dtype, resolve_axis, unify};
use crate::nn::batch_norm::{self, BatchNormParams};
use crate::numeric;
use mxrs_op::{Accuracy, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::{DType, PartialShape, Result};

const NAME: &str = "_contrib_quantized_batch_norm";

/// Defines the operator `_contrib_quantized_batch_norm`.
pub fn define() -> OpDef {
    OpDef {
        summary: "batch normalization of a quantized tensor",
        inputs: InputNames::Fixed(&["data", "gamma", "beta", "moving_mean", "moving_var", "min_data", "max_data"]),
        infer_shape,
        infer_dtype: |_, inputs, outputs| {
            require_type(inputs[0], ACTIVATIONS, "data")?;
            learn_range_types(inputs[1..].iter_mut().chain(&mut outputs[1..]))?;
            learn_dtype(&mut outputs[0], DType::I8, "output")
        },
        dtypes: ACTIVATIONS,
        init_hints: &[("moving_mean", r#"["zero", {}]"#), ("moving_var", r#"["one", {}]"#)],
        accuracy: Accuracy::Quantum,
        reference: Some(run),
        samples,
        ..quantized::define(NAME).params::<BatchNormParams>()
    }
}

fn calibrated(params: &BatchNormParams) -> Result<Range> {
    let range = Range::of_params(NAME, params.min_calib_range, params.max_calib_range)?;
    range.ok_or_else(|| bad_attribute(NAME, "min_calib_range", "a calibrated range", "None"))
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<BatchNormParams>();
    calibrated(params)?;
    let [data, rest @ ..] = inputs else { return Ok(()) };
    unify(data, &mut outputs[0], "output")?;
    let (per_channel, ranges) = rest.split_at_mut(4);
    learn_ranges(ranges)?;
    learn_ranges(&mut outputs[1..])?;
    let mut channels = PartialShape::of_rank(1);
    if let Some(ndim) = data.ndim() {
        let axis = resolve_axis(i64::from(params.axis), ndim, "data")?;
        learn_dim(&mut channels, 0, data.dim(axis), "gamma")?;
        for shape in per_channel.iter() {
            learn(&mut channels, shape, "gamma")?;
        }
        learn_dim(data, axis, channels.dim(0), "data")?;
        unify(data, &mut outputs[0], "output")?;
    }
    per_channel.iter_mut().try_for_each(|shape| learn(shape, &channels, "gamma"))
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<BatchNormParams>();
    let out = calibrated(params)?;
    let quantum = range(&inputs[5], &inputs[6])?.quantum(inputs[0].desc.dtype);
    let x: Vec<f64> = numeric::read(&inputs[0]).into_iter().map(|q| q * quantum).collect();
    let [gamma, beta, mean, var] = [1, 2, 3, 4].map(|i| numeric::read(&inputs[i]));
    let y = batch_norm::scaled(params, &inputs[0].desc.shape, &x, [&gamma, &beta, &mean, &var])?;
    let per_unit = out.per_unit(DType::I8);
    let quantized: Vec<f64> = y.into_iter().map(|y| to_integer(DType::I8, y * per_unit)).collect();
    numeric::write(&mut outputs[0], &quantized);
    write_ranges(outputs, &[out]);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, more: &[(&str, &str)], shape: &[usize], c: usize, dtype| {
        let numbers = |from: f64, step: f64| floats(&(0..c).map(|i| from + step * i as f64).collect::<Vec<_>>());
        let mut attrs = vec![("min_calib_range", "-2"), ("max_calib_range", "3"), ("eps", "2e-05")];
        attrs.extend(more);
        let per_channel = [numbers(0.5, 0.25), numbers(-0.5, 0.2), numbers(0.1, -0.1), numbers(0.5, 0.3)];
        let mut inputs = vec![integers(shape, dtype)];
        inputs.extend(per_channel);
        inputs.extend([floats(&[-1.0]), floats(&[1.5])]);
        sample(name, &attrs, inputs)
    };
    let free = ("fix_gamma", "False");
    vec![
        of("signed", &[free], &[2, 5, 6, 7], 5, DType::I8),
        of("unsigned", &[free], &[2, 5, 6, 7], 5, DType::U8),
        of("fixed_gamma", &[], &[2, 5, 6, 7], 5, DType::I8),
        of("last_axis", &[free, ("axis", "-1")], &[4, 7], 7, DType::U8),
        of("no_images", &[free], &[0, 3, 4, 4], 3, DType::I8),
    ]
}
