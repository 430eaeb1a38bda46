//! Operators that update weights: the rule for one element, and the operator definition that is made from it.
//!
//! A call has `n` groups of inputs: weight, gradient, states, and in mixed precision the float32 master weight. After
//! the groups come inputs that all groups share. Output `i` is the new weight `i`. It usually shares the memory of the old
//! weight, since these pairs may run in place. States and master weights are rewritten ([`OpDef::rewrites`]).
//!
//! Terms used by all rules: `g = rescale_grad · grad`. `clip(x)` limits x to ±`clip_gradient`; a negative bound turns
//! it off.

mod samples;
mod tables;

use crate::dtypes::FLOATS;
use crate::inference::{OP, bad_attribute, learn, learn_dtype};
use crate::numeric;
use mxrs_op::{
    Accuracy, InputNames, OpDef, OpParams, OutputCount, Parameters, RefInput, RefOutput, ReferenceFn, RunMode, Sample,
};
use mxrs_types::{DType, Error, PartialShape, Result};

pub use samples::{Filled, grouped, single};
pub use tables::MAX_WEIGHTS;

/// The dtypes that have a master weight in mixed precision.
pub const HALVES: &[DType] = &[DType::F16, DType::BF16];

/// The update of one element of a weight. Reference kernels compute in `f64` and round once.
pub trait Rule: Parameters {
    /// Number of weights that a call updates, as given by the parameters.
    fn n_weights(&self) -> i32 {
        1
    }

    /// Sizes of the vectors that all weights share. These vectors are the last inputs, after the groups.
    fn shared_sizes(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Key and length of each list among the parameters. Each must have one value per weight.
    fn lists(&self) -> Vec<(&'static str, usize)> {
        Vec::new()
    }

    /// Whether the call must change nothing, because of the values of the shared inputs.
    fn is_skipped(&self, _shared: &[Vec<f64>]) -> bool {
        false
    }

    /// Returns the new value of an element of weight `which`, and rewrites that element of the states.
    fn step(&self, which: usize, shared: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64;
}

/// `x` limited to ±`bound`; unchanged if the bound is negative.
pub fn clip(x: f64, bound: f32) -> f64 {
    if bound >= 0.0 { numeric::clip(x, f64::from(-bound), f64::from(bound)) } else { x }
}

/// The number of weights that the parameters state. A number above the limit is replaced by the limit plus one, so that
/// an invalid number does not make huge lists.
fn count<R: Rule>(params: &OpParams) -> usize {
    usize::try_from(params.get::<R>().n_weights()).unwrap_or(0).min(MAX_WEIGHTS + 1)
}

/// Checks that the number of weights is within bounds.
pub fn counted(op: &str, key: &str, n: i32) -> Result<usize> {
    match usize::try_from(n) {
        Ok(n) if (1..=MAX_WEIGHTS).contains(&n) => Ok(n),
        _ => Err(bad_attribute(op, key, format!("1 to {MAX_WEIGHTS}"), n)),
    }
}

/// Defines an operator with groups of `STRIDE` inputs each. If `IS_MIXED`, the last input of a group is the master weight.
pub fn define<R: Rule, const STRIDE: usize, const IS_MIXED: bool>(
    name: &'static str,
    summary: &'static str,
    inputs: InputNames,
    samples: fn() -> Vec<Sample>,
) -> OpDef {
    OpDef {
        summary,
        inputs,
        n_outputs: OutputCount::ByParams(count::<R>),
        n_visible: OutputCount::ByParams(count::<R>),
        infer_shape: infer_shape::<R, STRIDE>,
        infer_dtype: infer_dtype::<R, STRIDE, IS_MIXED>,
        dtypes: if IS_MIXED { HALVES } else { FLOATS },
        inplace_by_params: Some(|params| tables::pairs::<STRIDE>(count::<R>(params))),
        rewrites: |params, _| tables::rewritten::<STRIDE>(count::<R>(params)),
        accuracy: Accuracy::Elementwise,
        reference: Some(reference::<R, STRIDE, IS_MIXED> as ReferenceFn),
        samples,
        ..OpDef::new(name).params::<R>()
    }
}

/// The numbered inputs of an operator that updates several weights with rule `R`.
pub fn numbered<R: Rule>(group: &'static [&'static str], shared: &'static [&'static str]) -> InputNames {
    InputNames::Numbered { group, shared, listed: "data", count: count::<R> }
}

/// Checks that the number of weights is within bounds, and that every list among the parameters has one value per
/// weight. Returns the number of weights.
fn check<R: Rule>(rule: &R) -> Result<usize> {
    let n = counted(R::OP, "num_weights", rule.n_weights())?;
    for (key, len) in rule.lists() {
        if len != n {
            return Err(bad_attribute(R::OP, key, format!("{n} values, one per weight"), format!("{len} values")));
        }
    }
    Ok(n)
}

/// Infers that every tensor of a group has the shape of the group's weight.
pub fn infer_shape<R: Rule, const STRIDE: usize>(
    params: &OpParams,
    inputs: &mut [PartialShape],
    outputs: &mut [PartialShape],
) -> Result<()> {
    let rule = params.get::<R>();
    let n = check(rule)?;
    let (groups, shared) = inputs.split_at_mut(n * STRIDE);
    for (group, output) in groups.chunks_mut(STRIDE).zip(outputs) {
        let mut all = PartialShape::unknown();
        for (i, shape) in group.iter().chain([&*output]).enumerate() {
            let before = all.clone();
            let argument = if i == 1 { "grad" } else { "weight and states" };
            all.merge(shape).map_err(|()| Error::shape(OP, argument, before.to_string(), shape))?;
        }
        group.iter_mut().chain([output]).for_each(|shape| *shape = all.clone());
    }
    for (shape, size) in shared.iter_mut().zip(rule.shared_sizes()) {
        learn(shape, &PartialShape::new([Some(size)]), "shared input")?;
    }
    Ok(())
}

/// Infers dtypes: weight, gradient and output of all groups have the same type; states have this type, or float32 in mixed
/// precision; shared vectors are float32.
pub fn infer_dtype<R: Rule, const STRIDE: usize, const IS_MIXED: bool>(
    params: &OpParams,
    inputs: &mut [Option<DType>],
    outputs: &mut [Option<DType>],
) -> Result<()> {
    let n = count::<R>(params);
    let (groups, shared) = inputs.split_at_mut((n * STRIDE).min(inputs.len()));
    shared.iter_mut().try_for_each(|dtype| learn_dtype(dtype, DType::F32, "shared input"))?;
    let of_weights = groups.chunks(STRIDE).flat_map(|group| group.iter().take(if IS_MIXED { 2 } else { STRIDE }));
    let known = of_weights.chain(outputs.iter()).flatten().next().copied();
    for group in groups.chunks_mut(STRIDE) {
        for (i, dtype) in group.iter_mut().enumerate() {
            let expected = if IS_MIXED && i >= 2 { Some(DType::F32) } else { known };
            let argument = ["weight", "grad"].get(i).copied().unwrap_or("states");
            expected.map_or(Ok(()), |expected| learn_dtype(dtype, expected, argument))?;
        }
    }
    let Some(known) = known else { return Ok(()) };
    outputs.iter_mut().try_for_each(|dtype| learn_dtype(dtype, known, "output"))
}

/// The reference kernel of [`define`].
fn reference<R: Rule, const STRIDE: usize, const IS_MIXED: bool>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let rule = params.get::<R>();
    let n = check(rule)?;
    let (groups, shared) = inputs.split_at(n * STRIDE);
    let shared: Vec<Vec<f64>> = shared.iter().map(numeric::read).collect();
    let is_skipped = rule.is_skipped(&shared);
    let (weights, states_out) = outputs.split_at_mut(n);
    let per_group = states_out.len() / n;
    for (which, (group, weight_out)) in groups.chunks(STRIDE).zip(weights).enumerate() {
        let mut tensors: Vec<Vec<f64>> = group.iter().map(numeric::read).collect();
        let grad = std::mem::take(&mut tensors[1]);
        // In mixed precision, the rule updates the master weight, and the new weight is the rounded master weight.
        let at_weight = if IS_MIXED { STRIDE - 1 } else { 0 };
        let mut weight = std::mem::take(&mut tensors[at_weight]);
        let n_states = per_group - usize::from(IS_MIXED);
        let mut states = vec![0.0; n_states];
        for i in (0..weight.len()).filter(|_| !is_skipped) {
            (0..n_states).for_each(|s| states[s] = tensors[2 + s][i]);
            weight[i] = rule.step(which, &shared, weight[i], grad[i], &mut states);
            (0..n_states).for_each(|s| tensors[2 + s][i] = states[s]);
        }
        numeric::write(weight_out, &weight);
        for (s, output) in states_out[which * per_group..(which + 1) * per_group].iter_mut().enumerate() {
            numeric::write(output, if IS_MIXED && s == n_states { &weight } else { &tensors[2 + s] });
        }
    }
    Ok(())
}
