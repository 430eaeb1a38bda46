//! `out = max data` over the reduced axes; [a, b] over axis 1 gives `[a]`. If one of the elements is NaN, the maximum
//! is NaN. The maximum of no elements is -inf, or the smallest integer.
//!
//! Gradient: every element equal to its maximum gets the whole `ograd`, the others 0. If the maximum is NaN, no element
//! is equal to it.
//!
//! MXNet: `max`, also `max_axis`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::dtypes::NUMBERS;
use crate::families::gradients;
use crate::families::reduction::{self, ReduceParams, groups};
use crate::inference::{unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, RefInput, RefOutput, Sample};
use mxrs_types::Result;

/// Defines the operator `max`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["max_axis"],
        summary: "maximum over axes",
        accuracy: Accuracy::Exact,
        gradient: Gradient::By(|_, scope| {
            let (data, out) = (scope.input(0), scope.output(0));
            Ok(vec![Some(gradients::call_with_params(scope, BACKWARD, &[data, out])?)])
        }),
        companions: || vec![backward()],
        reference: Some(|params, inputs, outputs, _| {
            let shape = &inputs[0].desc.shape;
            let groups = groups(shape, &params.get::<ReduceParams>().reduced(shape.ndim())?);
            if inputs[0].desc.dtype.is_float() || groups.iter().any(Vec::is_empty) {
                // Writing -inf to an integer saturates to its smallest value.
                let values = numeric::read(&inputs[0]);
                let max = |g: &Vec<usize>| g.iter().map(|i| values[*i]).fold(f64::NEG_INFINITY, numeric::max_nan);
                numeric::write(&mut outputs[0], &groups.iter().map(max).collect::<Vec<f64>>());
            } else {
                let values = numeric::read_integers(&inputs[0]);
                let max = |g: &Vec<usize>| g.iter().map(|i| values[*i]).fold(i64::MIN, i64::max);
                numeric::write_integers(&mut outputs[0], &groups.iter().map(max).collect::<Vec<i64>>());
            }
            Ok(())
        }),
        ..reduction::define("max")
    }
}

const BACKWARD: &str = "_backward_max";

/// Defines the backward operator: it takes (ograd, data, out) and returns ograd where data equals out and 0 elsewhere.
fn backward() -> OpDef {
    OpDef {
        summary: "ograd where data is the maximum",
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
        reference: Some(|params, inputs, outputs, _| to_maxima(params, inputs, outputs)),
        samples,
        ..OpDef::new(BACKWARD).params::<ReduceParams>()
    }
}

fn to_maxima(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>]) -> Result<()> {
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
    gradients::samples_after(&define()).into_iter().map(with_out).collect()
}
