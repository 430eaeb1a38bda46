//! The time of records: nanoseconds of one monotonic clock.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The moment 0 of the clock, and the same moment as nanoseconds since 1970.
static ZERO: OnceLock<(Instant, u64)> = OnceLock::new();

fn zero() -> &'static (Instant, u64) {
    ZERO.get_or_init(|| {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (Instant::now(), u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX))
    })
}

/// Nanoseconds since moment 0 of this process. In a forked child the clock of the parent continues.
#[inline]
#[must_use]
pub fn now_ns() -> u64 {
    // A process that runs for 500 years would overflow this.
    zero().0.elapsed().as_nanos() as u64
}

/// Moment 0 of [`now_ns`] in nanoseconds since 1970, by the system's clock. It relates the times of different processes to
/// one another.
#[must_use]
pub fn zero_wall_ns() -> u64 {
    zero().1
}
