//! Automatic names: `convolution0`, `convolution1`, `relu0`.

use rustc_hash::FxHashMap;

/// Counts calls by operator name and returns `<lower-cased name><count>`, as MXNet's front ends do.
///
/// ```
/// let mut names = mxrs_graph::NameManager::new();
/// assert_eq!(names.next("FullyConnected"), "fullyconnected0");
/// assert_eq!(names.next("FullyConnected"), "fullyconnected1");
/// // An alias counts under its own spelling.
/// assert_eq!(names.next("_MulScalar"), "_mulscalar0");
/// assert_eq!(names.next("_mul_scalar"), "_mul_scalar0");
/// ```
#[derive(Clone, Debug, Default)]
pub struct NameManager {
    counts: FxHashMap<String, usize>,
}

impl NameManager {
    /// Makes a manager with all counters at 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next name for an operator spelled `op`.
    pub fn next(&mut self, op: &str) -> String {
        let hint = op.to_lowercase();
        let count = self.counts.entry(hint.clone()).or_insert(0);
        let name = format!("{hint}{count}");
        *count += 1;
        name
    }
}
