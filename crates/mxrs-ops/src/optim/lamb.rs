//! LAMB: a step in Adam's direction, with a length proportional to the norm of the weight. You et al., arXiv:1904.00962.
//!
//! Phase 1: `h = clip(g)`, moments as in `adam.rs`. The result is `d = m / (sqrt(v) + epsilon) + wd · w`, where m and v are
//! the moments; with `bias_correction` they are divided by `1 - beta^t`.
//!
//! Phase 2: `w -= lr · r1 / r2 · d`. Here r1 is the norm of the weight, limited to `lower_bound` and `upper_bound` unless
//! they are negative, and r2 is the norm of d, which is the input `g`. If a norm is 0, the ratio `r1 / r2` is 1. In mixed
//! precision the master weight replaces the weight, and d is f32.
//!
//! MXNet: `lamb_update_phase1`, `lamb_update_phase2`, `mp_lamb_update_phase1`, `mp_lamb_update_phase2`.
//! Dtypes f32 f64 f16 bf16; mixed: f16 bf16.
//!
//! MXNet's phase 2 in mixed precision does not change the master weight, so that steps do not accumulate; this
//! implementation updates the master weight.

use super::adam::move_moments;
use crate::dtypes::FLOATS;
use crate::families::updates::{self, HALVES, Rule, clip, single};
use crate::inference::{OP, learn, learn_dtype};
use crate::numeric;
use mxrs_op::{Accuracy, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result};

op_params! {
    /// Parameters of `lamb_update_phase1` and `mp_lamb_update_phase1`.
    pub struct LambPhase1Params for "lamb_update_phase1" {
        /// Decay of the mean.
        beta1: f32 = 0.9,
        /// Decay of the mean square.
        beta2: f32 = 0.999,
        /// Added to the square root of the mean square.
        epsilon: f32 = 1e-6,
        /// Index of the update, from 1.
        t: i32,
        /// Whether the moments are corrected for their start at 0.
        bias_correction: bool = true,
        /// Weight decay.
        wd: f32,
        /// Factor of the gradient.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; negative for none.
        clip_gradient: f32 = -1.0,
    }
}

op_params! {
    /// Parameters of `lamb_update_phase2` and `mp_lamb_update_phase2`.
    pub struct LambPhase2Params for "lamb_update_phase2" {
        /// Learning rate.
        lr: f32,
        /// Lower limit of the weight's norm; negative for none.
        lower_bound: f32 = -1.0,
        /// Upper limit of the weight's norm; negative for none.
        upper_bound: f32 = -1.0,
    }
}

/// `step` returns the direction of a step and updates the moments.
impl Rule for LambPhase1Params {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let grad = clip(f64::from(self.rescale_grad) * grad, self.clip_gradient);
        move_moments(states, grad, self.beta1, self.beta2);
        let corrected = |moment: f64, beta: f32| match self.bias_correction {
            true => moment / (1.0 - f64::from(beta).powi(self.t)),
            false => moment,
        };
        let (mean, var) = (corrected(states[0], self.beta1), corrected(states[1], self.beta2));
        mean / (var.sqrt() + f64::from(self.epsilon)) + f64::from(self.wd) * weight
    }
}

/// The ratio `r1 / r2` by which the learning rate is multiplied; `r1` is the norm of the weight, `r2` that of the
/// direction.
pub fn trust([lower, upper]: [f32; 2], r1: f64, r2: f64) -> f64 {
    let mut r1 = r1;
    if lower >= 0.0 {
        r1 = r1.max(f64::from(lower));
    }
    if upper >= 0.0 {
        r1 = r1.min(f64::from(upper));
    }
    if r1 == 0.0 || r2 == 0.0 { 1.0 } else { r1 / r2 }
}

/// Defines the operator `lamb_update_phase1`.
pub fn define_phase1() -> OpDef {
    OpDef {
        // The output is a direction instead of a weight, with the shape and type of the weight.
        accuracy: Accuracy::Reduction,
        ..updates::define::<LambPhase1Params, 4, false>(
            "lamb_update_phase1",
            "direction of a step of LAMB",
            InputNames::Fixed(&["weight", "grad", "mean", "var"]),
            || single(PHASE1, &[(-0.5, 0.5), (0.0, 1.0)], None),
        )
    }
}

/// Defines the operator `mp_lamb_update_phase1`.
pub fn define_mp_phase1() -> OpDef {
    OpDef {
        inplace_by_params: None,
        infer_dtype: infer_mixed_direction,
        rewrites: |_, _| &[2, 3],
        reference: Some(mixed_direction),
        accuracy: Accuracy::Reduction,
        ..updates::define::<LambPhase1Params, 5, true>(
            "mp_lamb_update_phase1",
            "direction of a step of LAMB in mixed precision",
            InputNames::Fixed(&["weight", "grad", "mean", "var", "weight32"]),
            || single(PHASE1, &[(-0.5, 0.5), (0.0, 1.0), (-1.0, 1.0)], None),
        )
    }
}

fn infer_mixed_direction(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    outputs.iter_mut().try_for_each(|dtype| learn_dtype(dtype, DType::F32, "output"))?;
    let (halves, singles) = inputs.split_at_mut(2);
    singles.iter_mut().try_for_each(|dtype| learn_dtype(dtype, DType::F32, "states"))?;
    let Some(known) = halves[0].or(halves[1]) else { return Ok(()) };
    halves.iter_mut().try_for_each(|dtype| learn_dtype(dtype, known, "grad"))
}

fn mixed_direction(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let rule = params.get::<LambPhase1Params>();
    let [grad, mut mean, mut var, mut weight] = [1, 2, 3, 4].map(|i| numeric::read(&inputs[i]));
    for i in 0..weight.len() {
        let mut states = [mean[i], var[i]];
        weight[i] = rule.step(0, &[], weight[i], grad[i], &mut states);
        [mean[i], var[i]] = states;
    }
    for (output, values) in outputs.iter_mut().zip([weight, mean, var]) {
        numeric::write(output, &values);
    }
    Ok(())
}

/// Defines the operator `lamb_update_phase2`.
pub fn define_phase2() -> OpDef {
    OpDef {
        summary: "step of LAMB in a known direction",
        inputs: InputNames::Fixed(&["weight", "g", "r1", "r2"]),
        infer_shape: infer_phase2,
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        accuracy: Accuracy::Elementwise,
        reference: Some(phase2),
        samples: || phase2_samples(false),
        ..OpDef::new("lamb_update_phase2").params::<LambPhase2Params>()
    }
}

/// Defines the operator `mp_lamb_update_phase2`.
pub fn define_mp_phase2() -> OpDef {
    OpDef {
        summary: "step of LAMB in a known direction in mixed precision",
        inputs: InputNames::Fixed(&["weight", "g", "r1", "r2", "weight32"]),
        infer_shape: infer_phase2,
        infer_dtype: infer_mixed_phase2,
        dtypes: HALVES,
        inplace: &[(0, 0)],
        rewrites: |_, _| &[4],
        accuracy: Accuracy::Elementwise,
        reference: Some(phase2),
        samples: || phase2_samples(true),
        ..OpDef::new("mp_lamb_update_phase2").params::<LambPhase2Params>()
    }
}

fn infer_phase2(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let one = PartialShape::new([Some(1)]);
    learn(&mut inputs[2], &one, "r1")?;
    learn(&mut inputs[3], &one, "r2")?;
    let mut all = PartialShape::unknown();
    let is_weight = |(i, _): &(usize, &mut PartialShape)| !(2..4).contains(i);
    for shape in inputs.iter().enumerate().filter(|(i, _)| !(2..4).contains(i)).map(|(_, s)| s).chain(outputs.iter()) {
        let before = all.clone();
        all.merge(shape).map_err(|()| Error::shape(OP, "g", before.to_string(), shape))?;
    }
    inputs.iter_mut().enumerate().filter(is_weight).for_each(|(_, shape)| *shape = all.clone());
    outputs.iter_mut().for_each(|shape| *shape = all.clone());
    Ok(())
}

fn infer_mixed_phase2(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    inputs[1..].iter_mut().try_for_each(|dtype| learn_dtype(dtype, DType::F32, "g"))?;
    let Some(known) = inputs[0].or(outputs[0]) else { return Ok(()) };
    learn_dtype(&mut inputs[0], known, "weight")?;
    learn_dtype(&mut outputs[0], known, "output")
}

fn phase2(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<LambPhase2Params>();
    let mut weight = numeric::read(inputs.get(4).unwrap_or(&inputs[0]));
    let [g, r1, r2] = [1, 2, 3].map(|i| numeric::read(&inputs[i]));
    let rate = f64::from(params.lr) * trust([params.lower_bound, params.upper_bound], r1[0], r2[0]);
    weight.iter_mut().zip(&g).for_each(|(w, g)| *w -= rate * g);
    outputs.iter_mut().for_each(|output| numeric::write(output, &weight));
    Ok(())
}

const PHASE1: &[(&str, &[(&str, &str)])] = &[
    ("all", &[("t", "3"), ("wd", "0.01"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6")]),
    ("plain", &[("t", "1"), ("wd", "0")]),
    ("uncorrected", &[("t", "2"), ("wd", "0.1"), ("bias_correction", "False"), ("epsilon", "0.001")]),
];

fn phase2_samples(is_mixed: bool) -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], shape: &[usize]| {
        let shapes = [shape, shape, &[1], &[1], shape];
        let sample = Sample::plain(name, &shapes[..if is_mixed { 5 } else { 4 }]);
        let positive = mxrs_op::Fill::Uniform(0.5, 2.0);
        let attrs = attrs.iter().copied().collect();
        Sample { attrs, ..sample }.fill(2, positive.clone()).fill(3, positive)
    };
    let bounds: &[(&str, &str)] = &[("lr", "0.1"), ("lower_bound", "0.9"), ("upper_bound", "1.1")];
    vec![
        of("plain", &[("lr", "0.1")], &[3, 5, 7]),
        of("bounds", bounds, &[4, 3]),
        of("scalar", bounds, &[]),
        of("empty", bounds, &[0, 3]),
    ]
}
