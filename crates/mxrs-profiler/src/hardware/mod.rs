//! Counters of the processor: cycles, instructions, cache references and misses, branch misses of the whole process.
//!
//! Linux counts them (`perf_event_open`). Many containers and virtual machines do not allow that; the profiler then warns once
//! and works without counters.

#[cfg(all(target_os = "linux", not(miri)))]
#[path = "linux.rs"]
mod system;
#[cfg(not(all(target_os = "linux", not(miri))))]
#[path = "none.rs"]
mod system;

use mxrs_trace::{Count, Event, Kinds, Label};
use std::time::{Duration, Instant};
use system::Counter;

/// The category of the counters.
pub(crate) const CATEGORY: &str = "Hardware";

/// The shortest time between two readings.
const PERIOD: Duration = Duration::from_millis(10);

/// What is counted, in the order in which the trace names it.
#[derive(Clone, Copy, Debug)]
enum What {
    Cycles,
    Instructions,
    CacheReferences,
    CacheMisses,
    BranchMisses,
}

impl What {
    const ALL: [Self; 5] =
        [Self::Cycles, Self::Instructions, Self::CacheReferences, Self::CacheMisses, Self::BranchMisses];

    fn name(self) -> &'static str {
        match self {
            Self::Cycles => "Cycles",
            Self::Instructions => "Instructions",
            Self::CacheReferences => "Cache references",
            Self::CacheMisses => "Cache misses",
            Self::BranchMisses => "Branch misses",
        }
    }
}

/// The open counters of the process.
pub(crate) struct Hardware {
    counters: Vec<(Label, Counter)>,
    read_at: Option<Instant>,
    /// The values of the last reading.
    values: Vec<u64>,
}

impl Hardware {
    /// Opens the counters. They begin to count later, and then count for the threads that exist now, for threads that these
    /// start, and for processes that they fork. Counters that the system refuses are left out, and a warning says why.
    pub(crate) fn open() -> Self {
        let mut counters = Vec::new();
        let mut refused: Vec<(&str, String)> = Vec::new();
        for what in What::ALL {
            match Counter::open(what) {
                Ok(counter) => counters.push((Label::of(what.name()), counter)),
                Err(reason) => refused.push((what.name(), reason)),
            }
        }
        if let Some((_, reason)) = refused.first() {
            let names: Vec<&str> = refused.iter().map(|(name, _)| *name).collect();
            tracing::warn!(target: "mxrs_profiler", "the system does not count {}: {reason}", names.join(", "));
        }
        Self { counters, read_at: None, values: Vec::new() }
    }

    /// Starts or stops counting.
    pub(crate) fn set_counting(&self, counts: bool) {
        self.counters.iter().for_each(|(_, counter)| counter.set_counting(counts));
    }

    /// Returns the counts so far as records with the time `at_ns`. Returns no records if the last reading was less than 10
    /// ms ago, or if the counts did not change. `is_last` says that no reading may follow: then readings are not left out
    /// for being too close.
    pub(crate) fn read(&mut self, at_ns: u64, is_last: bool) -> Vec<Event> {
        if !is_last && self.read_at.is_some_and(|at| at.elapsed() < PERIOD) {
            return Vec::new();
        }
        self.read_at = Some(Instant::now());
        let values: Vec<u64> = self.counters.iter_mut().map(|(_, counter)| counter.read()).collect();
        if values == self.values {
            return Vec::new();
        }
        let category = Label::of(CATEGORY);
        let record = |((name, _), value): (&(Label, Counter), &u64)| {
            Event::Count(Count { name: *name, category, at_ns, value: *value, kinds: Kinds::USER })
        };
        let records = self.counters.iter().zip(&values).map(record).collect();
        self.values = values;
        records
    }
}
