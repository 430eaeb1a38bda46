//! A histogram around 0 that grows with what it sees, as MXNet's calibration collects it.
//!
//! It has an odd number of bins of one width from `-threshold` to `threshold`, so that 0 is in the middle of one. A batch
//! with greater values adds whole bins on both sides; bins never change their width.

/// Bins of a histogram before it grows: those of MXNet.
pub const N_BINS: usize = 8001;

/// Counts of values in bins of one width; at first nothing is counted, and the first batch decides how wide bins are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Counts.
    pub counts: Vec<u64>,
    /// Upper edge of the last bin; the lower edge of the first is its negative.
    pub threshold: f64,
}

impl Histogram {
    /// Edge `index` of the bins, from 0 to as many as there are bins.
    pub fn edge(&self, index: usize) -> f64 {
        edge(index, self.counts.len(), self.threshold)
    }

    /// Counts finite values; `max_abs` is the greatest of their absolute values.
    pub fn add(&mut self, values: &[f32], max_abs: f64) {
        if self.counts.is_empty() {
            self.counts = vec![0; N_BINS];
            self.threshold = max_abs;
        } else if self.threshold == 0.0 {
            // All so far were 0, and stay in the middle.
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
            // The product is rounded; the edges decide.
            if value < self.edge(bin) {
                bin = bin.saturating_sub(1);
            } else if bin + 1 < n && value >= self.edge(bin + 1) {
                bin += 1;
            }
            self.counts[bin] += 1;
        }
    }

    /// Adds bins on both sides until `max_abs` is in one.
    fn grow(&mut self, max_abs: f64) {
        let old = self.counts.len();
        let width = 2.0 * self.threshold / old as f64;
        let more = ((max_abs - self.threshold) / width).floor() as usize + 1;
        let mut counts = vec![0; old + 2 * more];
        counts[more..more + old].copy_from_slice(&self.counts);
        self.counts = counts;
        self.threshold += more as f64 * width;
    }
}

/// Edge `index` of `n` bins from `-threshold` to `threshold`.
pub fn edge(index: usize, n: usize, threshold: f64) -> f64 {
    if index == n { threshold } else { -threshold + index as f64 * (2.0 * threshold / n as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_the_bin_between_its_edges() {
        let values: Vec<f32> = (0..5000).map(|i| ((i * 37 % 1001) as f32 - 500.0) / 250.0).collect();
        let mut histogram = Histogram::default();
        histogram.add(&values, 2.0);
        assert_eq!((histogram.counts.len(), histogram.threshold), (N_BINS, 2.0));
        for (bin, &count) in histogram.counts.iter().enumerate() {
            let is_last = bin + 1 == N_BINS;
            let (low, high) = (histogram.edge(bin), histogram.edge(bin + 1));
            let is_inside = |v: f64| v >= low && (v < high || is_last && v <= high);
            let expected = values.iter().filter(|v| is_inside(f64::from(**v))).count();
            assert_eq!(count, expected as u64, "bin {bin}");
        }
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

    #[test]
    fn zeros_are_in_the_middle_whatever_comes_later() {
        let mut histogram = Histogram::default();
        histogram.add(&[0.0; 5], 0.0);
        assert_eq!(histogram.counts[N_BINS / 2], 5);
        histogram.add(&[0.0, 0.25], 0.25);
        assert_eq!((histogram.counts[N_BINS / 2], histogram.counts[N_BINS - 1], histogram.threshold), (6, 1, 0.25));
    }
}
