//! AdaGrad. Duchi, Hazan and Singer, JMLR 12 (2011).
//!
//! `h = clip(g)`. `_sparse_adagrad_update`: `history += h²`, `w -= lr · h / sqrt(history + epsilon)`; wd must be 0.
//! `_contrib_group_adagrad_update` keeps one history per row of a matrix: `history += mean(h²)` over the row, and `w -= lr
//! · h / sqrt(history + epsilon)`. `_adagrad_update`, which MXNet's optimizer composes of other operators, adds weight
//! decay to the scaled gradient: `w -= lr · (h / sqrt(history + epsilon) + wd · w)`.
//!
//! MXNet takes only row-sparse gradients, and leaves rows without a gradient unchanged. These operators take dense
//! gradients, which have all rows. Dtypes f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::families::updates::{self, Rule, clip, single};
use crate::inference::{bad_attribute, learn, learn_dim, require_ndim, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, Fill, InputNames, OpDef, OpParams, Parameters, RefInput, RefOutput, RunMode, Sample, op_params,
};
use mxrs_types::{PartialShape, Result};

op_params! {
    /// Parameters of `_sparse_adagrad_update`.
    pub struct AdaGradParams for "_sparse_adagrad_update" {
        /// Learning rate.
        lr: f32,
        /// Added to the history under the square root.
        epsilon: f32 = 1e-7,
        /// Weight decay, which must be 0.
        wd: f32 = 0.0,
        /// Factor of the gradient.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; negative for none.
        clip_gradient: f32 = -1.0,
    }
}

op_params! {
    /// Parameters of `_contrib_group_adagrad_update`.
    pub struct GroupAdaGradParams for "_contrib_group_adagrad_update" {
        /// Learning rate.
        lr: f32,
        /// Factor of the gradient.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; negative for none.
        clip_gradient: f32 = -1.0,
        /// Added to the history under the square root.
        epsilon: f32 = 1e-5,
    }
}

op_params! {
    /// Parameters of `_adagrad_update`.
    pub struct DecayedAdaGradParams for "_adagrad_update" {
        /// Learning rate.
        lr: f32,
        /// Added to the history under the square root.
        epsilon: f32 = 1e-7,
        /// Weight decay.
        wd: f32 = 0.0,
        /// Factor of the gradient.
        rescale_grad: f32 = 1.0,
        /// Bound of the gradient's elements; negative for none.
        clip_gradient: f32 = -1.0,
    }
}

impl Rule for AdaGradParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let grad = clip(f64::from(self.rescale_grad) * grad, self.clip_gradient);
        states[0] += grad * grad;
        weight - f64::from(self.lr) * grad / (states[0] + f64::from(self.epsilon)).sqrt()
    }
}

impl Rule for DecayedAdaGradParams {
    fn step(&self, _: usize, _: &[Vec<f64>], weight: f64, grad: f64, states: &mut [f64]) -> f64 {
        let grad = clip(f64::from(self.rescale_grad) * grad, self.clip_gradient);
        states[0] += grad * grad;
        let scaled = grad / (states[0] + f64::from(self.epsilon)).sqrt();
        weight - f64::from(self.lr) * (scaled + f64::from(self.wd) * weight)
    }
}

/// Defines the operator `_sparse_adagrad_update`.
pub fn define() -> OpDef {
    OpDef {
        infer_shape: |params, inputs, outputs| {
            let wd = params.get::<AdaGradParams>().wd;
            if wd != 0.0 {
                return Err(bad_attribute(AdaGradParams::OP, "wd", "0", wd));
            }
            updates::infer_shape::<AdaGradParams, 3>(params, inputs, outputs)
        },
        ..updates::define::<AdaGradParams, 3, false>(
            "_sparse_adagrad_update",
            "step of AdaGrad",
            InputNames::Fixed(&["weight", "grad", "history"]),
            || single(&[("all", ALL), ("plain", &[("lr", "0.1")])], &[(0.0, 1.0)], None),
        )
    }
}

const ALL: &[(&str, &str)] = &[("lr", "0.1"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6"), ("epsilon", "0.001")];

/// Defines the operator `_adagrad_update`.
pub(crate) fn define_decayed() -> OpDef {
    const WITH_DECAY: &[(&str, &str)] =
        &[("lr", "0.1"), ("wd", "0.01"), ("rescale_grad", "0.5"), ("clip_gradient", "0.6")];
    updates::define::<DecayedAdaGradParams, 3, false>(
        "_adagrad_update",
        "step of AdaGrad with weight decay",
        InputNames::Fixed(&["weight", "grad", "history"]),
        || single(&[("all", WITH_DECAY), ("plain", &[("lr", "0.1")])], &[(0.0, 1.0)], None),
    )
}

/// Defines the operator `_contrib_group_adagrad_update`.
pub fn define_group() -> OpDef {
    OpDef {
        summary: "step of AdaGrad with a rate per row",
        inputs: InputNames::Fixed(&["weight", "grad", "history"]),
        infer_shape: infer_group,
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "grad"),
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        rewrites: |_, _| &[2],
        accuracy: Accuracy::Reduction,
        reference: Some(group),
        samples: || {
            let of = |name, attrs: &[(&str, &str)], rows: usize, columns: usize| {
                let sample = Sample::plain(name, &[&[rows, columns], &[rows, columns], &[rows, 1]]);
                Sample { attrs: attrs.iter().copied().collect(), ..sample }.fill(2, Fill::Uniform(0.0, 1.0))
            };
            vec![
                of("all", ALL, 5, 7),
                of("plain", &[("lr", "0.1")], 3, 130),
                of("no_rows", ALL, 0, 4),
                of("one_column", ALL, 4, 1),
            ]
        },
        ..OpDef::new("_contrib_group_adagrad_update").params::<GroupAdaGradParams>()
    }
}

fn infer_group(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let ([weight, grad, history], [output]) = (inputs, outputs) else { return Ok(()) };
    unify(weight, output, "output")?;
    unify(weight, grad, "grad")?;
    unify(weight, output, "output")?;
    require_ndim(weight, 2, "weight")?;
    learn(history, &PartialShape::new([weight.dim(0), Some(1)]), "history")?;
    learn_dim(weight, 0, history.dim(0), "weight")?;
    unify(weight, grad, "grad")?;
    unify(weight, output, "output")
}

fn group(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<GroupAdaGradParams>();
    let [mut weight, mut grad, mut history] = [0, 1, 2].map(|i| numeric::read(&inputs[i]));
    grad.iter_mut().for_each(|g| *g = clip(f64::from(params.rescale_grad) * *g, params.clip_gradient));
    let columns = inputs[0].desc.shape.get(1).copied().unwrap_or(1);
    for (row, state) in history.iter_mut().enumerate().filter(|_| columns > 0) {
        let elements = row * columns..(row + 1) * columns;
        *state += grad[elements.clone()].iter().map(|g| g * g).sum::<f64>() / columns as f64;
        let rate = f64::from(params.lr) / (*state + f64::from(params.epsilon)).sqrt();
        elements.for_each(|i| weight[i] -= rate * grad[i]);
    }
    numeric::write(&mut outputs[0], &weight);
    numeric::write(&mut outputs[1], &history);
    Ok(())
}
