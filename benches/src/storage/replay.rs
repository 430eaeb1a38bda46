//! Replays a trace on a heap, to measure the time of its calls and the most bytes that the heap holds.

use super::Heap;
use crate::traces::{Event, Trace, resnet50_training, variable_length_recurrent};
use anyhow::{Result, bail};
use std::time::Instant;

/// Names of the traces in the comparison.
pub const WORDS: [&str; 2] = ["resnet-50 training", "variable-length recurrent"];

/// The trace with this name. `n_iterations` is its number of training steps.
///
/// # Errors
/// Fails if no trace has this name.
pub fn trace(word: &str, n_iterations: usize) -> Result<Trace> {
    match word {
        "resnet-50 training" => Ok(resnet50_training(32, n_iterations)),
        "variable-length recurrent" => Ok(variable_length_recurrent(n_iterations, 1)),
        _ => bail!("no trace is called {word}"),
    }
}

/// Slots for the live blocks of a trace. They are reused in every replay, so that a replay allocates nothing else.
pub struct Table<B>(Vec<Option<B>>);

impl<B> Table<B> {
    /// A table with enough slots for this trace.
    pub fn of(trace: &Trace) -> Self {
        Self((0..trace.n_ids).map(|_| None).collect())
    }
}

/// Replays the trace; returns nanoseconds per pair of allocation and release.
///
/// # Errors
/// Fails if the heap has not enough memory.
pub fn replay<H: Heap>(heap: &H, trace: &Trace, table: &mut Table<H::Block>) -> Result<f64> {
    let started = Instant::now();
    for event in &trace.events {
        match *event {
            Event::Alloc { id, bytes } => table.0[id] = Some(heap.allocate(bytes)?),
            Event::Free { id } => table.0[id] = None,
        }
    }
    Ok(started.elapsed().as_secs_f64() * 1e9 / trace.n_allocations().max(1) as f64)
}

/// Replays the trace; returns how many bytes more than at the start the heap held at its peak.
///
/// # Errors
/// Fails if the heap has not enough memory.
pub fn most_held<H: Heap>(heap: &H, trace: &Trace) -> Result<u64> {
    let mut table = Table::of(trace);
    let before = heap.held();
    let mut most = 0;
    for event in &trace.events {
        match *event {
            Event::Alloc { id, bytes } => {
                table.0[id] = Some(heap.allocate(bytes)?);
                if before.peak.is_none() {
                    most = most.max(heap.held().now);
                }
            }
            Event::Free { id } => table.0[id] = None,
        }
    }
    Ok(heap.held().peak.unwrap_or(most).saturating_sub(before.now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::heap::Pool;
    use mxrs_storage::PoolKind;

    #[test]
    fn a_heap_holds_at_least_the_peak_of_what_is_live() {
        for word in WORDS {
            let trace = trace(word, 2).unwrap();
            for kind in PoolKind::ALL {
                let held = most_held(&Pool::new(kind).unwrap(), &trace).unwrap();
                assert!(held >= trace.peak_live(), "{word}, {kind}: {held} < {}", trace.peak_live());
            }
            // The Unpooled strategy holds only live blocks, each rounded up to whole pages.
            let held = most_held(&Pool::new(PoolKind::Unpooled).unwrap(), &trace).unwrap();
            assert!(held < trace.peak_live() + (1 << 24), "{word}: {held}, live {}", trace.peak_live());
        }
    }

    #[test]
    fn a_replay_leaves_nothing_live_and_can_be_repeated() {
        let trace = trace(WORDS[1], 2).unwrap();
        let pool = Pool::new(PoolKind::Unpooled).unwrap();
        let mut table = Table::of(&trace);
        for _ in 0..2 {
            assert!(replay(&pool, &trace, &mut table).unwrap() > 0.0);
            assert_eq!(pool.held().now, 0);
        }
    }
}
