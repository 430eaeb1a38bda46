//! How long a thread looks for what it waits for before it sleeps, and how it looks.
//!
//! Waking a sleeper costs the waker a system call and the loop tens of microseconds, so a thread that had work a moment ago
//! keeps looking, a little longer than the pauses between the loops of one network. It learns: after a wait longer than
//! that it looks half as long the next time, so that a program that calls now and then pays next to nothing for the
//! threads it does not use. Whoever has looked for long lets others have the processor between two looks; where
//! the team has more threads than there are processors, from the start.

use crate::{hint, thread};
use std::time::{Duration, Instant};

/// Longest time to look.
const LONG: Duration = Duration::from_micros(250);
/// Shortest time to look, and the longest for a crowded team.
const SHORT: Duration = Duration::from_micros(20);
/// Time to look without letting others run.
const SELFISH: Duration = Duration::from_micros(150);
/// Looks between two readings of the clock.
const LOOKS: u32 = 32;

/// Whether there are more threads than processors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crowded(bool);

impl Crowded {
    /// For a team of `size`.
    pub(super) fn ask(size: usize) -> Self {
        if cfg!(loom) || size == 1 {
            return Self(false);
        }
        Self(std::thread::available_parallelism().is_ok_and(|processors| size > processors.get()))
    }
}

/// One thread's waits.
#[derive(Debug)]
pub(super) struct Idle {
    looks: u32,
    /// Start of the present wait, noted when it is no longer a short one.
    since: Option<Instant>,
    patience: Duration,
    crowded: Crowded,
}

impl Idle {
    pub(super) fn new(crowded: Crowded) -> Self {
        Self { looks: 0, since: None, patience: longest(crowded), crowded }
    }

    /// To be called after each look in vain; false when it is time to sleep.
    #[inline]
    pub(super) fn look_again(&mut self) -> bool {
        if cfg!(loom) {
            return false;
        }
        hint::spin_loop();
        self.looks = self.looks.wrapping_add(1);
        !self.looks.is_multiple_of(LOOKS) || self.is_patient()
    }

    #[cold]
    fn is_patient(&mut self) -> bool {
        let waited = self.since.get_or_insert_with(Instant::now).elapsed();
        if self.crowded.0 || waited > SELFISH {
            thread::yield_now();
        }
        waited < self.patience
    }

    /// The wait is over after a sleep: next time looks as long as would have sufficed, or else half as long.
    pub(super) fn slept(&mut self) {
        if let Some(since) = self.since {
            self.patience = next_patience(self.patience, since.elapsed(), longest(self.crowded));
        }
    }

    /// A new wait begins.
    #[inline]
    pub(super) fn restart(&mut self) {
        self.looks = 0;
        self.since = None;
    }
}

fn longest(crowded: Crowded) -> Duration {
    if crowded.0 { SHORT } else { LONG }
}

fn next_patience(patience: Duration, waited: Duration, longest: Duration) -> Duration {
    if waited < longest { longest } else { (patience / 2).max(SHORT) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn rare_work_is_not_waited_for_and_frequent_work_is() {
        let (rare, frequent) = (Duration::from_millis(5), LONG / 2);
        let patience = (0..10).fold(LONG, |patience, _| next_patience(patience, rare, LONG));
        assert_eq!(patience, SHORT);
        assert_eq!(next_patience(patience, frequent, LONG), LONG);
    }

    #[test]
    fn every_wait_ends() {
        let mut idle = Idle::new(Crowded(false));
        let started = Instant::now();
        while idle.look_again() {}
        assert!(started.elapsed() >= LONG);
        idle.restart();
        assert!(idle.look_again(), "a new wait is patient again");
    }
}
