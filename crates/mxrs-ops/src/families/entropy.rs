//! The search for a threshold that loses the least information when numbers are quantized. S. Migacz, "8-bit inference with
//! TensorRT", GTC 2017.
//!
//! Given is a histogram around 0. Every threshold is tried that has at least as many bins inside as there are quantized
//! numbers. P are the counts inside, with the counts outside added to the first and last bin. For Q, the bins inside are joined
//! to as many groups of the same size as there are quantized numbers, and the count of each group is spread evenly over its
//! non-empty bins. In P and Q, an empty bin then gets a small count, which is taken from the others. The divergence is that of
//! Kullback and Leibler, of P from Q.
//!
//! Two details follow MXNet instead of the paper: the first bin inside a threshold counts as empty in Q, and if the groups
//! do not divide the bins evenly, the remaining bins belong to the last group.

/// An empty bin gets this count.
const SMOOTHING: f64 = 1e-4;

/// The divergences of all thresholds, from the smallest threshold on. With each comes the number of the bin that begins at the
/// threshold, which is the number of bins for the last one. A divergence is `None` if too few bins have counts.
///
/// `counts` are the counts of an odd number of bins, of which the middle one contains 0: finite numbers that are not negative.
/// There is no threshold if the bins are fewer than `n_quantized`, or if that is 0. The time grows with the square of the number
/// of bins.
pub fn divergences(counts: Vec<f64>, n_quantized: usize) -> impl Iterator<Item = (usize, Option<f64>)> {
    let n = counts.len();
    let (middle, first) = (n / 2, n_quantized / 2);
    let (before, after) = (sums(counts.iter()), sums(counts.iter().rev()));
    // Q is made from counts without fractions.
    let whole: Vec<f64> = counts.iter().map(|count| count.trunc()).collect();
    let halves = if n_quantized == 0 { 0..0 } else { first..n.div_ceil(2) };
    let (mut p, mut q) = (Vec::with_capacity(n), Vec::with_capacity(n));
    halves.map(move |half| {
        let (start, stop) = (middle - half, middle + half + 1);
        p.clear();
        p.extend_from_slice(&counts[start..stop]);
        p[0] += before[start];
        p[2 * half] += after[n - stop];
        quantize(&whole[start..stop], &p, n_quantized, &mut q);
        (stop, divergence(&mut p, &mut q))
    })
}

/// The sums of the first 0, 1, … counts.
fn sums<'a>(counts: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    let mut all = vec![0.0];
    let mut sum = 0.0f64;
    for count in counts {
        sum += count;
        all.push(sum);
    }
    all
}

/// Computes Q, the result of quantizing the counts `inside`, into `q`.
fn quantize(inside: &[f64], p: &[f64], n_quantized: usize, q: &mut Vec<f64>) {
    q.clear();
    q.resize(inside.len(), 0.0);
    let group = inside.len() / n_quantized;
    for index in 0..n_quantized {
        let start = index * group;
        let stop = if index + 1 == n_quantized { inside.len() } else { start + group };
        let counted = &inside[start.max(1).min(stop)..stop];
        let n_filled = counted.iter().filter(|count| **count > 0.0).count();
        if n_filled == 0 {
            continue;
        }
        // MXNet divides in float32, so its result may differ slightly.
        let each = counted.iter().sum::<f64>() / n_filled as f64;
        for bin in start..stop {
            if p[bin] > 0.0 {
                q[bin] = each;
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
/// counts, which stays the same; `None` if too few bins have counts.
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

    #[test]
    fn thresholds_have_at_least_as_many_bins_as_there_are_numbers() {
        let stops = |n: usize, n_quantized: usize| {
            divergences(vec![1.0; n], n_quantized).map(|(stop, _)| stop).collect::<Vec<usize>>()
        };
        assert_eq!(stops(7, 3), [5, 6, 7]);
        assert_eq!(stops(7, 4), [6, 7]);
        assert_eq!(stops(1, 1), [1]);
        assert!(stops(7, 8).is_empty() && stops(7, usize::MAX).is_empty());
        assert!(stops(7, 0).is_empty() && stops(0, 3).is_empty());
    }

    #[test]
    fn smoothing_keeps_the_sum() {
        let mut counts = [0.0, 3.0, 0.0, 5.0];
        assert!((smooth(&mut counts).unwrap() - 8.0).abs() < 1e-12);
        assert!(counts.iter().all(|count| *count > 0.0));
        assert_eq!(smooth(&mut [0.0; 3]), None);
    }
}
