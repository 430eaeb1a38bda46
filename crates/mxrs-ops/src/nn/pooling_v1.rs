//! The first pooling of MXNet: the maximum, mean or sum of each window of two or three spatial axes.
//!
//! Shapes and the number of windows are those of [`Pooling`](super::pooling), with channels before space and the
//! conventions `valid` and `full`. It differs from `Pooling` in three points:
//! - Padding elements are zeros, also in a maximum. The maximum of a window without any element is minus infinity.
//! - A mean divides by the size of the whole window, also where the window ends after the padded image.
//! - Each of several largest elements of a window gets the gradient.
//!
//! The gradient is computed by `_backward_Pooling_average(ograd, data)` where that is the same, and otherwise by
//! `_backward_Pooling_v1(ograd, data, output)`.
//!
//! MXNet: `Pooling_v1`; it computes only two spatial axes. Dtypes: f32 f64 f16 bf16.

use super::pooling::{self, PoolConvention, PoolType, PoolingParams, for_each_place};
use crate::dtypes::FLOATS;
use crate::families::backward::samples_of;
use crate::families::gradients::{call_with_params, from_input};
use crate::inference::{OP, bad_attribute, learn, unify};
use crate::numeric;
use mxrs_op::param::{Parameters, ShapeAttr};
use mxrs_op::{
    Accuracy, Attrs, Fill, Gradient, InputNames, OpCall, OpDef, OpParams, Precision, RefInput, RefOutput, RunMode,
    Sample, SampleInput, op_enum, op_params,
};
use mxrs_types::{Error, PartialShape, Result, Shape};
use std::sync::{Arc, LazyLock};

op_enum! {
    /// The quantity that is computed for each window.
    pub enum PoolV1Type { Max = "max", Avg = "avg", Sum = "sum" }
}

op_enum! {
    /// How the number of windows is rounded.
    pub enum PoolV1Convention { Valid = "valid", Full = "full" }
}

op_params! {
    /// Parameters of `Pooling_v1`.
    pub struct PoolingV1Params for "Pooling_v1" {
        /// Size of the window on each spatial axis; ignored with `global_pool`.
        kernel: ShapeAttr = ShapeAttr::default(),
        /// The quantity that is computed for each window.
        pool_type: PoolV1Type = PoolV1Type::Max,
        /// Whether the window is the whole image.
        global_pool: bool = false,
        /// How the number of windows is rounded.
        pooling_convention: PoolV1Convention = PoolV1Convention::Valid,
        /// Distance between windows; 1 if empty.
        stride: ShapeAttr = ShapeAttr::default(),
        /// Number of zeros added on each side; 0 if empty.
        pad: ShapeAttr = ShapeAttr::default(),
    }
}

/// Reads the parameters as those of `Pooling`, and refuses those that only `Pooling` has.
fn parse(attrs: &Attrs) -> Result<OpParams> {
    let params = PoolingV1Params::parse(attrs)?;
    if !params.global_pool && !(2..=3).contains(&params.kernel.len()) {
        return Err(bad_attribute("Pooling_v1", "kernel", "two or three sizes", params.kernel.to_text()));
    }
    PoolingParams::parse(attrs).map(OpParams::new)
}

/// Whether `Pooling` computes the same results and gradients with these parameters.
fn is_as_pooling(params: &PoolingParams) -> bool {
    match params.pool_type {
        PoolType::Sum => true,
        PoolType::Avg => params.global_pool || params.pooling_convention == PoolConvention::Valid,
        PoolType::Max | PoolType::Lp => false,
    }
}

/// The operator whose kernels can compute some calls of this one. The backends that have fast poolings do not look at
/// `same_as`, so that only gradients of means and sums are fast.
static CURRENT: LazyLock<Arc<OpDef>> = LazyLock::new(|| Arc::new(pooling::define()));

fn same_as(call: &OpCall<'_>) -> Option<(Arc<OpDef>, OpParams)> {
    is_as_pooling(call.params.get()).then(|| (Arc::clone(&CURRENT), call.params.clone()))
}

const BACKWARD: &str = "_backward_Pooling_v1";

/// Defines the operator `Pooling_v1`.
pub fn define() -> OpDef {
    OpDef {
        summary: "max, mean, sum over windows, first version",
        precision: Precision::float32,
        precision_float16: Some(Precision::follows),
        same_as: Some(same_as),
        gradient: Gradient::By(|params, scope| {
            if is_as_pooling(params.get()) {
                return from_input(scope, "_backward_Pooling_average");
            }
            let saved = [scope.input(0), scope.output(0)];
            Ok(vec![Some(call_with_params(scope, BACKWARD, &saved)?)])
        }),
        companions: || vec![backward()],
        reference: Some(pool),
        samples,
        ..common("Pooling_v1")
    }
}

/// What the operator and its gradient have in common.
fn common(name: &'static str) -> OpDef {
    OpDef {
        param_specs: PoolingV1Params::specs(),
        parse_with: parse,
        infer_shape,
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        ..OpDef::new(name)
    }
}

fn backward() -> OpDef {
    OpDef {
        summary: "gradient of the first version of pooling",
        inputs: InputNames::Fixed(&["ograd", "data", "output"]),
        infer_shape: infer_backward_shape,
        reference: Some(run_backward),
        samples: backward_samples,
        ..common(BACKWARD)
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    if inputs[0].ndim().or(outputs[0].ndim()) == Some(3) {
        return Err(Error::shape(OP, "data", "4 or 5 axes", &inputs[0]));
    }
    pooling::infer_shape(params, inputs, outputs)
}

fn infer_backward_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [ograd, data, output] = inputs else { return Ok(()) };
    unify(ograd, output, "output")?;
    unify(data, &mut outputs[0], "output")?;
    infer_shape(params, std::slice::from_mut(data), std::slice::from_mut(ograd))?;
    learn(output, ograd, "output")?;
    learn(&mut outputs[0], data, "output")
}

/// Calls `visit` for every window with its flat position in out, the flat positions in data of its elements, whether it has
/// padding elements, and the size of a whole window.
fn for_each_window(
    params: &PoolingParams,
    data: &Shape,
    out: &Shape,
    mut visit: impl FnMut(usize, &[usize], bool, f64),
) -> Result<()> {
    let window = params.window(&data[2..])?;
    // As numbers, because a product of sizes from a file may overflow. A window that is an image without elements has size 0.
    let whole = window.kernel.iter().map(|size| *size as f64).product::<f64>().max(1.0);
    for_each_place(params, data, out, |to, cells, n_padded| visit(to, cells, n_padded > cells.len(), whole))
}

/// Pools `x`.
fn pooled(params: &PoolingParams, data: &Shape, out: &Shape, x: &[f64]) -> Result<Vec<f64>> {
    let mut y = vec![0.0; out.n_elements()];
    for_each_window(params, data, out, |to, cells, has_padding, whole| {
        let values = cells.iter().map(|i| x[*i]);
        y[to] = match params.pool_type {
            PoolType::Max => {
                let padding = if has_padding { 0.0 } else { f64::NEG_INFINITY };
                values.fold(padding, numeric::max_nan)
            }
            PoolType::Avg => values.sum::<f64>() / whole,
            PoolType::Sum | PoolType::Lp => values.sum(),
        };
    })?;
    Ok(y)
}

fn pool(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let x = numeric::read(&inputs[0]);
    let y = pooled(params.get(), &inputs[0].desc.shape, &outputs[0].desc.shape, &x)?;
    numeric::write(&mut outputs[0], &y);
    Ok(())
}

fn run_backward(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params: &PoolingParams = params.get();
    let [g, x, y] = [0, 1, 2].map(|i| numeric::read(&inputs[i]));
    let mut dx = vec![0.0; x.len()];
    for_each_window(params, &inputs[1].desc.shape, &inputs[0].desc.shape, |out, cells, _, whole| {
        for i in cells {
            dx[*i] += match params.pool_type {
                PoolType::Max if x[*i] != y[out] => 0.0,
                PoolType::Avg => g[out] / whole,
                PoolType::Max | PoolType::Sum | PoolType::Lp => g[out],
            };
        }
    })?;
    numeric::write(&mut outputs[0], &dx);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let halves = [("kernel", "(2, 2)"), ("stride", "(2, 2)")];
    let padded = |pool_type| [("kernel", "(3, 3)"), ("stride", "(2, 2)"), ("pad", "(1, 1)"), ("pool_type", pool_type)];
    let full = |pool_type| {
        [("kernel", "(3, 3)"), ("stride", "(2, 2)"), ("pooling_convention", "full"), ("pool_type", pool_type)]
    };
    vec![
        Sample::new("max", halves, &[&[2, 3, 8, 6]]),
        Sample::new("max_padded", padded("max"), &[&[1, 4, 9, 7]]),
        Sample::new("max_full", full("max"), &[&[1, 3, 8, 8]]),
        Sample::new("avg_padded", padded("avg"), &[&[1, 3, 9, 7]]),
        Sample::new("avg_full", full("avg"), &[&[1, 3, 8, 8]]),
        Sample::new("sum_full", full("sum"), &[&[1, 2, 8, 6]]),
        Sample::new("global_max", [("global_pool", "True"), ("kernel", "(7, 7)")], &[&[2, 3, 5, 4]]),
        Sample::new("global_avg", [("global_pool", "True"), ("pool_type", "avg")], &[&[2, 4, 7, 7]]),
        Sample::new("three_axes", [("kernel", "(2, 2, 2)")], &[&[1, 2, 3, 4, 5]]),
        Sample::new("no_images", halves, &[&[0, 3, 4, 4]]),
    ]
}

/// The output of each sample is pooled from its data. Data are small integers, so that some windows have several largest
/// elements.
fn backward_samples() -> Vec<Sample> {
    samples_of(&define(), |sample, outputs| {
        let params = PoolingParams::parse(&sample.attrs).ok()?;
        let (ograd, data) = (outputs.first()?, sample.inputs.first()?);
        let values: Vec<f64> = (0..data.shape.n_elements()).map(|i| (i * 7 % 11) as f64 - 4.0).collect();
        let pooled = pooled(&params, &data.shape, &ograd.shape, &values).ok()?;
        let filled = |from: &SampleInput, values| SampleInput { fill: Fill::Values(values), ..from.clone() };
        Some(vec![ograd.clone(), filled(data, values), filled(ograd, pooled)])
    })
}
