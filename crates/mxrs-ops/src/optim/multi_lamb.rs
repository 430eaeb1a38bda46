//! Steps of LAMB on several weights: both phases of `lamb.rs` in one call, which computes the norms itself.
//!
//! Inputs are `weight_0, grad_0, mean_0, var_0, (weight32_0), weight_1, …`.
//!
//! MXNet: `_multi_lamb_update`, `_multi_mp_lamb_update`. Dtypes f32 f64 f16 bf16; mixed: f16 bf16.

use super::lamb::{LambPhase1Params, trust};
use crate::families::updates::{self, Rule, counted, grouped, numbered};
use crate::numeric;
use mxrs_op::param::{Floats, ShapeAttr};
use mxrs_op::{Accuracy, OpDef, OpParams, Parameters, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::Result;

op_params! {
    /// Parameters of `_multi_lamb_update` and `_multi_mp_lamb_update`.
    pub struct MultiLambParams for "_multi_lamb_update" {
        /// Learning rates.
        learning_rates: Floats,
        /// Decay of the means.
        beta1: f32 = 0.9,
        /// Decay of the mean squares.
        beta2: f32 = 0.999,
        /// Added to the square roots of the mean squares.
        epsilon: f32 = 1e-6,
        /// Weight decays.
        wds: Floats,
        /// Factor of the gradients.
        rescale_grad: f32 = 1.0,
        /// Lower limit of a weight's norm; negative for none.
        lower_bound: f32 = -1.0,
        /// Upper limit of a weight's norm; negative for none.
        upper_bound: f32 = -1.0,
        /// Bound of the gradients' elements; negative for none.
        clip_gradient: f32 = -1.0,
        /// Whether the moments are corrected for their start at 0.
        bias_correction: bool = true,
        /// Indices of the updates, from 1.
        step_count: ShapeAttr,
        /// Number of weights.
        num_tensors: i32 = 1,
    }
}

impl MultiLambParams {
    /// Parameters of phase 1 for weight number `which`.
    pub fn phase1(&self, which: usize) -> LambPhase1Params {
        LambPhase1Params {
            beta1: self.beta1,
            beta2: self.beta2,
            epsilon: self.epsilon,
            t: i32::try_from(self.step_count.0[which]).unwrap_or(i32::MAX),
            bias_correction: self.bias_correction,
            wd: self.wds.0[which],
            rescale_grad: self.rescale_grad,
            clip_gradient: self.clip_gradient,
        }
    }
}

impl Rule for MultiLambParams {
    fn n_weights(&self) -> i32 {
        self.num_tensors
    }

    fn lists(&self) -> Vec<(&'static str, usize)> {
        let (lrs, wds) = (self.learning_rates.0.len(), self.wds.0.len());
        vec![("learning_rates", lrs), ("wds", wds), ("step_count", self.step_count.0.len())]
    }

    fn step(&self, which: usize, shared: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        self.phase1(which).step(0, shared, weight, grad, states)
    }
}

/// Defines the operator `_multi_lamb_update`.
pub fn define() -> OpDef {
    OpDef {
        accuracy: Accuracy::Reduction,
        reference: Some(reference::<4>),
        ..updates::define::<MultiLambParams, 4, false>(
            "_multi_lamb_update",
            "steps of LAMB on several weights",
            numbered::<MultiLambParams>(&["weight", "grad", "mean", "var"], &[]),
            || samples(&[(-0.5, 0.5), (0.0, 1.0)]),
        )
    }
}

/// Defines the operator `_multi_mp_lamb_update`.
pub fn define_mp() -> OpDef {
    OpDef {
        accuracy: Accuracy::Reduction,
        reference: Some(reference::<5>),
        ..updates::define::<MultiLambParams, 5, true>(
            "_multi_mp_lamb_update",
            "steps of LAMB on several weights in mixed precision",
            numbered::<MultiLambParams>(&["weight", "grad", "mean", "var", "weight32"], &[]),
            || samples(&[(-0.5, 0.5), (0.0, 1.0), (-1.0, 1.0)]),
        )
    }
}

/// The reference kernel for groups of 4, or of 5 with a master weight.
fn reference<const STRIDE: usize>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let params = params.get::<MultiLambParams>();
    let n = counted(MultiLambParams::OP, "num_tensors", params.num_tensors)?;
    let (weights_out, states_out) = outputs.split_at_mut(n);
    let groups = inputs.chunks(STRIDE).zip(weights_out).zip(states_out.chunks_mut(STRIDE - 2));
    for (which, ((group, weight_out), rewritten)) in groups.enumerate() {
        let mut weight = numeric::read(group.get(4).unwrap_or(&group[0]));
        let [grad, mut mean, mut var] = [1, 2, 3].map(|i| numeric::read(&group[i]));
        let rule = params.phase1(which);
        let mut direction = vec![0.0; weight.len()];
        for i in 0..weight.len() {
            let mut states = [mean[i], var[i]];
            direction[i] = rule.step(which, &[], weight[i], grad[i], &mut states);
            [mean[i], var[i]] = states;
        }
        let norm = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>().sqrt();
        let trust = trust([params.lower_bound, params.upper_bound], norm(&weight), norm(&direction));
        let rate = f64::from(params.learning_rates.0[which]) * trust;
        weight.iter_mut().zip(&direction).for_each(|(w, d)| *w -= rate * d);
        numeric::write(weight_out, &weight);
        for (output, values) in rewritten.iter_mut().zip([&mean, &var, &weight]) {
            numeric::write(output, values);
        }
    }
    Ok(())
}

fn samples(states: &[updates::Filled]) -> Vec<Sample> {
    let lists =
        [("learning_rates", ["0.1", "0.05", "0.2"]), ("wds", ["0", "0.01", "0.001"]), ("step_count", ["1", "3", "7"])];
    let attrs = [("rescale_grad", "0.5"), ("clip_gradient", "0.6"), ("lower_bound", "0.5"), ("upper_bound", "4")];
    grouped("num_tensors", &lists, &attrs, states, &[])
}
