//! Gradients of pooling: the gradient of each window is distributed among the elements of the window.

use super::{PoolType, PoolingParams, define, for_each_window, infer_dtype, infer_shape, pooled};
use crate::dtypes::FLOATS;
use crate::families::backward::samples_of;
use crate::families::gradients::{Answers, call_with_params, from_input, params_of};
use crate::inference::{learn, unify};
use crate::numeric;
use mxrs_op::param::{Choice, Parameters};
use mxrs_op::{
    Accuracy, Fill, Gradient, GradientScope, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample,
    SampleInput,
};
use mxrs_types::{Error, PartialShape, Result};

/// The operators that compute the gradient of `Pooling`.
pub fn companions() -> Vec<OpDef> {
    let define = |name| OpDef {
        infer_shape: infer_backward_shape,
        infer_dtype,
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        ..OpDef::new(name).params::<PoolingParams>()
    };
    vec![
        OpDef {
            summary: "gradient of max and lp pooling",
            inputs: InputNames::Fixed(&["ograd", "data", "output"]),
            reference: Some(to_cells_by_value),
            samples: samples_by_value,
            ..define("_backward_Pooling")
        },
        OpDef {
            summary: "gradient of average and sum pooling",
            inputs: InputNames::Fixed(&["ograd", "data"]),
            ignored_inputs: &[1],
            // This operator is a linear map of `ograd`. Its gradient is the transposed map, which is pooling.
            gradient: Gradient::By(|_, scope| {
                let (g, attrs) = (scope.out_grad(0)?, params_of(scope));
                Ok(vec![scope.call("Pooling", attrs, &[g])?.first().copied(), None])
            }),
            reference: Some(to_cells_evenly),
            samples: samples_evenly,
            ..define("_backward_Pooling_average")
        },
    ]
}

fn is_even(params: &PoolingParams) -> bool {
    matches!(params.pool_type, PoolType::Avg | PoolType::Sum)
}

/// Gradient of `Pooling`.
pub fn gradient(params: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    if is_even(params.get()) {
        return from_input(scope, "_backward_Pooling_average");
    }
    let saved = [scope.input(0), scope.output(0)];
    Ok(vec![Some(call_with_params(scope, "_backward_Pooling", &saved)?)])
}

fn infer_backward_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [ograd, data, rest @ ..] = inputs else { return Ok(()) };
    // Kernels take the kind of the gradient from `pool_type`, and the number of inputs from the operator.
    let pooling: &PoolingParams = params.get();
    if is_even(pooling) != rest.is_empty() {
        let expected = if rest.is_empty() { "avg or sum" } else { "max or lp" };
        return Err(Error::invalid("pool_type of a gradient", pooling.pool_type.to_word(), expected));
    }
    rest.iter_mut().try_for_each(|output| unify(ograd, output, "output"))?;
    unify(data, &mut outputs[0], "output")?;
    infer_shape(params, std::slice::from_mut(data), std::slice::from_mut(ograd))?;
    rest.iter_mut().try_for_each(|output| learn(output, ograd, "output"))?;
    learn(&mut outputs[0], data, "output")
}

fn to_cells_by_value(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let params: &PoolingParams = params.get();
    let p = params.norm()?;
    let [g, x, y] = [0, 1, 2].map(|i| numeric::read(&inputs[i]));
    let mut dx = vec![0.0; x.len()];
    for_each_window(params, &inputs[1].desc.shape, &inputs[0].desc.shape, |out, cells, _| {
        if params.pool_type == PoolType::Max {
            if let Some(first) = cells.iter().find(|i| x[**i] == y[out]) {
                dx[*first] += g[out];
            }
        } else if y[out] != 0.0 {
            cells.iter().for_each(|i| dx[*i] += g[out] * (x[*i] / y[out]).powi(p - 1));
        } else if p == 1 {
            cells.iter().for_each(|i| dx[*i] += g[out]);
        }
    })?;
    numeric::write(&mut outputs[0], &dx);
    Ok(())
}

fn to_cells_evenly(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let params: &PoolingParams = params.get();
    let g = numeric::read(&inputs[0]);
    let mut dx = vec![0.0; outputs[0].desc.shape.n_elements()];
    for_each_window(params, &inputs[1].desc.shape, &inputs[0].desc.shape, |out, cells, count| {
        let share = if params.pool_type == PoolType::Avg { g[out] / count } else { g[out] };
        cells.iter().for_each(|i| dx[*i] += share);
    })?;
    numeric::write(&mut outputs[0], &dx);
    Ok(())
}

/// The output of each sample is pooled from its data. Data are small integers, so that some windows have several
/// largest elements.
fn samples_by_value() -> Vec<Sample> {
    samples_of(&define(), |sample, outputs| {
        let params = PoolingParams::parse(&sample.attrs).ok()?;
        let (ograd, data) = (outputs.first()?, sample.inputs.first()?);
        if is_even(&params) {
            return None;
        }
        let values: Vec<f64> = (0..data.shape.n_elements()).map(|i| (i * 7 % 11) as f64 - 4.0).collect();
        let pooled = pooled(&params, &data.shape, &ograd.shape, &values, f64::MIN).ok()?;
        let filled = |from: &SampleInput, values| SampleInput { fill: Fill::Values(values), ..from.clone() };
        Some(vec![ograd.clone(), filled(data, values), filled(ograd, pooled)])
    })
}

fn samples_evenly() -> Vec<Sample> {
    samples_of(&define(), |sample, outputs| {
        let params = PoolingParams::parse(&sample.attrs).ok()?;
        is_even(&params).then_some(vec![outputs.first()?.clone(), sample.inputs.first()?.clone()])
    })
}
