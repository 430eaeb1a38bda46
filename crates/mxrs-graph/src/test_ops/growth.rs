//! Checks that work grows linearly with the size of the graph, by the ratio of two times. The times are measured
//! alternately, so that a busy machine slows down both.

use std::time::{Duration, Instant};

/// Runs the same work on a graph and on one that is `factor` times as large.
///
/// # Panics
/// If the large graph takes more than `3 * factor` times as long as the small one, each in the fastest of several runs.
pub fn growth_is_linear(factor: u32, small: impl Fn(), large: impl Fn()) {
    let took = |work: &dyn Fn()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let (mut least, mut most) = (Duration::MAX, Duration::MAX);
    for _ in 0..4 {
        least = least.min(took(&small));
        most = most.min(took(&large));
        if most < least * 3 * factor {
            return;
        }
    }
    panic!("{factor} times the size took {most:?} instead of {least:?}");
}
