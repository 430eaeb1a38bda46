//! The threads that sum one large array together.

use mxrs_sync::{OnceLock, Team, TeamConfig, physical_cores};
use mxrs_types::Result;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Number of elements that a thread's part is a multiple of, so that threads do not share cache lines.
const GRAIN: usize = 256;

/// Splits loops over the elements of large arrays among threads. Results do not depend on the number of threads.
#[derive(Debug)]
pub struct SumThreads {
    threads: usize,
    /// The fewest elements of a large array.
    big_array_elements: u64,
    team: OnceLock<Arc<Team>>,
}

impl SumThreads {
    /// Loops over at least `big_array_elements` elements are split among `threads` threads of `team`. Without a team, the
    /// first such loop starts one, with at most one thread per physical core.
    pub fn new(threads: NonZeroUsize, big_array_elements: u64, team: Option<Arc<Team>>) -> Arc<Self> {
        let cell = OnceLock::new();
        if let Some(team) = team {
            // The cell is empty, so `set` succeeds.
            let _ = cell.set(team);
        }
        Arc::new(Self { threads: threads.get(), big_array_elements, team: cell })
    }

    fn team(&self) -> Result<&Team> {
        if let Some(team) = self.team.get() {
            return Ok(team);
        }
        let threads = NonZeroUsize::new(self.threads.min(physical_cores())).unwrap_or(NonZeroUsize::MIN);
        let team = Team::new(TeamConfig { threads, cpus: None })?;
        Ok(self.team.get_or_init(|| team))
    }

    /// Calls `body(begin, end)` for ranges that cover `0..n_elements`, on several threads if the array is large.
    ///
    /// # Errors
    /// Fails if the system refuses a thread.
    pub(crate) fn run(&self, n_elements: usize, body: &(dyn Fn(usize, usize) + Sync)) -> Result<()> {
        if (n_elements as u64) < self.big_array_elements || self.threads <= 1 {
            body(0, n_elements);
            return Ok(());
        }
        let team = self.team()?;
        let n_parts = team.size().min(self.threads).max(1);
        let part = n_elements.div_ceil(n_parts).next_multiple_of(GRAIN);
        team.run(n_parts, &|i| {
            let (begin, end) = ((i * part).min(n_elements), ((i + 1) * part).min(n_elements));
            if begin < end {
                body(begin, end);
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_sync::Mutex;

    fn ranges(threads: usize, bound: u64, n: usize) -> Vec<(usize, usize)> {
        let threads = NonZeroUsize::new(threads).unwrap();
        let team = Team::new(TeamConfig { threads, cpus: None }).unwrap();
        let found = Mutex::new(Vec::new());
        SumThreads::new(threads, bound, Some(team)).run(n, &|b, e| found.lock().push((b, e))).unwrap();
        let mut found = std::mem::take(&mut *found.lock());
        found.sort_unstable();
        found
    }

    #[test]
    fn only_large_arrays_are_split() {
        assert_eq!(ranges(3, 1000, 999), [(0, 999)]);
        assert_eq!(ranges(3, 1000, 1000), [(0, 512), (512, 1000)]);
        assert_eq!(ranges(1, 1000, 1000), [(0, 1000)]);
        assert_eq!(ranges(2, 1, 1), [(0, 1)]);
        for n in [1, 255, 256, 257, 5000, 100_001] {
            let ranges = ranges(4, 1, n);
            assert_eq!((ranges[0].0, ranges.last().unwrap().1), (0, n));
            assert!(ranges.windows(2).all(|pair| pair[0].1 == pair[1].0), "{ranges:?}");
        }
    }

    #[test]
    fn a_team_is_started_if_none_is_given() {
        let threads = SumThreads::new(NonZeroUsize::new(2).unwrap(), 10, None);
        let n = Mutex::new(0);
        threads.run(5000, &|begin, end| *n.lock() += end - begin).unwrap();
        assert_eq!(*n.lock(), 5000);
    }
}
