//! Tests that the adapter runs every item of a loop exactly once, even if the pool does not.

use super::Shared;
use crate::ThreadPool;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A pool whose `parallel_for` is the given function.
struct Scripted(fn(usize, &(dyn Fn(usize) + Sync)));

impl ThreadPool for Scripted {
    fn n_threads(&self) -> usize {
        2
    }
    fn in_parallel(&self) -> bool {
        false
    }
    fn parallel_for(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        (self.0)(n, body);
    }
}

/// Runs a loop of five items on a pool with this function. Returns how often each item ran, and the message of the panic
/// that the adapter kept.
fn run_five(script: fn(usize, &(dyn Fn(usize) + Sync))) -> (Vec<usize>, Option<String>) {
    let shared = Shared::new(Arc::new(Scripted(script)));
    let runs: Vec<AtomicUsize> = (0..5).map(|_| AtomicUsize::new(0)).collect();
    shared.run(5, &|i| {
        runs[i].fetch_add(1, Ordering::Relaxed);
    });
    (runs.into_iter().map(AtomicUsize::into_inner).collect(), shared.take_panic())
}

#[test]
fn items_run_once_whatever_the_pool_does() {
    assert_eq!(run_five(|n, body| (0..n).for_each(body)), (vec![1; 5], None), "as it should be");
    assert_eq!(run_five(|_, _| {}), (vec![1; 5], None), "pool that does nothing");
    assert_eq!(run_five(|n, body| (0..2 * n).for_each(|i| body(i % 3))), (vec![1; 5], None), "repeats and leaves out");
    assert_eq!(run_five(|n, body| (0..n + 7).rev().for_each(body)), (vec![1; 5], None), "goes beyond the end");
}

#[test]
fn a_panic_of_the_pool_is_kept_and_the_loop_is_finished() {
    let (runs, panic) = run_five(|_, body| {
        body(3);
        panic!("worker {} is gone", 1);
    });
    assert_eq!(runs, vec![1; 5]);
    assert_eq!(panic.as_deref(), Some("worker 1 is gone"));
}
