//! Tuning: chooses the kernel of a call by timing, from results of earlier searches or by a new search.
//!
//! The seconds that a backend offers are an estimate. The fastest kernel on a machine is known only by timing, which takes
//! seconds for a network. So binding times nothing unless that is requested, and otherwise uses given
//! [results](KnownKernels) of earlier [searches](Search). A call is tuned only if it is at inference, has constant weights,
//! and can be run by several [algorithms](mxrs_op::Backend::algorithms). A result for one kind of device is not used
//! for another. This module knows no operators, files or processors. The code that stores results has to know for which
//! machine the results hold.

mod bench;
mod candidates;
mod known;
mod search;
#[cfg(test)]
mod tests;

pub use known::{KnownKernel, KnownKernels};
pub use search::{Search, TunedCall};

use crate::choose::{Choice, offers};
use mxrs_op::{Backend, OpCall, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::{DType, Device, Result};
use std::sync::Arc;

/// How the kernel of a call was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChosenBy {
    /// The kernel was chosen by the estimates of the backends, or because there was only one kernel.
    #[default]
    Estimate,
    /// The kernel was chosen by the result of a search in an earlier process.
    Cache,
    /// The kernel was chosen by a search in this process.
    Search,
}

impl ChosenBy {
    /// The word that reports use for this value.
    pub fn word(self) -> &'static str {
        match self {
            Self::Estimate => "estimate",
            Self::Cache => "cache",
            Self::Search => "search",
        }
    }
}

/// Settings for choosing kernels by timing. By default only estimates decide.
#[derive(Clone, Default)]
pub struct Tuning {
    /// Results of earlier searches. New results are added to it.
    pub known: Option<Arc<KnownKernels>>,
    /// Times the kernels of calls without a known result. If `None`, no kernel is timed.
    pub search: Option<Arc<Search>>,
    /// Element types of the data for which calls are tuned; `None` for all types.
    pub dtypes: Option<Vec<DType>>,
}

impl Tuning {
    /// The choice by a known result or a search; `None` if estimates decide.
    ///
    /// # Errors
    /// Returns the error of the callback that was given to [`Search::looked_on_by`].
    pub(crate) fn choose(
        &self,
        backends: &[Arc<dyn Backend>],
        call: &OpCall<'_>,
        (device, team): (Device, &Team),
        node: &str,
    ) -> Result<Option<Choice>> {
        let is_off = self.search.is_none() && self.known.as_ref().is_none_or(|known| known.is_empty());
        if is_off || !self.is_meant(call) {
            return Ok(None);
        }
        let key = key(call, device, backends);
        let is_to_do = |known: &KnownKernel| self.search.as_ref().is_some_and(|search| search.again && !known.is_new);
        let known = self.known.as_ref().and_then(|known| known.get(&key)).filter(|known| !is_to_do(known));
        if let Some(known) = known
            && let Some(choice) = known_choice(backends, call, &known)
        {
            if let Some(search) = &self.search {
                search.tell(&TunedCall::known(node, call, device, &known, &choice))?;
            }
            return Ok(Some(choice));
        }
        let Some(search) = &self.search else { return Ok(None) };
        let Some((choice, tuned, found)) = search.run(backends, call, (device, team), node) else { return Ok(None) };
        if let Some(known) = &self.known {
            known.add(key, found);
        }
        search.tell(&tuned)?;
        Ok(Some(choice))
    }

    /// Whether a call may be tuned: it is at inference, its data have a tuned type and are not constant, and its weight is
    /// constant.
    fn is_meant(&self, call: &OpCall<'_>) -> bool {
        let [data, ..] = call.inputs else { return false };
        let is_tuned = self.dtypes.as_ref().is_none_or(|dtypes| dtypes.contains(&data.dtype));
        is_tuned && !call.is_train && matches!(call.is_constant, [false, true, ..])
    }
}

/// The text of a call, by which results are stored: operator and parameters, and the types, shapes and layouts of inputs
/// and outputs. Unless the call is on the host, the kind of its device and the setup of its backends follow, which the
/// description of the machine does not contain.
fn key(call: &OpCall<'_>, device: Device, backends: &[Arc<dyn Backend>]) -> String {
    let list = |tensors: &[TensorDesc]| tensors.iter().map(TensorDesc::to_string).collect::<Vec<_>>().join(", ");
    let text = format!("{} {:?} of {} to {}", call.op.name, call.params, list(call.inputs), list(call.outputs));
    if device.is_host() {
        return text;
    }
    let setups = backends.iter().map(|backend| backend.setup()).filter(|setup| !setup.is_empty());
    let parts: Vec<String> = std::iter::once(format!("{text} on {}", device.kind.name())).chain(setups).collect();
    parts.join("; ")
}

/// The kernel that a result names, or `None` if no backend has it.
fn known_choice(backends: &[Arc<dyn Backend>], call: &OpCall<'_>, known: &KnownKernel) -> Option<Choice> {
    let backend = backends.iter().find(|backend| backend.name() == known.backend)?;
    backend.offer(call).ok()?;
    match backend.plan_algorithm(call, &known.algorithm) {
        Ok(planned) => {
            let chosen_by = if known.is_new { ChosenBy::Search } else { ChosenBy::Cache };
            Some(Choice { backend: backend.name(), planned, refusals: offers(backends, call).1, chosen_by })
        }
        Err(error) => {
            tracing::warn!(op = call.op.name, %error, "a result of kernel tuning is of no use here");
            None
        }
    }
}
