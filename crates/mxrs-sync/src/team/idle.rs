//! How a waiting thread polls, and for how long before it sleeps.
//!
//! Waking a sleeping thread costs the waking thread a system call, and delays the loop by tens of microseconds. So a
//! waiting thread first polls for a time that is a little longer than the usual pause between two loops of one network.
//! After a wait longer than this time, the thread polls only half as long in the next wait. So the threads of a program
//! that rarely runs loops waste almost no time. A thread that has polled for long yields between two polls; if the team
//! has more threads than there are processors, it yields from the start.

use crate::{hint, thread};
use std::time::{Duration, Instant};

/// The longest time to poll.
const LONG: Duration = Duration::from_micros(250);
/// The shortest time to poll. The threads of an oversubscribed team never poll longer.
const SHORT: Duration = Duration::from_micros(20);
/// The time to poll without yielding.
const SELFISH: Duration = Duration::from_micros(150);
/// The number of polls between two readings of the clock.
const LOOKS: u32 = 32;

/// Whether the team has more threads than there are processors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Oversubscribed(bool);

impl Oversubscribed {
    /// Determines whether a team of `size` threads is oversubscribed.
    pub(super) fn ask(size: usize) -> Self {
        if cfg!(loom) || size == 1 {
            return Self(false);
        }
        Self(std::thread::available_parallelism().is_ok_and(|processors| size > processors.get()))
    }
}

/// The polling state of one thread.
#[derive(Debug)]
pub(super) struct Idle {
    looks: u32,
    /// The start of the current wait, set when the clock is first read in it, after [`LOOKS`] polls.
    since: Option<Instant>,
    patience: Duration,
    oversubscribed: Oversubscribed,
}

impl Idle {
    pub(super) fn new(oversubscribed: Oversubscribed) -> Self {
        Self { looks: 0, since: None, patience: longest(oversubscribed), oversubscribed }
    }

    /// Called after each unsuccessful poll; false if it is time to sleep.
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
        if self.oversubscribed.0 || waited > SELFISH {
            thread::yield_now();
        }
        waited < self.patience
    }

    /// Ends a wait in which the thread slept. The next wait polls for the longest time if that would have sufficed for
    /// this wait, otherwise for half as long as this wait polled.
    pub(super) fn slept(&mut self) {
        if let Some(since) = self.since {
            self.patience = next_patience(self.patience, since.elapsed(), longest(self.oversubscribed));
        }
    }

    /// Starts a new wait.
    #[inline]
    pub(super) fn restart(&mut self) {
        self.looks = 0;
        self.since = None;
    }
}

fn longest(oversubscribed: Oversubscribed) -> Duration {
    if oversubscribed.0 { SHORT } else { LONG }
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
        let mut idle = Idle::new(Oversubscribed(false));
        let started = Instant::now();
        while idle.look_again() {}
        assert!(started.elapsed() >= LONG);
        idle.restart();
        assert!(idle.look_again(), "a new wait is patient again");
    }
}
