//! Phases of a loop over a team: nobody goes on before the items of a phase are finished, whoever has done them.
//!
//! A spin barrier would hang where the chunks of [`Team::run`](mxrs_sync::Team::run) run one after the other: inside another
//! loop, or while somebody else has the team. Here a thread takes items (its own part first, then what others have left) and
//! waits only for items that somebody has taken and is working on; a thread that comes late finds nothing to do. So any
//! number of threads, at any time, finish all phases.

use mxrs_sync::atomic::{AtomicUsize, Ordering};
use mxrs_sync::{hint, thread};

/// Looks before a waiting thread offers its processor to others.
const LOOKS: usize = 2000;

/// A counter in a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
struct Counter(AtomicUsize);

/// One phase: items shared out over parts.
#[derive(Debug)]
struct Phase {
    items: usize,
    /// Per part, the next item that nobody has taken.
    next: Vec<Counter>,
    /// Items finished.
    done: Counter,
}

/// What has been taken and finished of each phase.
#[derive(Debug)]
pub struct Phases {
    phases: Vec<Phase>,
    parts: usize,
}

impl Phases {
    /// Phases with so many items each, for `parts` threads.
    pub fn new(parts: usize, items: impl IntoIterator<Item = usize>) -> Self {
        let zero = || Counter(AtomicUsize::new(0));
        let phase = |items| Phase { items, next: (0..parts).map(|_| zero()).collect(), done: zero() };
        Self { phases: items.into_iter().map(phase).collect(), parts }
    }

    /// First item of a part.
    fn first(&self, items: usize, part: usize) -> usize {
        items * part / self.parts
    }

    /// Does items of a phase until all are taken: those of part `part`, then those of others. What earlier waits have shown
    /// is visible to the items.
    pub fn work(&self, phase: usize, part: usize, mut item: impl FnMut(usize)) {
        /// Counts an item as finished even if it panics, so that nobody waits for ever.
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
            // The first look saves a write to somebody else's line.
            while first + next.load(Ordering::Relaxed) < end {
                let i = first + next.fetch_add(1, Ordering::Relaxed);
                if i < end {
                    let _done = Done(&phase.done.0);
                    item(i);
                }
            }
        }
    }

    /// Waits until all items of a phase are finished; what they wrote is then visible. Call it after [`work`](Self::work) on
    /// the same phase, which leaves only items that somebody is doing.
    pub fn wait(&self, phase: usize) {
        let phase = &self.phases[phase];
        let mut looks = 0;
        while phase.done.0.load(Ordering::Acquire) < phase.items {
            looks += 1;
            if looks % LOOKS == 0 {
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

    /// Each phase adds up what the one before has written; every item must see all of it.
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
