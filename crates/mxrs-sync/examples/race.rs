//! A loop whose chunks write to one place, on purpose: what `cargo xtask tsan` has to report before it is believed.
//!
//! With `--ordered` the same two threads write one after the other, in two runs with nothing but the team between them:
//! what it must not report.
#![allow(unsafe_code)]

use mxrs_sync::{Team, TeamConfig};
use std::cell::UnsafeCell;
use std::num::NonZeroUsize;

/// A number that anybody may write to at any time.
struct Unguarded(UnsafeCell<u64>);

// SAFETY: none; that is the point. Nothing but a counter is at stake.
unsafe impl Sync for Unguarded {}

impl Unguarded {
    fn add_one(&self) {
        // SAFETY: the pointer is valid; that other threads may use it too is what this program shows.
        unsafe { *self.0.get() += 1 };
    }
}

fn main() -> Result<(), mxrs_types::Error> {
    let ordered = std::env::args().any(|arg| arg == "--ordered");
    let team = Team::new(TeamConfig { threads: const { NonZeroUsize::new(2).unwrap() }, cpus: None })?;
    let number = Unguarded(UnsafeCell::new(0));
    for round in 0..1000 {
        team.run(2, &|thread| {
            if !ordered || thread == round % 2 {
                number.add_one();
            }
        });
    }
    println!("{} of {} additions counted", number.0.into_inner(), if ordered { 1000 } else { 2000 });
    Ok(())
}
