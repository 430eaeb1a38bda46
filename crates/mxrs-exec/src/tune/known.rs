//! Results of searches. Each is stored under the text of its call.

use mxrs_sync::{Rank, RankedMutex};
use std::collections::BTreeMap;

/// The result of a search: the kernel that was fastest for a call.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownKernel {
    /// Name of the backend.
    pub backend: String,
    /// Name of the backend's [algorithm](mxrs_op::Backend::algorithms).
    pub algorithm: String,
    /// Seconds of a run, including copies to the layouts of the kernel.
    pub seconds: f64,
    /// Seconds of a run of the kernel that estimates would have chosen.
    pub seconds_of_estimate: f64,
    /// Whether the search was made in this process.
    pub is_new: bool,
}

/// Results of searches for one machine and one set of backends, shared by all graphs that are bound with them.
#[derive(Debug)]
pub struct KnownKernels(RankedMutex<BTreeMap<String, KnownKernel>>);

impl Default for KnownKernels {
    fn default() -> Self {
        Self::new([])
    }
}

impl KnownKernels {
    /// A collection with these results.
    pub fn new(results: impl IntoIterator<Item = (String, KnownKernel)>) -> Self {
        Self(RankedMutex::new(Rank::Leaf, results.into_iter().collect()))
    }

    /// Whether the collection has no results.
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// The result for a call, if there is one.
    pub fn get(&self, call: &str) -> Option<KnownKernel> {
        self.0.lock().get(call).cloned()
    }

    /// Adds the result for a call, or replaces it.
    pub fn add(&self, call: String, found: KnownKernel) {
        self.0.lock().insert(call, found);
    }

    /// All results that were found in this process.
    pub fn found(&self) -> Vec<(String, KnownKernel)> {
        let known = self.0.lock();
        known.iter().filter(|(_, known)| known.is_new).map(|(call, known)| (call.clone(), known.clone())).collect()
    }
}
