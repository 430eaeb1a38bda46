//! Splitting loops over the threads of the team.

use mxrs_sync::Team;
use std::ops::Range;

/// Elements below which one thread is faster than waking others.
const ELEMENTS_PER_THREAD: usize = 1 << 14;

/// Runs `body` over disjoint ranges that make up `0..n`, where each item costs about as much as `elements` elements of an
/// elementwise loop.
pub fn in_ranges(team: &Team, n: usize, elements: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
    in_numbered_ranges(team, usize::MAX, n, elements, &|range, _| body(range));
}

/// As [`in_ranges`], in at most `most` ranges (and at least one); the second argument says which range it is.
pub fn in_numbered_ranges(
    team: &Team,
    most: usize,
    n: usize,
    elements: usize,
    body: &(dyn Fn(Range<usize>, usize) + Sync),
) {
    let wanted = n.saturating_mul(elements) / ELEMENTS_PER_THREAD;
    let n_chunks = wanted.min(team.size()).min(most).min(n).max(1);
    let per_chunk = n.div_ceil(n_chunks);
    team.run(n_chunks, &|chunk| body((chunk * per_chunk).min(n)..((chunk + 1) * per_chunk).min(n), chunk));
}

/// As [`in_ranges`], over elements: ranges begin at multiples of a cache line.
pub fn in_element_ranges(team: &Team, n: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
    const LINE: usize = 64;
    in_ranges(team, n.div_ceil(LINE), LINE, &|lines| body((lines.start * LINE).min(n)..(lines.end * LINE).min(n)));
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
        for n in [0, 1, 2, 3, 7, 63, 65, 1000] {
            let seen: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            let count = |range: Range<usize>| {
                range.for_each(|i| {
                    seen[i].fetch_add(1, Ordering::Relaxed);
                });
            };
            in_ranges(&team, n, ELEMENTS_PER_THREAD, &count);
            in_element_ranges(&team, n, &count);
            assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 2), "{n} items");
        }
    }
}
