//! MXNet's entropy calibration: finds the threshold that loses the least information.
//!
//! [`mxrs_ops::entropy`] describes the search: it gives the divergence of every threshold, and the threshold with the smallest
//! divergence is chosen.

use super::histogram::Histogram;
use mxrs_ops::entropy;
use mxrs_types::Result;

/// Returns the best threshold and its divergence in nats. `None` if the histogram has fewer bins than quantized values, or
/// no counts. If no threshold has a finite divergence, returns the threshold of the whole histogram with an infinite
/// divergence.
///
/// `check_interrupt` is called for each threshold. There may be thousands of thresholds, each with thousands of bins.
///
/// # Errors
/// Returns the error of `check_interrupt`.
pub fn best_threshold(
    histogram: &Histogram,
    n_quantized: usize,
    check_interrupt: &mut dyn FnMut() -> Result<()>,
) -> Result<Option<(f64, f64)>> {
    let mut least: Option<(f64, f64)> = None;
    for next in thresholds(histogram, n_quantized) {
        check_interrupt()?;
        if least.is_none_or(|least| next.1 < least.1) {
            least = Some(next);
        }
    }
    Ok(least.map(|least| if least.1.is_finite() { least } else { (histogram.threshold, f64::INFINITY) }))
}

/// All thresholds in increasing order, with their divergences in nats. A divergence is infinite if too few bins have counts.
pub fn divergences(histogram: &Histogram, n_quantized: usize) -> Vec<(f64, f64)> {
    thresholds(histogram, n_quantized).collect()
}

/// An iterator over the thresholds and divergences that [`divergences`] returns.
fn thresholds(histogram: &Histogram, n_quantized: usize) -> impl Iterator<Item = (f64, f64)> {
    // Sums of counts are exact in `f64` up to 2^53.
    let counts: Vec<f64> = histogram.counts.iter().map(|count| *count as f64).collect();
    let is_empty = counts.iter().all(|count| *count == 0.0);
    let divergences = entropy::divergences(counts, if is_empty { 0 } else { n_quantized });
    divergences.map(move |(stop, divergence)| (histogram.edge(stop), divergence.unwrap_or(f64::INFINITY)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_types::Error;

    /// The best threshold, computed without interruption.
    fn best(histogram: &Histogram, n_quantized: usize) -> Option<(f64, f64)> {
        best_threshold(histogram, n_quantized, &mut || Ok(())).unwrap()
    }

    /// A histogram of `n` bins from -2 to 2; `count` returns the count of a bin.
    fn histogram(n: usize, count: impl Fn(usize, usize) -> u64) -> Histogram {
        Histogram { counts: (0..n).map(|bin| count(bin, bin.abs_diff(n / 2))).collect(), threshold: 2.0 }
    }

    /// Four histograms: a peak with a long tail, a triangle, a histogram with gaps and outliers, and one side of a
    /// peak.
    fn shapes(n: usize) -> [Histogram; 4] {
        let middle = n / 2;
        [
            histogram(n, |_, from| (1e6 / (1.0 + (from * from) as f64)).floor() as u64),
            histogram(n, |_, from| (4 * n).saturating_sub(8 * from) as u64),
            histogram(n, |bin, from| {
                let outlier = if from > middle - 3 { 5 } else { 0 };
                if from < n / 3 { (bin % 7) as u64 + outlier } else { outlier }
            }),
            histogram(n, |bin, from| if bin >= middle { (1e5 / (1.0 + from as f64)).floor() as u64 } else { 0 }),
        ]
    }

    /// Thresholds and divergences from MXNet 1.9.1's `_contrib_calibrate_entropy` for the same histograms. MXNet computes in
    /// float32, so of two neighboring thresholds with almost equal divergence, it may choose another one than mxrs.
    #[test]
    fn thresholds_are_those_of_mxnet() {
        let mxnet = [
            (
                1001,
                255,
                [(0.8451548, 0.017619612), (1.9000999, 0.012613853), (1.3286713, 0.060508918), (2.0, 0.009294435)],
            ),
            (
                2001,
                255,
                [(0.42278862, 0.022708163), (1.952024, 0.002704226), (1.3383309, 0.115669295), (1.998001, 0.025264187)],
            ),
            (
                8001,
                255,
                [(0.105736785, 0.022708163), (1.992001, 6.94743e-05), (2.0, 0.12842554), (1.9975003, 0.075489946)],
            ),
            (
                8001,
                511,
                [
                    (0.20972379, 0.0075737434),
                    (1.9830021, 0.00045848102),
                    (1.3360829, 0.12429654),
                    (1.9935008, 0.0444583),
                ],
            ),
        ];
        for (n, n_quantized, expected) in mxnet {
            for (shape, (threshold, divergence)) in shapes(n).iter().zip(expected) {
                let (got, kl) = best(shape, n_quantized).unwrap();
                assert!(
                    (got - threshold).abs() < 1.01 * 4.0 / n as f64,
                    "{n} bins to {n_quantized}: {got}, MXNet {threshold}"
                );
                assert!((kl - divergence).abs() < 1e-5 + 1e-3 * divergence, "{n} to {n_quantized}: {kl}, {divergence}");
            }
        }
    }

    #[test]
    fn what_cannot_be_compared_is_not_cut() {
        let one = histogram(8001, |bin, _| u64::from(bin == 8000));
        assert_eq!(best(&one, 255).unwrap().0, 2.0);
        assert_eq!(best(&histogram(8001, |_, _| 0), 255), None);
        assert_eq!(best(&histogram(101, |_, _| 1), 255), None);
    }

    #[test]
    fn a_search_ends_when_it_is_told_to() {
        let shape = histogram(8001, |_, from| 8001 - from as u64);
        let mut n_asked = 0;
        let told = best_threshold(&shape, 255, &mut || {
            n_asked += 1;
            if n_asked == 3 { Err(Error::invalid("search", "an interrupt", "none")) } else { Ok(()) }
        });
        assert!(told.unwrap_err().to_string().contains("an interrupt"));
        assert_eq!(n_asked, 3);
    }
}
