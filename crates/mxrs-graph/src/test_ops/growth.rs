//! Whether work grows with the size of the graph and not with its square: a ratio of two times, taken in turn so that a busy
//! machine slows both.

use std::time::{Duration, Instant};

/// Runs the same work on a graph and on one that is `factor` times as large.
///
/// # Panics
/// When the large one takes more than three times `factor` of the time of the small one, each at its best of several runs.
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
