//! Counters on a system without `perf_event_open`: there are none.

use super::What;

/// A counter that cannot be opened.
pub(super) enum Counter {}

impl Counter {
    /// Opens nothing.
    ///
    /// # Errors
    /// Always.
    pub(super) fn open(_: What) -> Result<Self, String> {
        Err("it is not Linux".to_owned())
    }

    pub(super) fn set_counting(&self, _: bool) {
        match *self {}
    }

    pub(super) fn read(&mut self) -> u64 {
        match *self {}
    }
}
