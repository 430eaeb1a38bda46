//! Which of several kernels runs a call, where timing may decide: results of earlier searches, and the search itself.
//!
//! The seconds that a backend offers are an estimate. What is fastest on a machine is known only by trying, which takes seconds for a network; so
//! binding tries nothing unless asked to, and takes the results of earlier [searches](Search) that it is [given](KnownKernels).
//! Calls at inference whose weights are constant are concerned, and of those only the ones that can be run in several
//! [ways](mxrs_op::Backend::ways). This module knows no operator, no file and no processor: whoever keeps results knows
//! what they belong to.

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
use mxrs_types::{DType, Result};
use std::sync::Arc;

/// Where the choice of a kernel comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChosenBy {
    /// The seconds that backends estimate, or there was nothing to choose from.
    #[default]
    Estimate,
    /// The result of an earlier search.
    Cache,
    /// A search in this process.
    Search,
}

impl ChosenBy {
    /// A word for reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Estimate => "estimate",
            Self::Cache => "cache",
            Self::Search => "search",
        }
    }
}

/// What decides besides estimates; nothing, by default.
#[derive(Clone, Default)]
pub struct Tuning {
    /// Results of searches, which new ones are added to.
    pub known: Option<Arc<KnownKernels>>,
    /// Tries the kernels of calls that no result is known of; nothing is tried without.
    pub search: Option<Arc<Search>>,
    /// Element types of the data for which anything but estimates decides; `None` for all.
    pub dtypes: Option<Vec<DType>>,
}

impl Tuning {
    /// The choice, where it is not to be made by estimates.
    ///
    /// # Errors
    /// What whoever looks on at a search reports.
    pub(crate) fn choose(
        &self,
        backends: &[Arc<dyn Backend>],
        call: &OpCall<'_>,
        team: &Team,
        node: &str,
    ) -> Result<Option<Choice>> {
        let is_off = self.search.is_none() && self.known.as_ref().is_none_or(|known| known.is_empty());
        if is_off || !self.is_meant(call) {
            return Ok(None);
        }
        let key = key(call);
        let is_to_do = |known: &KnownKernel| self.search.as_ref().is_some_and(|search| search.again && !known.is_new);
        let known = self.known.as_ref().and_then(|known| known.get(&key)).filter(|known| !is_to_do(known));
        if let Some(known) = known
            && let Some(choice) = known_choice(backends, call, &known)
        {
            if let Some(search) = &self.search {
                search.tell(&TunedCall::known(node, call, &known, &choice))?;
            }
            return Ok(Some(choice));
        }
        let Some(search) = &self.search else { return Ok(None) };
        let Some((choice, tuned, found)) = search.run(backends, call, team, node) else { return Ok(None) };
        if let Some(known) = &self.known {
            known.add(key, found);
        }
        search.tell(&tuned)?;
        Ok(Some(choice))
    }

    /// Whether timing may decide: inference, data of such a type, constant weights and data that are not.
    fn is_meant(&self, call: &OpCall<'_>) -> bool {
        let [data, ..] = call.inputs else { return false };
        let is_tuned = self.dtypes.as_ref().is_none_or(|dtypes| dtypes.contains(&data.dtype));
        is_tuned && !call.is_train && matches!(call.is_constant, [false, true, ..])
    }
}

/// A call as text, what a result is found by: operator and parameters, what goes in with its layouts, and what comes out.
fn key(call: &OpCall<'_>) -> String {
    let list = |tensors: &[TensorDesc]| tensors.iter().map(TensorDesc::to_string).collect::<Vec<_>>().join(", ");
    format!("{} {:?} of {} to {}", call.op.name, call.params, list(call.inputs), list(call.outputs))
}

/// The kernel that a result names, unless nobody here has it.
fn known_choice(backends: &[Arc<dyn Backend>], call: &OpCall<'_>, known: &KnownKernel) -> Option<Choice> {
    let backend = backends.iter().find(|backend| backend.name() == known.backend)?;
    backend.offer(call).ok()?;
    match backend.plan_way(call, &known.way) {
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
