//! The steps of a random program: what they read and write, what they compute, and their serial execution.
//!
//! This file uses no type of the engine.

use rand::{Rng, RngExt};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variables of one step, by number; no variable is in both sets.
#[derive(Clone, Debug)]
pub struct Accesses {
    pub reads: BTreeSet<usize>,
    pub writes: BTreeSet<usize>,
}

impl Accesses {
    /// Draws up to three reads and two writes.
    pub fn random(rng: &mut impl Rng, n_vars: usize) -> Self {
        let mut pick = |most: usize| -> BTreeSet<usize> {
            (0..rng.random_range(0..=most)).map(|_| rng.random_range(0..n_vars)).collect()
        };
        let writes = pick(2);
        Self { reads: &pick(3) - &writes, writes }
    }

    /// Computes step `number`: what it stores depends on everything that it loads, and on its number.
    fn compute(&self, number: usize, load: impl Fn(usize) -> u64, store: impl Fn(usize, u64)) {
        let seen = self.reads.iter().fold(1, |h, &var| mix(number, var, h ^ load(var)));
        for &var in &self.writes {
            store(var, mix(number, var, seen ^ load(var)));
        }
    }

    /// Executes step `number` on shared values, and yields between its loads and stores.
    pub fn body(&self, number: usize, values: &Arc<Vec<AtomicU64>>) -> impl FnOnce() + Send + use<> {
        let (values, accesses) = (Arc::clone(values), self.clone());
        move || {
            let load = |var: usize| values[var].load(Ordering::Relaxed);
            accesses.compute(number, load, |var, value| {
                std::thread::yield_now();
                values[var].store(value, Ordering::Relaxed);
            });
        }
    }
}

/// The value that step `number` stores in variable `var`, computed from what it read.
fn mix(number: usize, var: usize, seen: u64) -> u64 {
    (seen ^ (number * 64 + var) as u64).wrapping_mul(0x100_0000_01b3).rotate_left(17)
}

/// The values before the first step.
pub fn zeros(n_vars: usize) -> Arc<Vec<AtomicU64>> {
    Arc::new((0..n_vars).map(|_| AtomicU64::new(0)).collect())
}

/// The values as plain numbers.
pub fn plain(values: &[AtomicU64]) -> Vec<u64> {
    values.iter().map(|value| value.load(Ordering::Relaxed)).collect()
}

/// The values after all steps, executed one after the other.
pub fn serially<'a>(steps: impl IntoIterator<Item = &'a Accesses>, n_vars: usize) -> Vec<u64> {
    let values = vec![Cell::new(0); n_vars];
    for (number, step) in steps.into_iter().enumerate() {
        step.compute(number, |var| values[var].get(), |var, value| values[var].set(value));
    }
    values.into_iter().map(Cell::into_inner).collect()
}
