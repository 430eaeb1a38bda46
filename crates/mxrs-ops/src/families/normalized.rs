//! Operators that normalize groups of elements: `out = (x - mean) / std · gamma + beta`, where `mean` is that of the element's
//! group and `std = (variance + eps)^(1/2)`. Each element belongs to one group, and has one element of gamma and beta.
//!
//! Besides out there are two outputs with one element per group: the mean, and `std` or the variance.
//!
//! `_backward_<name>(ograd, data, gamma)` computes the gradients of data, gamma and beta. Gradients of the mean and of `std`
//! are not built.

use crate::dtypes::FLOATS;
use crate::families::backward::samples_of;
use crate::families::gradients::params_of;
use crate::inference::{learn, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{Accuracy, Gradient, InputNames, OpDef, OpParams, OutputCount, Parameters, RefInput, RefOutput, Sample};
use mxrs_types::{Error, PartialShape, Result, Shape};

/// For each element of data in row-major order, the number of its group, and the position of its element in gamma and beta.
pub type Places = Vec<(usize, usize)>;

/// The properties in which the operators that are defined here differ from each other.
pub trait Normalized: Sized + 'static {
    /// Parameters of the operator.
    type Params: Parameters;
    /// MXNet's name.
    const NAME: &'static str;
    /// Other names.
    const ALIASES: &'static [&'static str] = &[];
    /// Description in one line.
    const SUMMARY: &'static str;
    /// Name of the operator that computes the gradients.
    const BACKWARD: &'static str;
    /// Names of the outputs.
    const OUTPUTS: &'static [&'static str] = &["output", "mean", "std"];
    /// Whether the third output is the variance, without `eps`.
    const IS_VARIANCE: bool = false;

    /// Whether the mean and `std` are visible outputs of a call.
    fn shows_moments(params: &Self::Params) -> bool;
    /// The number that is added to the variance.
    fn eps(params: &Self::Params) -> f32;
    /// The shape of gamma and beta, and that of the mean; `None` if the rank of data is unknown.
    fn shapes(params: &Self::Params, data: &PartialShape) -> Result<Option<[PartialShape; 2]>>;
    /// The group of each element of data, and its element of gamma and beta.
    fn places(params: &Self::Params, data: &Shape) -> Result<Places>;
    /// Example calls.
    fn samples() -> Vec<Sample>;
}

/// Defines the operator.
pub fn define<N: Normalized>() -> OpDef {
    OpDef {
        aliases: N::ALIASES,
        summary: N::SUMMARY,
        inputs: InputNames::Fixed(&["data", "gamma", "beta"]),
        n_outputs: OutputCount::Fixed(3),
        n_visible: OutputCount::ByParams(|params| if N::shows_moments(params.get()) { 3 } else { 1 }),
        output_names: N::OUTPUTS,
        infer_shape: infer_shape::<N>,
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "gamma"),
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        gradient: Gradient::By(|params, scope| {
            if N::shows_moments(params.get()) && (scope.has_out_grad(1) || scope.has_out_grad(2)) {
                let what = format!("the gradient of the mean and std of {}", N::NAME);
                return Err(Error::not_built(what, "only the first output has a gradient in this version"));
            }
            let (head, data, gamma) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
            let attrs = params_of(scope);
            Ok(scope.call(N::BACKWARD, attrs, &[head, data, gamma])?.into_iter().map(Some).collect())
        }),
        companions: || vec![backward::<N>()],
        reference: Some(|params, inputs, outputs, _| forward::<N>(params.get(), inputs, outputs)),
        samples: N::samples,
        ..OpDef::new(N::NAME).params::<N::Params>()
    }
}

fn infer_shape<N: Normalized>(
    params: &OpParams,
    inputs: &mut [PartialShape],
    outputs: &mut [PartialShape],
) -> Result<()> {
    let ([data, gamma, beta], [out, mean, std]) = (inputs, outputs) else { return Ok(()) };
    unify(data, out, "output")?;
    let Some([of_gamma, of_mean]) = N::shapes(params.get(), data)? else { return Ok(()) };
    for (shape, known, arg) in
        [(gamma, &of_gamma, "gamma"), (beta, &of_gamma, "beta"), (mean, &of_mean, "mean"), (std, &of_mean, "std")]
    {
        learn(shape, known, arg)?;
    }
    Ok(())
}

/// The mean and the variance of each group, and the number of its elements.
fn moments(values: &[f64], places: &Places, n_groups: usize) -> Vec<[f64; 3]> {
    let mut moments = vec![[0.0; 3]; n_groups];
    for (x, (group, _)) in values.iter().zip(places) {
        moments[*group][0] += x;
        moments[*group][2] += 1.0;
    }
    moments.iter_mut().for_each(|[mean, _, n]| *mean /= *n);
    for (x, (group, _)) in values.iter().zip(places) {
        moments[*group][1] += (x - moments[*group][0]).powi(2);
    }
    moments.iter_mut().for_each(|[_, variance, n]| *variance /= *n);
    moments
}

fn forward<N: Normalized>(params: &N::Params, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>]) -> Result<()> {
    let [data, gamma, beta] = [0, 1, 2].map(|i| numeric::read(&inputs[i]));
    let places = N::places(params, &inputs[0].desc.shape)?;
    let moments = moments(&data, &places, outputs[1].desc.shape.n_elements());
    let eps = f64::from(N::eps(params));
    let std = |group: usize| (moments[group][1] + eps).sqrt();
    let normalized = data
        .iter()
        .zip(&places)
        .map(|(x, (group, channel))| (x - moments[*group][0]) / std(*group) * gamma[*channel] + beta[*channel]);
    numeric::write(&mut outputs[0], &normalized.collect::<Vec<f64>>());
    numeric::write(&mut outputs[1], &moments.iter().map(|m| m[0]).collect::<Vec<f64>>());
    let spread = |group: usize| if N::IS_VARIANCE { moments[group][1] } else { std(group) };
    numeric::write(&mut outputs[2], &(0..moments.len()).map(spread).collect::<Vec<f64>>());
    Ok(())
}

fn backward<N: Normalized>() -> OpDef {
    OpDef {
        summary: "gradients of a normalization",
        inputs: InputNames::Fixed(&["ograd", "data", "gamma"]),
        n_outputs: OutputCount::Fixed(3),
        n_visible: OutputCount::Fixed(3),
        output_names: &["data", "gamma", "beta"],
        infer_shape: |params, inputs, outputs| {
            let ([ograd, data, gamma], [to_data, to_gamma, to_beta]) = (inputs, outputs) else { return Ok(()) };
            unify(data, ograd, "ograd")?;
            unify(data, to_data, "data")?;
            unify(data, ograd, "ograd")?;
            let Some([known, _]) = N::shapes(params.get(), data)? else { return Ok(()) };
            [(gamma, "gamma"), (to_gamma, "gamma"), (to_beta, "beta")]
                .into_iter()
                .try_for_each(|(shape, arg)| learn(shape, &known, arg))
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "gamma"),
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        reference: Some(|params, inputs, outputs, _| gradients::<N>(params.get(), inputs, outputs)),
        samples: || samples_of(&define::<N>(), |sample, outputs| Some([&outputs[..1], &sample.inputs[..2]].concat())),
        ..OpDef::new(N::BACKWARD).params::<N::Params>()
    }
}

/// With `y` the normalized element and `h = ograd · gamma`: data gets `(h - mean(h) - y · mean(h · y)) / std`, gamma the
/// sum of `ograd · y`, and beta the sum of `ograd`.
fn gradients<N: Normalized>(params: &N::Params, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>]) -> Result<()> {
    let [ograd, data, gamma] = [0, 1, 2].map(|i| numeric::read(&inputs[i]));
    let places = N::places(params, &inputs[1].desc.shape)?;
    let n_groups = places.iter().map(|(group, _)| group + 1).max().unwrap_or(0);
    let moments = moments(&data, &places, n_groups);
    let eps = f64::from(N::eps(params));
    let normal = |x: f64, group: usize| (x - moments[group][0]) / (moments[group][1] + eps).sqrt();
    let mut sums = vec![[0.0; 2]; n_groups];
    let mut channels = vec![[0.0; 2]; gamma.len()];
    for ((g, x), (group, channel)) in ograd.iter().zip(&data).zip(&places) {
        let (h, y) = (g * gamma[*channel], normal(*x, *group));
        sums[*group][0] += h;
        sums[*group][1] += h * y;
        channels[*channel][0] += g * y;
        channels[*channel][1] += g;
    }
    let to_data = ograd.iter().zip(&data).zip(&places).map(|((g, x), (group, channel))| {
        let ([_, variance, n], [sum, product]) = (moments[*group], sums[*group]);
        (g * gamma[*channel] - sum / n - normal(*x, *group) * product / n) / (variance + eps).sqrt()
    });
    numeric::write(&mut outputs[0], &to_data.collect::<Vec<f64>>());
    for which in [0, 1] {
        numeric::write(&mut outputs[1 + which], &channels.iter().map(|sums| sums[which]).collect::<Vec<f64>>());
    }
    Ok(())
}
