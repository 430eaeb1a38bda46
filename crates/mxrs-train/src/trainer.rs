//! Updates for imperative code: record, take gradients, step.

use crate::norm::clip_global_norm;
use mxrs_exec::{GradReq, Imperative, autograd};
use mxrs_ndarray::NdArray;
use mxrs_optim::{Parameter, SavedStates, Updater};
use mxrs_types::{Error, Result};

/// Updates arrays by their gradients, as Gluon's `Trainer`.
pub struct Trainer {
    nd: Imperative,
    params: Vec<Parameter>,
    update: Updater,
    /// Writes of each gradient when it was last used.
    used: Vec<u64>,
}

impl Trainer {
    /// Updates these arrays, by name, with an optimizer such as `Adam { lr: 1e-3, ..Adam::default() }`. Those without a gradient array get one.
    ///
    /// # Errors
    /// No array; a name twice; settings of the optimizer that are out of range; out of memory.
    pub fn new(nd: &Imperative, params: &[(&str, &NdArray)], optimizer: impl Into<Updater>) -> Result<Self> {
        let update = optimizer.into();
        update.check()?;
        if params.is_empty() {
            return Err(Error::invalid("parameters of a trainer", "none", "at least one"));
        }
        let lr = update.learning_rate();
        if !lr.is_finite() {
            return Err(Error::invalid("learning rate", lr, "a finite number"));
        }
        let mut all: Vec<Parameter> = Vec::with_capacity(params.len());
        for (name, weight) in params {
            if all.iter().any(|param| param.name == *name) {
                return Err(Error::invalid("parameters of a trainer", format!("`{name}` twice"), "different names"));
            }
            if autograd::grad_of(weight).is_none() {
                nd.attach_grad(weight, GradReq::Write)?;
            }
            let grad = autograd::grad_of(weight)
                .ok_or_else(|| Error::invalid(format!("parameter `{name}`"), "no gradient", "an array with one"))?;
            all.push(Parameter { name: (*name).to_owned(), weight: (*weight).clone(), grad });
        }
        let used = all.iter().map(|param| param.grad.n_writes()).collect();
        Ok(Self { nd: nd.clone(), params: all, update, used })
    }

    /// Updates every parameter by its gradient divided by `batch_size`; returns at once.
    ///
    /// # Errors
    /// A batch size of 0; a gradient that no `backward` has written since the last step, naming it; what operators report.
    pub fn step(&mut self, batch_size: usize) -> Result<()> {
        let fresh = self.params.iter().zip(&self.used).find(|(param, used)| param.grad.n_writes() == **used);
        if let Some((stale, _)) = fresh {
            let expected =
                "a backward before each step that reaches it; step_ignoring_stale leaves such parameters alone";
            return Err(Error::invalid(
                format!("gradient of `{}`", stale.name),
                "the one of an earlier step",
                expected,
            ));
        }
        self.step_ignoring_stale(batch_size)
    }

    /// As [`Self::step`], leaving parameters alone whose gradients are those of an earlier step.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn step_ignoring_stale(&mut self, batch_size: usize) -> Result<()> {
        if batch_size == 0 {
            return Err(Error::invalid("batch size of a step", 0, "1 or more"));
        }
        self.update.set_rescale_grad(1.0 / batch_size as f64);
        let is_fresh = |(param, used): &(&Parameter, &u64)| param.grad.n_writes() != **used;
        let fresh: Vec<Parameter> =
            self.params.iter().zip(&self.used).filter(is_fresh).map(|(param, _)| param.clone()).collect();
        let _paused = autograd::pause();
        self.update.update_all(&self.nd, &fresh)?;
        self.used = self.params.iter().map(|param| param.grad.n_writes()).collect();
        Ok(())
    }

    /// Scales the gradients so that their norm together is at most `max_norm`, and returns it as it was. Waits for them.
    ///
    /// # Errors
    /// As [`clip_global_norm`].
    pub fn clip_gradients(&self, max_norm: f64) -> Result<f64> {
        let grads: Vec<&NdArray> = self.params.iter().map(|param| &param.grad).collect();
        clip_global_norm(&self.nd, &grads, max_norm)
    }

    /// What updates the weights.
    pub fn optimizer(&mut self) -> &mut Updater {
        &mut self.update
    }

    /// States of the optimizer.
    ///
    /// # Errors
    /// As [`Updater::states`].
    pub fn states(&self) -> Result<SavedStates> {
        self.update.states()
    }

    /// Goes on from these.
    ///
    /// # Errors
    /// As [`Updater::set_states`].
    pub fn set_states(&mut self, states: &SavedStates) -> Result<()> {
        self.update.set_states(&self.nd, &self.params, states)
    }
}
