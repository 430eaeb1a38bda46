//! The threads that sum one large array together.

use crate::{KvStoreOptions, SumWatch};
use mxrs_sync::{OnceLock, Team, TeamConfig, physical_cores};
use mxrs_types::Result;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The ranges of threads begin at multiples of this number of elements, so that two threads do not write the same cache
/// line.
const GRAIN: usize = 256;

/// In stores that sum on devices, the number of elements from which an array is summed by several threads.
const DEVICE_ELEMENTS: u64 = 1 << 18;

/// Splits loops over the elements of large arrays among threads. Results do not depend on the number of threads.
pub struct SumThreads {
    threads: usize,
    /// The number of elements from which an array counts as large.
    big_array_elements: u64,
    team: OnceLock<Arc<Team>>,
    watch: Option<SumWatch>,
}

impl SumThreads {
    /// Loops over at least `big_array_elements` elements are split among `threads` threads of `team`. Without a team, the
    /// first such loop starts one, with at most one thread per physical core.
    pub fn new(threads: NonZeroUsize, big_array_elements: u64, team: Option<Arc<Team>>) -> Arc<Self> {
        Arc::new(Self { threads: threads.get(), big_array_elements, team: cell_of(team), watch: None })
    }

    /// The threads of stores that sum on the host, for dense values.
    pub(crate) fn of_host(options: &KvStoreOptions) -> Arc<Self> {
        Self::of_options(options, options.reduction_threads.get(), options.big_array_elements)
    }

    /// The threads of stores that sum on devices, where the device is host memory: the whole team, as for an operator.
    /// MXNet's settings of threads do not apply to these stores.
    pub(crate) fn of_devices(options: &KvStoreOptions) -> Arc<Self> {
        Self::of_options(options, usize::MAX, DEVICE_ELEMENTS)
    }

    /// One thread for arrays of every size.
    pub(crate) fn single(options: &KvStoreOptions) -> Arc<Self> {
        Self::of_options(options, 1, u64::MAX)
    }

    fn of_options(options: &KvStoreOptions, threads: usize, big_array_elements: u64) -> Arc<Self> {
        let (team, watch) = (cell_of(options.team.clone()), options.watch.clone());
        Arc::new(Self { threads, big_array_elements, team, watch })
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
        self.run_units(n_elements, 1, body)
    }

    /// [`Self::run`] for an array of `n_units` rows or blocks of `width` elements. The ranges are ranges of units.
    ///
    /// # Errors
    /// Fails if the system refuses a thread.
    pub(crate) fn run_units(&self, n_units: usize, width: usize, body: &(dyn Fn(usize, usize) + Sync)) -> Result<()> {
        let body = |begin: usize, end: usize| {
            if let Some(watch) = &self.watch {
                watch((end - begin) * width);
            }
            body(begin, end);
        };
        if (n_units as u64).saturating_mul(width as u64) < self.big_array_elements || self.threads <= 1 {
            body(0, n_units);
            return Ok(());
        }
        let team = self.team()?;
        let n_parts = team.size().min(self.threads).max(1);
        let part = n_units.div_ceil(n_parts).next_multiple_of(GRAIN.div_ceil(width.max(1)));
        team.run(n_parts, &|i| {
            let (begin, end) = ((i * part).min(n_units), ((i + 1) * part).min(n_units));
            if begin < end {
                body(begin, end);
            }
        });
        Ok(())
    }
}

fn cell_of(team: Option<Arc<Team>>) -> OnceLock<Arc<Team>> {
    let cell = OnceLock::new();
    if let Some(team) = team {
        // The cell is empty, so `set` succeeds.
        let _ = cell.set(team);
    }
    cell
}

impl fmt::Debug for SumThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SumThreads")
            .field("threads", &self.threads)
            .field("big_array_elements", &self.big_array_elements)
            .finish_non_exhaustive()
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
    fn rows_are_not_cut() {
        let found = Mutex::new(Vec::new());
        let ranges = |width, n_rows, n_threads: usize| {
            // The team has as many threads as the machine has cores, so there may be fewer ranges than `n_threads`.
            let threads = SumThreads::new(NonZeroUsize::new(n_threads).unwrap(), 900, None);
            threads.run_units(n_rows, width, &|begin, end| found.lock().push((begin, end))).unwrap();
            let mut found = std::mem::take(&mut *found.lock());
            found.sort_unstable();
            found
        };
        assert_eq!(ranges(300, 2, 2), [(0, 2)], "600 elements");
        assert_eq!(ranges(300, 3, 1), [(0, 3)], "one thread");
        let several = ranges(300, 3, 2);
        assert!(several == [(0, 2), (2, 3)] || several == [(0, 3)], "{several:?}");
    }

    #[test]
    fn settings_of_threads_are_those_of_stores_that_sum_on_the_host() {
        let team = Team::new(TeamConfig { threads: NonZeroUsize::new(3).unwrap(), cpus: None }).unwrap();
        let parts = Arc::new(Mutex::new(0));
        let counter = parts.clone();
        let options = KvStoreOptions {
            reduction_threads: NonZeroUsize::new(2).unwrap(),
            big_array_elements: 5000,
            team: Some(team),
            watch: Some(Arc::new(move |_| *counter.lock() += 1)),
            ..KvStoreOptions::default()
        };
        let n_parts = |threads: Arc<SumThreads>, n| {
            threads.run(n, &|_, _| {}).unwrap();
            std::mem::take(&mut *parts.lock())
        };
        let large = DEVICE_ELEMENTS as usize;
        assert_eq!([4999, 5000, large].map(|n| n_parts(SumThreads::of_host(&options), n)), [1, 2, 2]);
        assert_eq!([5000, large - 1, large].map(|n| n_parts(SumThreads::of_devices(&options), n)), [1, 1, 3]);
        assert_eq!([5000, large].map(|n| n_parts(SumThreads::single(&options), n)), [1, 1]);
    }

    #[test]
    fn a_team_is_started_if_none_is_given() {
        let threads = SumThreads::new(NonZeroUsize::new(2).unwrap(), 10, None);
        let n = Mutex::new(0);
        threads.run(5000, &|begin, end| *n.lock() += end - begin).unwrap();
        assert_eq!(*n.lock(), 5000);
    }
}
