//! MXNet's entropy calibration: finds the threshold that loses the least information.
//!
//! It tries every threshold from a smallest one, with as many bins inside as there are quantized values, to the end of the
//! histogram. P is the distribution of the counts inside the threshold, with the counts outside added to its first and last
//! bin. Q is the result of quantizing the counts inside: the bins form as many groups as there are quantized values, and the
//! count of each group is spread evenly over its non-empty bins. The threshold with the smallest Kullback-Leibler divergence
//! of P from Q is chosen. S. Migacz, "8-bit inference with TensorRT", GTC 2017.
//!
//! Two details follow MXNet instead of the paper: the first bin inside a threshold counts as empty in Q, and if the groups
//! do not divide the bins evenly, the remaining bins belong to the last group.

use super::histogram::Histogram;
use mxrs_types::Result;

/// An empty bin gets this count.
const SMOOTHING: f64 = 1e-4;

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
    let counts = &histogram.counts;
    let (middle, first) = (counts.len() / 2, n_quantized / 2);
    let mut before = Vec::with_capacity(counts.len() + 1);
    before.push(0u64);
    for count in counts {
        before.push(before[before.len() - 1] + count);
    }
    let total = before[counts.len()];
    let is_empty = total == 0 || first > middle || n_quantized == 0;
    let halves = if is_empty { 0..0 } else { first..middle + 1 };
    let (mut p, mut q) = (Vec::with_capacity(counts.len()), Vec::with_capacity(counts.len()));
    halves.map(move |half| {
        let (start, stop) = (middle - half, middle + half + 1);
        p.clear();
        p.extend(counts[start..stop].iter().map(|count| *count as f64));
        let last = p.len() - 1;
        p[0] = before[start + 1] as f64;
        p[last] = (total - before[stop - 1]) as f64;
        quantized(&counts[start..stop], &p, n_quantized, &mut q);
        (histogram.edge(stop), divergence(&mut p, &mut q).unwrap_or(f64::INFINITY))
    })
}

/// Computes Q, the result of quantizing the counts `inside`, into `q`.
fn quantized(inside: &[u64], p: &[f64], n_quantized: usize, q: &mut Vec<f64>) {
    q.clear();
    q.resize(inside.len(), 0.0);
    let group = inside.len() / n_quantized;
    for index in 0..n_quantized {
        let start = index * group;
        let stop = if index + 1 == n_quantized { inside.len() } else { start + group };
        let counted = start.max(1).min(stop)..stop;
        let sum: u64 = inside[counted.clone()].iter().sum();
        let n_filled = inside[counted].iter().filter(|count| **count > 0).count();
        if n_filled == 0 {
            continue;
        }
        // MXNet divides in float32, so its result may differ slightly.
        let each = sum as f64 / n_filled as f64;
        for k in start..stop {
            if p[k] > 0.0 {
                q[k] = each;
            }
        }
    }
}

/// The divergence of `p` from `q` after both are smoothed and scaled to sum 1; `None` if too few bins have counts for
/// smoothing.
fn divergence(p: &mut [f64], q: &mut [f64]) -> Option<f64> {
    let (p_sum, q_sum) = (smooth(p)?, smooth(q)?);
    let terms = p.iter().zip(q.iter()).map(|(p, q)| {
        let (p, q) = (p / p_sum, q / q_sum);
        p * (p / q).ln()
    });
    Some(terms.sum())
}

/// Gives every empty bin a small count, and subtracts these counts evenly from the non-empty bins. Returns the sum of all
/// counts, which stays the same.
fn smooth(counts: &mut [f64]) -> Option<f64> {
    let n_empty = counts.iter().filter(|count| **count == 0.0).count();
    let n_filled = counts.len() - n_empty;
    let taken = SMOOTHING * n_empty as f64 / n_filled as f64;
    if n_filled == 0 || taken >= 1.0 {
        return None;
    }
    counts.iter_mut().for_each(|count| *count = if *count == 0.0 { SMOOTHING } else { *count - taken });
    let is_positive = counts.iter().all(|count| *count > 0.0);
    is_positive.then(|| counts.iter().sum())
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

    #[test]
    fn smoothing_keeps_the_sum() {
        let mut counts = [0.0, 3.0, 0.0, 5.0];
        assert!((smooth(&mut counts).unwrap() - 8.0).abs() < 1e-12);
        assert!(counts.iter().all(|count| *count > 0.0));
        assert_eq!(smooth(&mut [0.0; 3]), None);
    }
}
