//! Results of searches, by call.

use mxrs_sync::{Rank, RankedMutex};
use std::collections::BTreeMap;

/// What was found to be fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownKernel {
    /// Backend.
    pub backend: String,
    /// Its [way](mxrs_op::Backend::ways) to run the call.
    pub way: String,
    /// Seconds of a run, copies to its layouts included.
    pub seconds: f64,
    /// Seconds of what estimates would have taken.
    pub seconds_of_estimate: f64,
    /// Whether it was found in this process.
    pub is_new: bool,
}

/// Results of searches that hold for this machine and these backends, shared by everything that is bound with them.
#[derive(Debug)]
pub struct KnownKernels(RankedMutex<BTreeMap<String, KnownKernel>>);

impl Default for KnownKernels {
    fn default() -> Self {
        Self::new([])
    }
}

impl KnownKernels {
    /// These results.
    pub fn new(results: impl IntoIterator<Item = (String, KnownKernel)>) -> Self {
        Self(RankedMutex::new(Rank::Leaf, results.into_iter().collect()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// The result for a call.
    pub fn get(&self, call: &str) -> Option<KnownKernel> {
        self.0.lock().get(call).cloned()
    }

    /// Adds a result, or replaces one.
    pub fn add(&self, call: String, found: KnownKernel) {
        self.0.lock().insert(call, found);
    }

    /// All results that were found in this process.
    pub fn found(&self) -> Vec<(String, KnownKernel)> {
        let known = self.0.lock();
        known.iter().filter(|(_, known)| known.is_new).map(|(call, known)| (call.clone(), known.clone())).collect()
    }
}
