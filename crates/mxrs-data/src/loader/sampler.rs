//! The order of samples, and its division into batches.

use crate::random::Random;

/// The order of the samples of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampler {
    /// The order 0, 1, 2, ...
    Sequential,
    /// Every sample once, in a random order that depends on this seed and the number of the epoch.
    Random(u64),
}

impl Sampler {
    /// The numbers of `n` samples in the order of an epoch.
    pub fn order(self, n: usize, epoch: u64) -> Vec<u64> {
        let mut order: Vec<u64> = (0..n as u64).collect();
        if let Self::Random(seed) = self {
            Random::keyed(&[seed, epoch]).shuffle(&mut order);
        }
        order
    }
}

/// What happens to samples that do not fill the last batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LastSamples {
    /// The remaining samples form a smaller batch.
    #[default]
    Keep,
    /// The remaining samples are left out.
    Discard,
    /// The remaining samples come first in the next epoch.
    RollOver,
}

/// Divides the order of samples into batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchSampler {
    /// The order of samples.
    pub sampler: Sampler,
    /// Number of samples per batch, at least 1.
    pub batch_size: usize,
    /// What happens to samples that do not fill the last batch.
    pub last_batch: LastSamples,
}

impl BatchSampler {
    /// The batches of an epoch of `n` samples.
    pub fn batches(&self, n: usize, epoch: u64) -> Vec<Vec<u64>> {
        let size = self.batch_size.max(1);
        let mut order = self.sampler.order(n, epoch);
        match self.last_batch {
            LastSamples::Keep => {}
            LastSamples::Discard => order.truncate(n / size * size),
            LastSamples::RollOver => {
                // The orders of all epochs are concatenated and cut into batches; this epoch starts with the samples left
                // over from the earlier epochs.
                let left = (u128::from(epoch) * n as u128 % size as u128) as usize;
                let mut all = Vec::new();
                for before in (1..=epoch).take_while(|before| (u128::from(*before) - 1) * (n as u128) < left as u128) {
                    all.splice(0..0, self.sampler.order(n, epoch - before));
                }
                let mut all = all.split_off(all.len() - left);
                all.append(&mut order);
                all.truncate(all.len() / size * size);
                order = all;
            }
        }
        order.chunks(size).map(<[u64]>::to_vec).collect()
    }

    /// Fills up the last batch of an epoch with samples from the start of the epoch, which repeat if there are too few.
    /// Returns the number of added samples.
    pub(super) fn fill_up(&self, batches: &mut [Vec<u64>]) -> usize {
        let Some(last) = batches.last() else { return 0 };
        let n = self.batch_size.saturating_sub(last.len());
        let start: Vec<u64> = batches[0].iter().copied().cycle().take(n).collect();
        if let Some(last) = batches.last_mut() {
            last.extend(start);
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// With `RollOver`, the batches of all epochs cover the orders of all epochs. With `Keep`, the batches of one epoch
        /// cover its order; with `Discard`, they cover the start of its order.
        #[test]
        fn batches_cover_the_orders(n in 0_usize..12, batch_size in 1_usize..20, seed: Option<u64>) {
            let sampler = seed.map_or(Sampler::Sequential, Sampler::Random);
            let make = |last_batch| BatchSampler { sampler, batch_size, last_batch };
            let mut rolled = Vec::new();
            let mut whole = Vec::new();
            for epoch in 0..5 {
                let order = sampler.order(n, epoch);
                prop_assert_eq!(make(LastSamples::Keep).batches(n, epoch).concat(), order.clone());
                let full = n / batch_size * batch_size;
                prop_assert_eq!(&make(LastSamples::Discard).batches(n, epoch).concat()[..], &order[..full]);
                rolled.extend(make(LastSamples::RollOver).batches(n, epoch));
                whole.extend(order);
            }
            prop_assert!(rolled.iter().all(|b| b.len() == batch_size));
            prop_assert_eq!(&rolled.concat()[..], &whole[..whole.len() / batch_size * batch_size]);
        }
    }
}
