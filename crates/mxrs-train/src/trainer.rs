//! Parameter updates for imperative code: record a computation, compute gradients, call `step`.

use crate::norm::clip_global_norm;
use mxrs_exec::{GradReq, Imperative, autograd};
use mxrs_ndarray::NdArray;
use mxrs_optim::{Parameter, SavedStates, Updater};
use mxrs_types::{Error, Result};

/// Updates arrays by their gradients, like Gluon's `Trainer`.
pub struct Trainer {
    nd: Imperative,
    params: Vec<Parameter>,
    update: Updater,
    /// For each parameter, the number of writes of its gradient at the last step. If the number is still the same, the
    /// gradient is stale.
    used: Vec<u64>,
}

impl Trainer {
    /// A trainer of these named arrays, with an optimizer such as `Adam { lr: 1e-3, ..Adam::default() }`. An array without a
    /// gradient array gets one.
    ///
    /// # Errors
    /// Returns an error if there is no array, if a name occurs twice, if a setting of the optimizer is out of range, or if
    /// memory is exhausted.
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

    /// Updates every parameter by its gradient divided by `batch_size`; returns before the update is done.
    ///
    /// # Errors
    /// Returns an error if `batch_size` is 0, if no `backward` has written a gradient since the last step (the error names
    /// the parameter), or if an operator fails.
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

    /// Like [`Self::step`], but does not update a parameter whose gradient was not written since the last step.
    ///
    /// # Errors
    /// Returns an error if `batch_size` is 0 or an operator fails.
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

    /// Scales the gradients so that the norm of all their elements is at most `max_norm`, and returns the norm before scaling.
    /// Waits for the gradients.
    ///
    /// # Errors
    /// Fails as [`clip_global_norm`] does.
    pub fn clip_gradients(&self, max_norm: f64) -> Result<f64> {
        let grads: Vec<&NdArray> = self.params.iter().map(|param| &param.grad).collect();
        clip_global_norm(&self.nd, &grads, max_norm)
    }

    /// The optimizer that updates the weights.
    pub fn optimizer(&mut self) -> &mut Updater {
        &mut self.update
    }

    /// States of the optimizer.
    ///
    /// # Errors
    /// Fails as [`Updater::states`] does.
    pub fn states(&self) -> Result<SavedStates> {
        self.update.states()
    }

    /// Replaces the states of the optimizer, to resume a training.
    ///
    /// # Errors
    /// Fails as [`Updater::set_states`] does.
    pub fn set_states(&mut self, states: &SavedStates) -> Result<()> {
        self.update.set_states(&self.nd, &self.params, states)
    }
}
