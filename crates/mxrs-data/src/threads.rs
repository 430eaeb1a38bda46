//! Threads that share the work on one image.

use mxrs_sync::{Arc, Mutex, Team};
use mxrs_types::Result;

/// Smallest number of values per thread. Processing this number of values takes about ten microseconds. With fewer, an
/// additional thread costs more than it saves.
const MIN_SHARE: usize = 1 << 14;

/// Threads that share the work on one image: by default only the calling thread, otherwise a [`Team`].
///
/// Results do not depend on the number of threads. Resizing and preprocessing divide the rows of an image among the threads.
/// Decoding is sequential, so it stays on the calling thread.
///
/// ```
/// use mxrs_data::{DecodeLimits, Image, ImageThreads, resize, resize_on};
/// use mxrs_sync::{Team, TeamConfig};
///
/// let team = Team::new(TeamConfig { threads: 2.try_into().unwrap(), cpus: None })?;
/// let image = Image::new(2, 2, 1, vec![0, 50, 100, 150])?;
/// let limits = DecodeLimits::default();
/// let threads = ImageThreads::team(team);
/// assert_eq!(resize_on(&threads, &image, 300, 300, &limits)?, resize(&image, 300, 300, &limits)?);
/// # Ok::<(), mxrs_types::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct ImageThreads {
    choose: Option<Arc<Choose>>,
    watch: Option<Arc<dyn Fn() + Send + Sync>>,
}

type Choose = dyn Fn() -> Result<Option<Arc<Team>>> + Send + Sync;

impl ImageThreads {
    /// Uses only the calling thread.
    pub fn calling() -> Self {
        Self::default()
    }

    /// The threads of a team, including the calling thread. Small images use fewer threads.
    pub fn team(team: Arc<Team>) -> Self {
        Self::chosen_by(move || Ok(Some(Arc::clone(&team))))
    }

    /// Calls `choose` before each operation on an image, such as a resize, and uses the team that it returns; for
    /// `None`, only the calling thread works.
    pub fn chosen_by(choose: impl Fn() -> Result<Option<Arc<Team>>> + Send + Sync + 'static) -> Self {
        Self { choose: Some(Arc::new(choose)), watch: None }
    }

    /// Calls `watch` at the start of every share of an image's rows, on the thread that computes the share.
    #[must_use]
    pub fn watched(self, watch: impl Fn() + Send + Sync + 'static) -> Self {
        Self { watch: Some(Arc::new(watch)), ..self }
    }

    /// Divides `rows` into shares and calls `body` for each, with the number of its first row and its rows.
    ///
    /// `rows` consists of whole rows of `row_len` values; `row_len` is not 0.
    ///
    /// # Errors
    /// Returns the errors of the function given to [`Self::chosen_by`].
    pub(crate) fn share_rows<T: Send>(
        &self,
        rows: &mut [T],
        row_len: usize,
        body: &(dyn Fn(usize, &mut [T]) + Sync),
    ) -> Result<()> {
        let n_rows = rows.len() / row_len;
        let most_shares = n_rows.min(rows.len() / MIN_SHARE);
        let team = match &self.choose {
            // Inside another loop of a team, for example if several images are processed at the same time, the shares would
            // run one after the other anyway.
            Some(choose) if most_shares > 1 && !Team::is_inside() => choose()?,
            _ => None,
        };
        let n_shares = team.as_ref().map_or(1, |team| team.size()).min(most_shares);
        let (Some(team), 2..) = (team, n_shares) else {
            self.tell();
            body(0, rows);
            return Ok(());
        };
        let mut rest = rows;
        let mut first = 0;
        let mut shares = Vec::with_capacity(n_shares);
        for share in 0..n_shares {
            let end = (share + 1) * n_rows / n_shares;
            let (own, later) = rest.split_at_mut((end - first) * row_len);
            shares.push(Mutex::new((first, own)));
            (rest, first) = (later, end);
        }
        team.run(n_shares, &|share| {
            self.tell();
            let (first, rows) = &mut *shares[share].lock();
            body(*first, rows);
        });
        Ok(())
    }

    fn tell(&self) {
        if let Some(watch) = &self.watch {
            watch();
        }
    }
}

impl std::fmt::Debug for ImageThreads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageThreads").field("shares", &self.choose.is_some()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecodeLimits, Image, ImageOptions, prepare_on, resize_on};
    use mxrs_sync::TeamConfig;
    use std::collections::HashSet;
    use std::thread::{self, ThreadId};

    /// A team of `n` threads, and the list of the threads that computed shares.
    fn watched(n: usize) -> (ImageThreads, Arc<Mutex<Vec<ThreadId>>>) {
        let team = Team::new(TeamConfig { threads: n.try_into().unwrap(), cpus: None }).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&seen);
        (ImageThreads::team(team).watched(move || list.lock().push(thread::current().id())), seen)
    }

    #[test]
    fn every_row_is_in_one_share() {
        for (n_rows, row_len) in [(1, 4 * MIN_SHARE), (3, MIN_SHARE), (7, 10_007), (1000, 101), (5, 3)] {
            for n_threads in 1..6 {
                let (threads, seen) = watched(n_threads);
                let mut values = vec![0_usize; n_rows * row_len];
                let number = |first: usize, rows: &mut [usize]| {
                    for (row, i) in rows.chunks_exact_mut(row_len).zip(first..) {
                        row.iter_mut().for_each(|value| *value += i + 1);
                    }
                };
                threads.share_rows(&mut values, row_len, &number).unwrap();
                for (i, row) in values.chunks_exact(row_len).enumerate() {
                    assert!(row.iter().all(|value| *value == i + 1), "row {i} of {n_rows}, {n_threads} threads");
                }
                let expected = n_threads.min(n_rows).min((n_rows * row_len / MIN_SHARE).max(1));
                let seen = seen.lock();
                assert_eq!((seen.len(), seen.iter().collect::<HashSet<_>>().len()), (expected, expected));
            }
        }
    }

    #[test]
    fn a_team_that_cannot_be_had_is_an_error() {
        let refused = || Err(mxrs_types::Error::invalid("threads", 3, "2"));
        let (threads, image) = (ImageThreads::chosen_by(refused), noise(5, 5, 1));
        let limits = DecodeLimits::default();
        let error = resize_on(&threads, &image, 500, 500, &limits).unwrap_err().to_string();
        assert!(error.contains("threads: got 3"), "{error}");
        resize_on(&threads, &image, 50, 50, &limits).expect("no team is chosen for a small image");
    }

    fn noise(height: usize, width: usize, channels: usize) -> Image {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        Image::new(height, width, channels, (0..height * width * channels).map(|_| next()).collect()).unwrap()
    }

    #[test]
    fn results_do_not_depend_on_the_team() {
        let limits = DecodeLimits::default();
        for (channels, [h, w]) in [(1, [150, 300]), (3, [201, 97]), (4, [63, 400])] {
            let image = noise(h, w, channels);
            for (height, width) in [(h * 2 + 1, w + 5), (h - 7, w * 3), (300, 301)] {
                let alone = resize_on(&ImageThreads::calling(), &image, height, width, &limits).unwrap();
                let options =
                    ImageOptions { mean: [3.0; 4], scale: 0.1, ..ImageOptions::new([channels, height, width]) };
                let mut prepared = vec![0.0; options.n_elements().unwrap()];
                prepare_on(&ImageThreads::calling(), &image, &options, &mut prepared).unwrap();
                for n in 2..5 {
                    let (threads, seen) = watched(n);
                    assert!(resize_on(&threads, &image, height, width, &limits).unwrap() == alone, "{n} threads");
                    assert!(seen.lock().len() > 1, "it was shared");
                    let mut shared = vec![0.0; prepared.len()];
                    prepare_on(&threads, &image, &options, &mut shared).unwrap();
                    assert!(shared == prepared, "{n} threads");
                }
            }
        }
    }
}
