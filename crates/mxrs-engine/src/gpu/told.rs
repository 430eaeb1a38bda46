//! Failures of device work that somebody was told about.

use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{DeviceEvent, StreamId};
use std::collections::BTreeMap;

/// For each stream, the place up to which failures have been told. An event at or before it still reports its failure, as
/// events do, but nobody is told again: what it marks may be used, its content unspecified.
///
/// Asked only about events that failed.
#[derive(Debug)]
pub struct Told(RankedMutex<BTreeMap<StreamId, u64>>);

impl Default for Told {
    fn default() -> Self {
        Self(RankedMutex::new(Rank::Leaf, BTreeMap::new()))
    }
}

impl Told {
    /// The failure that this event reports has been told. What failed before it in its stream is the same failure.
    pub fn note(&self, event: &dyn DeviceEvent) {
        let (stream, place) = (event.stream(), event.place());
        let mut told = self.0.lock();
        let known = told.entry(stream).or_insert(0);
        *known = place.max(*known);
    }

    /// Whether the failure that this event reports has been told.
    pub fn covers(&self, event: &dyn DeviceEvent) -> bool {
        let (stream, place) = (event.stream(), event.place());
        self.0.lock().get(&stream).is_some_and(|&known| place <= known)
    }
}
