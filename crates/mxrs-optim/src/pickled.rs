//! Converts states that MXNet saved as pickles to the states of an updater.
//!
//! MXNet stores states by the parameter's index or name, as nested tuples without names; their order is that of
//! [`Optimizer::slots`](crate::Optimizer::slots). In mixed precision, SGD, NAG and LARS put the master weight last, and all
//! other optimizers put it first. Only files that also contain the optimizer contain the number of updates.

use crate::{Parameter, State, Updater};
use indexmap::IndexMap;
use mxrs_format::pickle::{PickledState, PickledStates, StateKey};
use mxrs_format::{Dense, Tensor};
use mxrs_ndarray::{Invoke, NdArray};
use mxrs_types::{Error, Result, ResultExt};

/// The arrays of a state in the order of [`State::all`].
fn in_order(state: &PickledState, has_master: bool, master_is_last: bool) -> Vec<&Tensor> {
    let mut arrays = state.arrays();
    if has_master && !master_is_last && !arrays.is_empty() {
        arrays.rotate_left(1);
    }
    arrays
}

fn copy(from: &Dense, to: &NdArray) -> Result<()> {
    // Some of MXNet's states are in single precision even if the weight is not.
    if from.dtype() == to.dtype() {
        to.copy_from_bytes(from.bytes())
    } else {
        to.copy_from_bytes(from.cast(to.dtype()).bytes())
    }
}

impl Updater {
    /// Resumes from states that MXNet saved. `params` are the parameters in the order of their indices in MXNet; their
    /// gradients are not read. If the file does not contain the number of updates, counts start at the optimizer's
    /// `begin_num_update`. On an error, nothing changes.
    ///
    /// # Errors
    /// Fails if the states are of another optimizer (if the file names it) or of a parameter that is not in `params`, or if
    /// arrays or shapes differ; the error names the first such parameter and both shapes.
    pub fn set_pickled_states(&mut self, nd: &dyn Invoke, params: &[Parameter], saved: &PickledStates) -> Result<()> {
        let own = self.optimizer().name();
        if let Some(optimizer) = &saved.optimizer {
            let theirs = optimizer.class.to_ascii_lowercase();
            if theirs != own && !(theirs == "ccsgd" && own == "sgd") {
                return Err(Error::invalid("optimizer of saved states", &optimizer.class, own));
            }
        }
        let place = |key: &StateKey| {
            let found = match key {
                StateKey::Index(i) => usize::try_from(*i).ok().filter(|i| *i < params.len()),
                StateKey::Name(name) => params.iter().position(|param| param.name == *name),
            };
            found.ok_or_else(|| {
                let got = match key {
                    StateKey::Index(i) => format!("states of parameter {i}"),
                    StateKey::Name(name) => format!("states of `{}`", name.chars().take(120).collect::<String>()),
                };
                Error::invalid("saved states", got, format!("those of the {} parameters only", params.len()))
            })
        };
        let mut states: IndexMap<String, State> = IndexMap::new();
        for (key, theirs) in &saved.states {
            let index = place(key)?;
            let Parameter { name, weight, .. } = &params[index];
            let state = self.fresh_state(nd, index, name, weight)?;
            let has_master = state.master.is_some();
            let arrays = in_order(theirs, has_master, matches!(own, "sgd" | "nag" | "lars"));
            let wanted: Vec<(&str, &NdArray)> = state.all().collect();
            if arrays.len() != wanted.len() {
                let slots: Vec<&str> = wanted.iter().map(|(slot, _)| *slot).collect();
                let expected = format!("{} ({})", slots.len(), slots.join(", "));
                return Err(Error::invalid(format!("number of saved states of `{name}`"), arrays.len(), expected));
            }
            for (tensor, (slot, array)) in arrays.into_iter().zip(wanted) {
                let what = || format!("state {slot} of `{name}`");
                let dense = tensor.as_dense().context(what)?;
                if dense.shape() != array.shape() {
                    return Err(Error::shape("saved states", what(), array.shape().to_string(), dense.shape()));
                }
                copy(dense, array).context(what)?;
            }
            states.insert(name.to_string(), state);
        }
        let begin = self.optimizer().common().begin_num_update;
        if saved.optimizer.is_none() {
            tracing::info!("The saved states do not say how many updates there were: they are counted from {begin}");
        }
        let mut counts: IndexMap<String, u64> = IndexMap::new();
        let mut num_update = begin;
        if let Some(optimizer) = &saved.optimizer {
            for (key, n) in &optimizer.counts {
                counts.insert(params[place(key)?].name.to_string(), *n);
            }
            let most = counts.values().copied().max().unwrap_or(begin);
            num_update = optimizer.num_update.unwrap_or(most).max(most);
        }
        self.optimizer_mut().common_mut().set_counts(num_update, counts);
        self.set_state_arrays(states);
        Ok(())
    }
}
