//! Every interleaving of one team thread with its caller: `RUSTFLAGS="--cfg loom" cargo test -p mxrs-sync --release`.
#![cfg(loom)]

use loom::sync::atomic::{AtomicUsize, Ordering};
use mxrs_sync::{Team, TeamConfig};
use std::num::NonZeroUsize;

fn check(n_chunks: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let team = Team::new(TeamConfig { threads: NonZeroUsize::new(2).unwrap(), cpus: None }).unwrap();
        let hits: Vec<AtomicUsize> = (0..n_chunks).map(|_| AtomicUsize::new(0)).collect();
        team.run(n_chunks, &|i| {
            hits[i].fetch_add(1, Ordering::Relaxed);
        });
        assert!(hits.iter().all(|h| h.load(Ordering::Relaxed) == 1));
    });
}

/// T2, T4, T6, T7: nobody sleeps through a call, and nobody is inside when `run` returns.
#[test]
fn fixed_chunks() {
    check(2);
}

/// T5: a late thread finds the door closed.
#[test]
fn dynamic_chunks() {
    check(3);
}
