//! Memory plans of bound graphs: where temporary values lie, and from which step to which.
//!
//! A plan is too large for a record, and there is one per graph rather than one per run. So plans wait in a list that the
//! collector takes.

// The standard library's lock even in tests with loom, because loom's locks cannot live in statics. The code only tries to
// take the lock and never waits for it, because a forked child may find it locked forever.
use std::sync::{Mutex, TryLockError};

/// The number of plans that wait at most; earlier ones are lost.
const MOST: usize = 8;
/// The number of attempts to lock the list of plans.
const TRIES: usize = 1000;

static WAITING: Mutex<Vec<MemoryPlan>> = Mutex::new(Vec::new());

/// A temporary value in the arena of a bound graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// The name of the value.
    pub name: String,
    /// The first byte in the arena.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The first step that uses the value.
    pub first_step: u64,
    /// The last step that uses the value.
    pub last_step: u64,
}

/// The memory plan of a bound graph on one device.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MemoryPlan {
    /// The name of the graph.
    pub name: String,
    /// The size of the arena in bytes.
    pub arena_bytes: u64,
    /// The number of steps.
    pub n_steps: u64,
    /// The temporary values.
    pub rectangles: Vec<Rectangle>,
}

/// Gives a plan to the collector. The plan is lost if other threads hold the list's lock during 1000 attempts.
pub fn note_plan(plan: MemoryPlan) {
    with_list(|waiting| {
        if waiting.len() == MOST {
            waiting.remove(0);
        }
        waiting.push(plan);
    });
}

/// The plans that wait, in the order in which they were given.
pub(crate) fn take_plans() -> Vec<MemoryPlan> {
    with_list(std::mem::take).unwrap_or_default()
}

fn with_list<R>(f: impl FnOnce(&mut Vec<MemoryPlan>) -> R) -> Option<R> {
    for _ in 0..TRIES {
        match WAITING.try_lock() {
            Ok(mut waiting) => return Some(f(&mut waiting)),
            Err(TryLockError::Poisoned(poisoned)) => return Some(f(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_plans_wait() {
        take_plans();
        for i in 0..MOST + 2 {
            note_plan(MemoryPlan { name: i.to_string(), ..MemoryPlan::default() });
        }
        let names: Vec<String> = take_plans().into_iter().map(|plan| plan.name).collect();
        assert_eq!(names, (2..MOST + 2).map(|i| i.to_string()).collect::<Vec<_>>());
        assert!(take_plans().is_empty());
    }
}
