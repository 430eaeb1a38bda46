//! A histogram around 0 that grows with its data, as in MXNet's calibration.
//!
//! It has an odd number of bins of equal width from `-threshold` to `threshold`, so that 0 is in the middle of a bin. A
//! batch with larger values adds whole bins on both sides, and bins keep their width, as in MXNet. Unlike in MXNet the
//! number of bins is limited, because the time to search for a threshold grows with its square. If a batch would exceed the
//! limit, bins are merged: each new bin contains the same odd number of neighboring old bins, so no count is split.

/// Number of bins before the histogram grows, as in MXNet.
pub const N_BINS: usize = 8001;

/// Largest number of bins. After a merge at most half of this number remains, so that merges are rare.
pub const MOST_BINS: usize = 8 * N_BINS;

/// Counts of values in bins of equal width. A new histogram is empty; the first batch determines the width.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Counts of the bins.
    pub counts: Vec<u64>,
    /// Upper edge of the last bin; the lower edge of the first is its negative.
    pub threshold: f64,
}

impl Histogram {
    /// Lower edge of bin `index`. If `index` is the number of bins, this is the upper edge of the last bin.
    pub fn edge(&self, index: usize) -> f64 {
        edge(index, self.counts.len(), self.threshold)
    }

    /// Counts finite values; `max_abs` is the largest of their absolute values.
    pub fn add(&mut self, values: &[f32], max_abs: f64) {
        if self.counts.is_empty() {
            self.counts = vec![0; N_BINS];
            self.threshold = max_abs;
        } else if max_abs > self.threshold {
            self.grow(max_abs);
        }
        let n = self.counts.len();
        if self.threshold == 0.0 {
            self.counts[n / 2] += values.len() as u64;
            return;
        }
        let bins_per_unit = n as f64 / (2.0 * self.threshold);
        for &value in values {
            let value = f64::from(value);
            let mut bin = (((value + self.threshold) * bins_per_unit) as usize).min(n - 1);
            // The index was computed with rounding, so it may be off by one; the edges of the bin decide.
            if value < self.edge(bin) {
                bin = bin.saturating_sub(1);
            } else if bin + 1 < n && value >= self.edge(bin + 1) {
                bin += 1;
            }
            self.counts[bin] += 1;
        }
    }

    /// Extends the histogram to `max_abs`, which is larger than the threshold.
    fn grow(&mut self, max_abs: f64) {
        if self.threshold * (N_BINS as f64) < max_abs {
            // Compared to `max_abs`, all values so far are so small that the middle one of the new, wider bins contains
            // them.
            let so_far = self.counts.iter().sum();
            self.counts = vec![0; N_BINS];
            self.counts[N_BINS / 2] = so_far;
            self.threshold = max_abs;
            return;
        }
        let wanted = self.counts.len() + 2 * self.missing(max_abs);
        if wanted > MOST_BINS {
            self.merge(wanted.div_ceil(MOST_BINS / 2) | 1);
        }
        self.extend(self.missing(max_abs));
    }

    /// Width of a bin.
    fn width(&self) -> f64 {
        2.0 * self.threshold / self.counts.len() as f64
    }

    /// Number of bins that must be added on each side to reach `max_abs`.
    fn missing(&self, max_abs: f64) -> usize {
        let beyond = max_abs - self.threshold;
        if beyond > 0.0 { (beyond / self.width()).floor() as usize + 1 } else { 0 }
    }

    /// Adds `more` empty bins on each side.
    fn extend(&mut self, more: usize) {
        let (old, width) = (self.counts.len(), self.width());
        let mut counts = vec![0; old + 2 * more];
        counts[more..more + old].copy_from_slice(&self.counts);
        self.counts = counts;
        self.threshold += more as f64 * width;
    }

    /// Merges `factor` neighboring bins, an odd number, into one. The middle bin stays in the middle of its merged bin. The
    /// first and last merged bins are padded with empty bins.
    fn merge(&mut self, factor: usize) {
        let (old, width) = (self.counts.len(), self.width());
        let half = old / 2;
        // Number of merged bins on each side of the middle one.
        let beside = half.saturating_sub(factor / 2).div_ceil(factor);
        // Number of empty bins that are added before the first one.
        let ahead = beside * factor + factor / 2 - half;
        let mut counts = vec![0; 2 * beside + 1];
        for (bin, count) in self.counts.iter().enumerate() {
            counts[(bin + ahead) / factor] += count;
        }
        self.counts = counts;
        self.threshold = (2 * beside + 1) as f64 * factor as f64 * width / 2.0;
    }
}

/// Edge `index` of `n` bins from `-threshold` to `threshold`.
pub fn edge(index: usize, n: usize, threshold: f64) -> f64 {
    if index == n { threshold } else { -threshold + index as f64 * (2.0 * threshold / n as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each bin counts the values between its edges.
    #[track_caller]
    fn expect_counts(histogram: &Histogram, values: &[f32]) {
        let n = histogram.counts.len();
        for (bin, &count) in histogram.counts.iter().enumerate() {
            let (low, high) = (histogram.edge(bin), histogram.edge(bin + 1));
            let is_inside = |v: f64| v >= low && (v < high || bin + 1 == n && v <= high);
            let expected = values.iter().filter(|v| is_inside(f64::from(**v))).count();
            assert_eq!(count, expected as u64, "bin {bin} of {n}");
        }
    }

    #[test]
    fn every_value_is_in_the_bin_between_its_edges() {
        let values: Vec<f32> = (0..5000).map(|i| ((i * 37 % 1001) as f32 - 500.0) / 250.0).collect();
        let mut histogram = Histogram::default();
        histogram.add(&values, 2.0);
        assert_eq!((histogram.counts.len(), histogram.threshold), (N_BINS, 2.0));
        expect_counts(&histogram, &values);
    }

    #[test]
    fn greater_values_add_bins_of_the_same_width() {
        let mut histogram = Histogram::default();
        histogram.add(&[1.0, -0.5, 0.0], 1.0);
        let before = histogram.clone();
        let width = 2.0 / N_BINS as f64;
        histogram.add(&[-3.0], 3.0);
        let more = (histogram.counts.len() - N_BINS) / 2;
        assert_eq!(histogram.counts.len() % 2, 1);
        assert!(histogram.threshold >= 3.0 && histogram.threshold - 3.0 <= width * 1.0001);
        assert_eq!(&histogram.counts[more..more + N_BINS], before.counts);
        assert!((histogram.edge(1) - histogram.edge(0) - width).abs() < 1e-12);
        assert_eq!(histogram.counts.iter().sum::<u64>(), 4);
        let first = histogram.counts.iter().position(|count| *count > 0).unwrap();
        assert!(histogram.edge(first) <= -3.0 && histogram.edge(first + 1) > -3.0);
    }

    /// After a batch with much larger values, the number of bins is within the limit, each value is counted in one bin, and
    /// 0 is in the middle of a bin.
    #[test]
    fn much_greater_values_make_bins_wider() {
        // No value is near an edge of a merged bin, because edges are rounded.
        let small: Vec<f32> = (0..300).map(|i| ((i * 37 % 301) as f32 - 150.3) / 151.0).collect();
        for ratio in [9.0f32, 100.0, 1e3, 7e3, 1e9, 1e38] {
            let mut histogram = Histogram::default();
            histogram.add(&small, 1.0);
            let large = [-ratio, 0.51 * ratio];
            histogram.add(&large, ratio.into());
            let n = histogram.counts.len();
            assert!(n % 2 == 1 && (N_BINS..=MOST_BINS / 2 + 2).contains(&n), "{ratio}: {n} bins");
            assert!(histogram.threshold >= f64::from(ratio), "{ratio}: up to {}", histogram.threshold);
            assert_eq!(histogram.counts.iter().sum::<u64>(), 302, "{ratio}");
            expect_counts(&histogram, &[&small[..], &large].concat());
            // Adds even larger values.
            histogram.add(&[0.0, 2.5 * ratio], f64::from(2.5 * ratio));
            assert!(histogram.counts.len() <= MOST_BINS && histogram.counts.iter().sum::<u64>() == 304, "{ratio}");
        }
    }

    #[test]
    fn neighbors_are_merged_around_the_middle() {
        let mut histogram = Histogram { counts: (1..=9).collect(), threshold: 4.5 };
        histogram.merge(5);
        // The middle bin is merged from the old bins 3 to 7. Each of its neighbors is merged from only two old bins and
        // three empty ones.
        assert_eq!((histogram.counts, histogram.threshold), (vec![1 + 2, 3 + 4 + 5 + 6 + 7, 8 + 9], 7.5));
        let mut histogram = Histogram { counts: (1..=9).collect(), threshold: 4.5 };
        histogram.merge(3);
        assert_eq!((histogram.counts, histogram.threshold), (vec![6, 15, 24], 4.5));
    }

    #[test]
    fn zeros_are_in_the_middle_whatever_comes_later() {
        let mut histogram = Histogram::default();
        histogram.add(&[0.0; 5], 0.0);
        assert_eq!(histogram.counts[N_BINS / 2], 5);
        histogram.add(&[0.0, 0.25], 0.25);
        assert_eq!((histogram.counts[N_BINS / 2], histogram.counts[N_BINS - 1], histogram.threshold), (6, 1, 0.25));
    }
}
