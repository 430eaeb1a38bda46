//! Updates of several copies of the same parameters, one copy per device.

use crate::{Parameter, Updater};
use indexmap::IndexMap;
use mxrs_ndarray::Invoke;
use mxrs_types::{Result, ResultExt};

/// What an update of one copy changes in the optimizer. It is restored before the next copy is updated.
struct Before {
    num_update: u64,
    counts: IndexMap<String, u64>,
    scalars: Vec<(&'static str, f64)>,
}

impl Updater {
    /// Updates each parameter once on every device: `copies[k]` are the parameters with their gradients on the device with
    /// number `k`. Every copy makes the same step. Updates are counted once, and the numbers that the optimizer keeps
    /// advance once. Each copy has states of its own; a copy without states starts with those of copy 0.
    ///
    /// Equal weights with equal gradients stay equal, unless the optimizer draws random numbers. [`Self::states`] are those
    /// of copy 0.
    ///
    /// # Errors
    /// Fails as [`Self::update_all`] does; also if memory for states is short. After an error, some copies may already have
    /// changed.
    pub fn update_copies(&mut self, nd: &dyn Invoke, copies: &[Vec<Parameter>]) -> Result<()> {
        let Some((first, others)) = copies.split_first() else { return Ok(()) };
        if others.is_empty() {
            return self.update_all(nd, first);
        }
        for (copy, params) in others.iter().enumerate() {
            self.copy_states(copy + 1, nd, params)?;
        }
        let common = self.optimizer().common();
        let before = Before {
            num_update: common.num_update,
            counts: common.counts().clone(),
            scalars: self.optimizer().scalars(),
        };
        self.update_all(nd, first)?;
        self.optimizer_mut().common_mut().repeats = true;
        let repeated = others.iter().enumerate().try_for_each(|(copy, params)| {
            self.rewind(&before)?;
            self.with_copy(copy + 1, |updater| updater.update_all(nd, params))
        });
        self.optimizer_mut().common_mut().repeats = false;
        repeated
    }

    /// Gives the parameters of a copy the states of copy 0, where the copy has none.
    fn copy_states(&mut self, copy: usize, nd: &dyn Invoke, params: &[Parameter]) -> Result<()> {
        for param in params {
            let Some(state) = self.state_arrays().get(&param.name).cloned() else { continue };
            if self.states_of_copy(copy).contains_key(&param.name) {
                continue;
            }
            let copied = state.copied(nd.context(), param.weight.device());
            let copied = copied.context(|| format!("states of `{}`", param.name))?;
            self.states_of_copy(copy).insert(param.name.clone(), copied);
        }
        Ok(())
    }

    /// Restores the counts and numbers of the optimizer, so that the next copy makes the same step.
    fn rewind(&mut self, before: &Before) -> Result<()> {
        let optimizer = self.optimizer_mut();
        for (name, value) in &before.scalars {
            optimizer.set_scalar(name, *value)?;
        }
        optimizer.common_mut().set_counts(before.num_update, before.counts.clone());
        Ok(())
    }
}
