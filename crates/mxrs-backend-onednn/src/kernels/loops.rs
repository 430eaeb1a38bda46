//! What loops of our own share: ranges for the threads of a team, and pointers into tensors that they write.

use mxrs_sync::Team;
use std::ops::Range;

/// Elements below which one thread is faster than waking others.
const ELEMENTS_PER_THREAD: usize = 1 << 14;

/// A pointer the team's threads may share; each touches its own range.
#[derive(Clone, Copy)]
pub struct Shared<T>(pub *mut T);
// SAFETY: whoever makes one hands disjoint ranges to the threads, or only reads through it.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The element at `offset`.
    pub fn at(self, offset: usize) -> *mut T {
        self.0.wrapping_add(offset)
    }
}

/// Runs `body` over disjoint ranges that make up `0..n`, where each item costs about as much as `elements` elements of an
/// elementwise loop.
pub fn in_ranges(team: &Team, n: usize, elements: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
    let n_chunks = (n.saturating_mul(elements) / ELEMENTS_PER_THREAD).clamp(1, team.size()).min(n.max(1));
    let per_chunk = n.div_ceil(n_chunks);
    team.run(n_chunks, &|chunk| body((chunk * per_chunk).min(n)..((chunk + 1) * per_chunk).min(n)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_sync::TeamConfig;
    use mxrs_sync::atomic::{AtomicUsize, Ordering};
    use std::num::NonZeroUsize;

    #[test]
    fn every_item_is_in_one_range() {
        let threads = NonZeroUsize::new(3).expect("a positive number");
        let team = Team::new(TeamConfig { threads, cpus: None }).expect("threads can be started");
        for n in [0, 1, 2, 3, 7, 100] {
            let seen: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            in_ranges(&team, n, ELEMENTS_PER_THREAD, &|range| {
                range.for_each(|i| {
                    seen[i].fetch_add(1, Ordering::Relaxed);
                });
            });
            assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1), "{n} items");
        }
    }
}
