//! Checks that the time of a pass grows linearly with the size of the graph, by the ratio of the times for two graphs. Both
//! are measured alternately, so that a busy machine slows down both.

use std::time::{Duration, Instant};

/// Times `small`, which works on a graph, and `large`, which does the same on a graph that is `factor` times as large.
///
/// # Panics
/// Panics if `large` takes more than `3 * factor` times as long as `small`. The times are those of the fastest of
/// several runs.
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
