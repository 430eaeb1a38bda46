//! How often values occurred, in buckets, for percentiles.

/// Each power of two is split into this many buckets, so a bucket is at most 1/32 of its value wide.
const SPLIT: u64 = 32;
const SPLIT_BITS: u32 = SPLIT.trailing_zeros();

/// Counts of values in buckets. A percentile differs from the exact one by at most 1.6 %, half a bucket.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    /// Grows up to the bucket of the largest value; at most 1920 buckets.
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    pub(crate) fn add(&mut self, value: u64) {
        let at = bucket(value);
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
        self.total += 1;
    }

    /// The smallest value that at least `percent` percent of the values do not exceed; 0 if there are no values.
    pub(crate) fn percentile(&self, percent: u64) -> u64 {
        let rank = (self.total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        for (at, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return middle(at);
            }
        }
        0
    }
}

/// The bucket of a value. Values below `2 * SPLIT` have a bucket each.
fn bucket(value: u64) -> usize {
    if value < 2 * SPLIT {
        return value as usize;
    }
    let shift = value.ilog2() - SPLIT_BITS;
    (u64::from(shift) * SPLIT + (value >> shift)) as usize
}

/// The value in the middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * SPLIT {
        return bucket;
    }
    let shift = bucket / SPLIT - 1;
    let first = (bucket % SPLIT + SPLIT) << shift;
    first + (1 << shift) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_all_values_in_order() {
        let values = (0..100_000).chain((17..64).flat_map(|bits| {
            let power = 1_u64 << bits;
            [power - 1, power, power + 1, power + power / 3]
        }));
        let mut last = (0, 0);
        for value in values.chain([u64::MAX]) {
            let at = bucket(value);
            assert!(at >= last.1, "{value} after {}", last.0);
            let error = middle(at).abs_diff(value) as f64;
            assert!(error <= value as f64 / 62.0, "{value} is drawn as {}", middle(at));
            last = (value, at);
        }
        assert!(last.1 < 1920);
    }

    /// Compares the percentiles with the definition, computed from sorted values.
    #[test]
    fn percentiles_are_within_a_bucket_of_the_exact_ones() {
        let values: Vec<u64> = (0..5000_u64).map(|i| 50 + i * i % 7919 * 37).collect();
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.add(*value));
        let mut sorted = values;
        sorted.sort_unstable();
        for percent in [1, 50, 90, 99, 100] {
            let exact = sorted[(sorted.len() * percent).div_ceil(100) - 1];
            let found = histogram.percentile(percent as u64);
            assert!(found.abs_diff(exact) as f64 <= exact as f64 / 60.0, "p{percent}: {found}, exactly {exact}");
        }
        assert_eq!(Histogram::default().percentile(50), 0);
    }
}
