//! How threads share the sums of a gradient of weights: each computes a part of the output channels by a part of the
//! input channels.

use crate::convolve::part;
use std::ops::Range;

/// A grid of threads: parts of the output channels by parts of the input channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Blocks of output channels, and pairs of blocks of input channels.
    sizes: [usize; 2],
    /// Number of parts into which each of the sizes is cut.
    by: [usize; 2],
}

impl Shares {
    /// Returns the grid of at most `threads` threads whose largest share is smallest.
    pub fn new(sizes: [usize; 2], threads: usize) -> Self {
        let grids = (1..=threads.max(1)).map(|by| [by.min(sizes[0]), (threads.max(1) / by).clamp(1, sizes[1])]);
        let longest = |by: &[usize; 2]| sizes[0].div_ceil(by[0]) * sizes[1].div_ceil(by[1]);
        Self { sizes, by: grids.min_by_key(longest).unwrap_or([1, 1]) }
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.by[0] * self.by[1]
    }

    /// The output channels and the input channels of thread `i`.
    pub fn share(&self, i: usize) -> [Range<usize>; 2] {
        [part(self.sizes[0], self.by[0], i / self.by[1]), part(self.sizes[1], self.by[1], i % self.by[1])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tile_belongs_to_one_thread() {
        for sizes in [[1, 1], [4, 2], [1, 9], [7, 3], [32, 16]] {
            for threads in 1..=9 {
                let shares = Shares::new(sizes, threads);
                assert!((1..=threads).contains(&shares.threads()));
                let mut made = vec![0; sizes[0] * sizes[1]];
                for i in 0..shares.threads() {
                    let [k, c] = shares.share(i);
                    k.flat_map(|k| c.clone().map(move |c| k * sizes[1] + c)).for_each(|at| made[at] += 1);
                }
                assert!(made.iter().all(|n| *n == 1), "{shares:?}");
            }
        }
    }
}
