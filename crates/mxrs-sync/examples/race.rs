//! A loop with a deliberate data race: `cargo xtask tsan` must report it, which shows that the check works.
//!
//! With `--ordered` the same two threads write in two successive runs of the team, so that only the team orders the
//! writes. This must not be reported as a race.
#![allow(unsafe_code)]

use mxrs_sync::{Team, TeamConfig};
use std::cell::UnsafeCell;
use std::num::NonZeroUsize;

/// A number that any thread may write at any time.
struct Unguarded(UnsafeCell<u64>);

// SAFETY: this type is unsound on purpose; the race that it allows affects only a counter.
unsafe impl Sync for Unguarded {}

impl Unguarded {
    fn add_one(&self) {
        // SAFETY: the pointer is valid. Other threads may use it at the same time, which is the race to be reported.
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
