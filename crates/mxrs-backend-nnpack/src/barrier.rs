//! A loop over a team in phases: no thread starts a phase before all items of the previous phase are finished.
//!
//! A spin barrier would wait forever if the chunks of [`Team::run`](mxrs_sync::Team::run) run one after another, which
//! happens inside another loop, or while another thread uses the team. Here a thread takes items, first those of its
//! own part and then those that other parts have left. It waits only for items that another thread has taken and is
//! working on; a thread that comes late finds nothing to do. So all phases finish with any number of running threads.

use mxrs_sync::atomic::{AtomicUsize, Ordering};
use mxrs_sync::{hint, thread};

/// Polls after which a waiting thread yields its processor.
const POLLS: usize = 2000;

/// A counter in a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
struct Counter(AtomicUsize);

/// One phase: its items, divided into one part per thread.
#[derive(Debug)]
struct Phase {
    items: usize,
    /// For each part, how many of its items threads have started.
    next: Vec<Counter>,
    /// Items finished.
    done: Counter,
}

/// The progress of all phases.
#[derive(Debug)]
pub struct Phases {
    phases: Vec<Phase>,
    parts: usize,
}

impl Phases {
    /// Makes one phase per entry of `items`, for `parts` threads. An entry is the number of items of its phase.
    pub fn new(parts: usize, items: impl IntoIterator<Item = usize>) -> Self {
        let zero = || Counter(AtomicUsize::new(0));
        let phase = |items| Phase { items, next: (0..parts).map(|_| zero()).collect(), done: zero() };
        Self { phases: items.into_iter().map(phase).collect(), parts }
    }

    /// Index of the first item of a part.
    fn first(&self, items: usize, part: usize) -> usize {
        items * part / self.parts
    }

    /// Runs items of a phase until every item has been started: first those of part `part`, then those of the other
    /// parts. An item sees everything written by the phases that this thread has waited for.
    pub fn work(&self, phase: usize, part: usize, mut item: impl FnMut(usize)) {
        /// Counts an item as finished even if it panics, so that no thread waits forever.
        struct Done<'a>(&'a AtomicUsize);
        impl Drop for Done<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Release);
            }
        }
        let phase = &self.phases[phase];
        for other in 0..self.parts {
            let part = (part + other) % self.parts;
            let (first, end) = (self.first(phase.items, part), self.first(phase.items, part + 1));
            let next = &phase.next[part].0;
            // The load before `fetch_add` avoids a write to a cache line that another thread owns.
            while first + next.load(Ordering::Relaxed) < end {
                let i = first + next.fetch_add(1, Ordering::Relaxed);
                if i < end {
                    let _done = Done(&phase.done.0);
                    item(i);
                }
            }
        }
    }

    /// Waits until all items of a phase are finished, and makes their writes visible. Call it after
    /// [`work`](Self::work) on the same phase: then the only unfinished items are those that other threads are running.
    pub fn wait(&self, phase: usize) {
        let phase = &self.phases[phase];
        let mut polls = 0;
        while phase.done.0.load(Ordering::Acquire) < phase.items {
            polls += 1;
            if polls % POLLS == 0 {
                thread::yield_now();
            } else {
                hint::spin_loop();
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use mxrs_sync::{Team, TeamConfig};

    /// Each item adds up all results of the previous phase, so a wrong total shows that an item ran before that phase
    /// was finished.
    fn sums(team: &Team, parts: usize, phases: usize, items: usize) {
        let cells: Vec<Vec<AtomicUsize>> =
            (0..phases).map(|_| (0..items).map(|_| AtomicUsize::new(0)).collect()).collect();
        let board = Phases::new(parts, vec![items; phases]);
        team.run(parts, &|part| {
            for phase in 0..phases {
                board.work(phase, part, |i| {
                    let before =
                        if phase == 0 { 1 } else { cells[phase - 1].iter().map(|c| c.load(Ordering::Relaxed)).sum() };
                    cells[phase][i].fetch_add(before, Ordering::Relaxed);
                });
                board.wait(phase);
            }
        });
        for (phase, cells) in cells.iter().enumerate() {
            let each = items.pow(phase as u32);
            assert!(cells.iter().all(|c| c.load(Ordering::Relaxed) == each), "phase {phase}, {parts} parts");
        }
    }

    #[test]
    fn every_item_is_done_once_and_sees_the_phase_before() {
        for threads in 1..=4 {
            let config = TeamConfig { threads: std::num::NonZeroUsize::new(threads).unwrap(), cpus: None };
            let team = Team::new(config).unwrap();
            for items in [1, 2, 3, 7] {
                for _ in 0..20 {
                    sums(&team, threads, 5, items);
                }
            }
        }
    }

    #[test]
    fn parts_that_run_one_after_the_other_finish_too() {
        sums(&Team::serial(), 3, 4, 5);
    }
}
