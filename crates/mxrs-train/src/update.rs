//! What turns gradients into new weights, as the training loop sees it.

use mxrs_exec::Imperative;
use mxrs_format::pickle::PickledStates;
use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_optim::{Gradient, SavedStates, Updater};
use mxrs_types::{Error, Result};

/// A parameter, and where its gradient is.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name: what states are kept under.
    pub name: String,
    /// Its value, which is overwritten.
    pub weight: NdArray,
    /// Its gradient.
    pub grad: NdArray,
}

/// Updates weights: an optimizer with the states of all parameters, as [`Updater`] is.
pub trait WeightUpdate: Send {
    /// What gradients are multiplied by; one over the batch size, as a rule.
    fn set_rescale_grad(&mut self, rescale: f64);

    /// Takes factors of learning rate and weight decay from a variable's attributes `__lr_mult__` and `__wd_mult__`, where
    /// none were set for it; by default it has no such factors.
    ///
    /// # Errors
    /// Attributes that are no numbers.
    fn take_attributes(&mut self, name: &str, attrs: &Attrs) -> Result<()> {
        let _ = (name, attrs);
        Ok(())
    }

    /// The learning rate of the next update.
    fn learning_rate(&self) -> f64;

    /// Updates so far.
    fn num_update(&self) -> u64;

    /// Updates every parameter once.
    ///
    /// # Errors
    /// What operators report.
    fn update(&mut self, nd: &Imperative, params: &[Parameter]) -> Result<()>;

    /// States of all parameters that were updated.
    ///
    /// # Errors
    /// What computing them reported.
    fn states(&self) -> Result<SavedStates>;

    /// Goes on from these.
    ///
    /// # Errors
    /// States of another optimizer, of parameters that are not there, or of other shapes.
    fn set_states(&mut self, nd: &Imperative, params: &[Parameter], states: &SavedStates) -> Result<()>;

    /// Goes on from states that MXNet saved, under names of these parameters or their places among them.
    ///
    /// # Errors
    /// As [`Self::set_states`]; by default, that it cannot.
    fn set_pickled_states(&mut self, nd: &Imperative, params: &[Parameter], states: &PickledStates) -> Result<()> {
        let _ = (nd, params, states);
        Err(Error::invalid("states of the optimizer", "a pickle of MXNet's", "those that it saved itself"))
    }

    /// About how many bytes [`Self::states`] takes once all these parameters were updated; by default as many as they have
    /// themselves. Those that keep more than one array for each override it.
    fn state_bytes(&self, params: &[Parameter]) -> u64 {
        params.iter().map(|param| param.weight.size_bytes() as u64).sum()
    }
}

impl WeightUpdate for Updater {
    fn set_rescale_grad(&mut self, rescale: f64) {
        self.optimizer_mut().common_mut().rescale_grad = rescale;
    }

    fn take_attributes(&mut self, name: &str, attrs: &Attrs) -> Result<()> {
        self.optimizer_mut().common_mut().mult.take_attributes(name, attrs.iter())
    }

    fn learning_rate(&self) -> f64 {
        self.optimizer().common().lr_now()
    }

    fn num_update(&self) -> u64 {
        self.optimizer().common().num_update
    }

    fn update(&mut self, nd: &Imperative, params: &[Parameter]) -> Result<()> {
        self.update_all(nd, &gradients(params))
    }

    fn states(&self) -> Result<SavedStates> {
        Self::states(self)
    }

    fn set_states(&mut self, nd: &Imperative, params: &[Parameter], states: &SavedStates) -> Result<()> {
        Self::set_states(self, nd, &gradients(params), states)
    }

    fn set_pickled_states(&mut self, nd: &Imperative, params: &[Parameter], states: &PickledStates) -> Result<()> {
        Self::set_pickled_states(self, nd, &gradients(params), states)
    }

    fn state_bytes(&self, params: &[Parameter]) -> u64 {
        params.iter().map(|param| Self::state_bytes(self, &param.weight)).sum()
    }
}

fn gradients(params: &[Parameter]) -> Vec<Gradient<'_>> {
    params.iter().map(|p| Gradient { name: &p.name, weight: &p.weight, grad: &p.grad }).collect()
}
