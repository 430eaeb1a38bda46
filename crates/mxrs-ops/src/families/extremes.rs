//! The largest and the smallest element over axes, and their gradients.

use crate::dtypes::NUMBERS;
use crate::families::gradients;
use crate::families::reduction::{self, ReduceParams, groups};
use crate::inference::{unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, Precision, RefInput, RefOutput, Sample};
use mxrs_types::Result;

/// Defines the operator `min`, or else `max`.
pub fn define<const IS_MIN: bool>() -> OpDef {
    OpDef {
        accuracy: Accuracy::Exact,
        gradient: Gradient::By(|_, scope| {
            let (data, out) = (scope.input(0), scope.output(0));
            Ok(vec![Some(gradients::call_with_params(scope, backward_name(IS_MIN), &[data, out])?)])
        }),
        companions: || vec![backward::<IS_MIN>()],
        reference: Some(|params, inputs, outputs, _| {
            let shape = &inputs[0].desc.shape;
            let groups = groups(shape, &params.get::<ReduceParams>().reduced(shape.ndim())?);
            if inputs[0].desc.dtype.is_float() || groups.iter().any(Vec::is_empty) {
                // Writing an infinity to an integer saturates to its smallest or largest value.
                let (none, extreme): (f64, fn(f64, f64) -> f64) = match IS_MIN {
                    true => (f64::INFINITY, numeric::min_nan),
                    false => (f64::NEG_INFINITY, numeric::max_nan),
                };
                let values = numeric::read(&inputs[0]);
                let found = groups.iter().map(|group| group.iter().map(|i| values[*i]).fold(none, extreme));
                numeric::write(&mut outputs[0], &found.collect::<Vec<f64>>());
            } else {
                let (none, extreme): (i64, fn(i64, i64) -> i64) =
                    if IS_MIN { (i64::MAX, i64::min) } else { (i64::MIN, i64::max) };
                let values = numeric::read_integers(&inputs[0]);
                let found = groups.iter().map(|group| group.iter().map(|i| values[*i]).fold(none, extreme));
                numeric::write_integers(&mut outputs[0], &found.collect::<Vec<i64>>());
            }
            Ok(())
        }),
        precision_float16: Some(Precision::follows),
        ..reduction::define(if IS_MIN { "min" } else { "max" })
    }
}

fn backward_name(is_min: bool) -> &'static str {
    if is_min { "_backward_min" } else { "_backward_max" }
}

/// Defines the backward operator: it takes (ograd, data, out) and returns ograd where data equals out and 0 elsewhere.
fn backward<const IS_MIN: bool>() -> OpDef {
    OpDef {
        summary: "ograd where data is the maximum or minimum",
        inputs: InputNames::Fixed(&["ograd", "data", "out"]),
        infer_shape: |params, inputs, outputs| {
            let [ograd, data, out] = inputs else { return Ok(()) };
            unify(data, &mut outputs[0], "data")?;
            reduction::infer_shape(params, std::slice::from_mut(data), std::slice::from_mut(out))?;
            unify(ograd, out, "out")?;
            reduction::infer_shape(params, std::slice::from_mut(data), std::slice::from_mut(out))?;
            unify(data, &mut outputs[0], "data")
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        dtypes: NUMBERS,
        accuracy: Accuracy::Exact,
        reference: Some(|params, inputs, outputs, _| to_extremes(params, inputs, outputs)),
        samples,
        ..OpDef::new(backward_name(IS_MIN)).params::<ReduceParams>()
    }
}

fn to_extremes(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>]) -> Result<()> {
    let result_of = reduction::results(params, &inputs[1].desc.shape)?;
    let [ograd, data, out] = [0, 1, 2].map(|i| numeric::read(&inputs[i]));
    let gradient = |(x, k): (&f64, &usize)| if *x == out[*k] { ograd[*k] } else { 0.0 };
    numeric::write(&mut outputs[0], &data.iter().zip(&result_of).map(gradient).collect::<Vec<f64>>());
    Ok(())
}

/// Makes a sample of ograd, data and out for each forward sample. Out equals some elements of data.
fn samples() -> Vec<Sample> {
    let with_out = |mut sample: Sample| {
        let out = mxrs_op::SampleInput { fill: Fill::Integers(0, 3), ..sample.inputs[0].clone() };
        sample.inputs.push(out);
        sample.fill(1, Fill::Integers(0, 3))
    };
    gradients::samples_after(&define::<false>()).into_iter().map(with_out).collect()
}
