//! Failures of device work that have been reported.

use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{DeviceEvent, StreamId};
use std::collections::BTreeMap;

/// For each stream, the position up to which failures have been reported. A failed event at or before that position
/// keeps returning its failure, but the engine does not report the failure again: the variables that the failed work
/// wrote may be used, and their content is unspecified.
///
/// The engine queries it only for events that failed.
#[derive(Debug)]
pub struct ReportedFailures(RankedMutex<BTreeMap<StreamId, u64>>);

impl Default for ReportedFailures {
    fn default() -> Self {
        Self(RankedMutex::new(Rank::Leaf, BTreeMap::new()))
    }
}

impl ReportedFailures {
    /// Counts the failure of this event as reported. A failure at an earlier position of the same stream is the same
    /// failure.
    pub fn note(&self, event: &dyn DeviceEvent) {
        let (stream, place) = (event.stream(), event.place());
        let mut reported = self.0.lock();
        let known = reported.entry(stream).or_insert(0);
        *known = place.max(*known);
    }

    /// Whether the failure of this event has been reported.
    pub fn covers(&self, event: &dyn DeviceEvent) -> bool {
        let (stream, place) = (event.stream(), event.place());
        self.0.lock().get(&stream).is_some_and(|&known| place <= known)
    }
}
