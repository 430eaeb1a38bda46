//! Interleavings of a team's threads with its caller: `cargo xtask loom`. T1 to T10 are the rules in `src/team/mod.rs`.
#![cfg(loom)]

use loom::sync::atomic::{AtomicUsize, Ordering};
use mxrs_sync::{Team, TeamConfig};
use std::num::NonZeroUsize;

/// Checks one team of `threads` threads that executes several runs in succession. Each element of `runs` is the number
/// of chunks of one run.
fn check(threads: usize, runs: &'static [usize], max_preemptions: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound.get_or_insert(max_preemptions);
    model.check(move || {
        let team = Team::new(TeamConfig { threads: NonZeroUsize::new(threads).unwrap(), cpus: None }).unwrap();
        for &n_chunks in runs {
            let hits: Vec<AtomicUsize> = (0..n_chunks).map(|_| AtomicUsize::new(0)).collect();
            team.run(n_chunks, &|i| {
                hits[i].fetch_add(1, Ordering::Relaxed);
            });
            assert!(hits.iter().all(|h| h.load(Ordering::Relaxed) == 1));
        }
    });
}

/// T2, T4, T5, T6, T7: no thread sleeps through a run, and all chunks are finished when `run` returns.
#[test]
fn fixed_chunks() {
    check(2, &[2], 4);
}

/// T1, T3: a thread may still be leaving a run when the next one begins.
#[test]
fn fixed_chunks_twice() {
    check(2, &[2, 2], 3);
}

/// T5: a thread that is late for a run finds no chunk left.
#[test]
fn dynamic_chunks() {
    check(2, &[3], 4);
}

/// T2, T5: a thread that saw the epoch of one run may take its first chunk only in the next run.
#[test]
fn dynamic_chunks_twice() {
    check(2, &[3, 3], 3);
}

/// T5: a thread that is late for a run whose chunks are taken from `left` joins a run whose chunks belong to threads by
/// number, and vice versa.
#[test]
fn dynamic_after_fixed_after_dynamic() {
    check(2, &[3, 2, 3], 2);
}

/// T5: a thread without a chunk neither works nor is waited for.
#[test]
fn fewer_chunks_than_threads() {
    check(3, &[2], 2);
}

/// T2, T5: two threads may be late for a run.
#[test]
fn dynamic_chunks_for_three() {
    check(3, &[4], 2);
}
