//! Statistics that a few outliers hardly change. The lists of values must not be empty.

/// The number of values to leave out at each end of a sorted list. Of up to eight values, only the middle one or two remain;
/// of more values, a quarter is left out at each end. So a third of five or more values may be outliers.
fn n_trimmed(n: usize) -> usize {
    if n <= 8 { (n - 1) / 2 } else { (n / 4).max(3) }
}

/// The mean of the middle values, without those that `n_trimmed` leaves out. Sorts the values.
pub(super) fn middle(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let cut = n_trimmed(values.len());
    mean(&values[cut..values.len() - cut])
}

/// The mean of sorted times without the fastest tenth and the slower half. Of up to eight times, it is the median. The
/// result is robust if nearly half of the times are too long.
pub(super) fn faster_half(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n <= 8 { quantile(sorted, 0.5) } else { mean(&sorted[n / 10..n.div_ceil(2)]) }
}

/// The variance of [`faster_half`] of `n` values that each have the variance `of_one`.
pub(super) fn faster_half_variance(of_one: f64, n: usize) -> f64 {
    // The factors compare with the variance of the mean of normally distributed values. The variance of the median is π/2
    // times as large, and that of the mean of the faster half 1.35 times (simulated in `the_variance_of_the_faster_half`).
    let factor = if n <= 8 { std::f64::consts::FRAC_PI_2 } else { 1.35 };
    of_one * factor / n as f64
}

/// The quantile of sorted values; `part` is 0 for the first value and 1 for the last.
pub(super) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (before, after) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    before + (after - before) * place.fract()
}

/// The standard error of a quantile: half the distance between the two quantiles whose ranks are one standard error of the
/// rank lower and higher (Woodruff 1952).
pub(super) fn quantile_error(sorted: &[f64], part: f64) -> f64 {
    let of_rank = (part * (1.0 - part) / sorted.len() as f64).sqrt();
    (quantile(sorted, part + of_rank) - quantile(sorted, part - of_rank)) / 2.0
}

/// The median. Sorts the values.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    f64::midpoint(values[(n - 1) / 2], values[n / 2])
}

/// The standard deviation, estimated from the median distance of the values from their median, as if they were normally
/// distributed.
pub(super) fn spread(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    let center = median(&mut values);
    values.iter_mut().for_each(|value| *value = (*value - center).abs());
    1.4826 * median(&mut values)
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample variance of the values; 0 if there is only one value.
pub(super) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// Limits residuals to 2.5 standard deviations.
pub(super) fn clip(residuals: &mut [f64]) {
    let mut limit = 2.5 * spread(residuals);
    if limit == 0.0 {
        limit = 2.5 * variance(residuals).sqrt();
    }
    residuals.iter_mut().for_each(|value| *value = value.clamp(-limit, limit));
}

/// The factor that corrects the variance of clipped values, which is too small.
pub(super) const OF_CLIPPED: f64 = 1.1;

/// The variance of the mean of values that are in the order of their times. Neighbors may be correlated, so it is estimated
/// from the means of eight parts. `None` for fewer than two values.
pub(super) fn mean_variance(values: &[f64]) -> Option<f64> {
    let n_parts = values.len().min(8);
    if n_parts < 2 {
        return None;
    }
    let bounds = |part: usize| part * values.len() / n_parts;
    let means: Vec<f64> = (0..n_parts).map(|part| mean(&values[bounds(part)..bounds(part + 1)])).collect();
    Some(variance(&means) / n_parts as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wild_values_do_not_move_the_middle() {
        assert_eq!(middle(&mut [1.0]), 1.0);
        assert_eq!(middle(&mut [1.0, 3.0]), 2.0);
        assert_eq!(middle(&mut [9e9, 2.0, 1.0, 3.0, 9e9]), 3.0);
        assert_eq!(
            middle(&mut [5.0, 1.0, 9e9, 4.0, 2.0, 3.0, 6.0, 7.0, -9e9]),
            4.0,
            "9 values: 3 are left out at each end"
        );
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 9e9]), 3.0);
        assert!((spread(&[1.0, 2.0, 3.0, 4.0, 9e9]) - 1.4826).abs() < 1e-12);
        let times: Vec<f64> = (0..20).map(|at| if at < 11 { f64::from(at) } else { 9e9 }).collect();
        assert_eq!(faster_half(&times), 5.5, "ranks 2 to 9");
        assert_eq!(faster_half(&[1.0, 2.0, 9e9]), 2.0);
        let mut residuals = [-1.0, 0.0, 1.0, 9e9, 0.5];
        clip(&mut residuals);
        assert!(residuals[3] < 4.0 && residuals[0] == -1.0);
    }

    /// Compares the factor with the variance of many simulated values of `faster_half`, for normally distributed times from
    /// a generator with a fixed seed.
    #[test]
    fn the_variance_of_the_faster_half() {
        let mut state = 7_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        };
        let mut normal = || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        for n in [5, 9, 20, 60] {
            let mut level = || {
                let mut values: Vec<f64> = (0..n).map(|_| normal()).collect();
                values.sort_unstable_by(f64::total_cmp);
                faster_half(&values)
            };
            let levels: Vec<f64> = (0..20_000).map(|_| level()).collect();
            let ratio = variance(&levels) / faster_half_variance(1.0, n);
            assert!((0.85..1.15).contains(&ratio), "{n} values: {ratio}");
        }
    }

    /// For uniform values, a quantile equals its rank, so the standard errors of both are equal.
    #[test]
    fn quantiles_and_their_errors() {
        let values: Vec<f64> = (0..=100).map(|i| f64::from(i) / 100.0).collect();
        assert!((quantile(&values, 0.125) - 0.125).abs() < 1e-12);
        let expected = (0.25 * 0.75 / 101.0_f64).sqrt();
        assert!((quantile_error(&values, 0.25) - expected).abs() < 1e-12);
        assert_eq!((quantile(&[3.0], 0.9), quantile_error(&[3.0], 0.5)), (3.0, 0.0));
    }

    #[test]
    fn slow_waves_count_in_the_variance_of_a_mean() {
        // `fast` has values of variance 1 that change in every step; `slow` holds each value for 8 steps.
        let of_step = |step: usize| if step.is_multiple_of(2) { 1.0 } else { -1.0 };
        let fast: Vec<f64> = (0..64).map(of_step).collect();
        let slow: Vec<f64> = (0..64).map(|i| of_step(i / 8)).collect();
        assert_eq!(mean_variance(&fast), Some(0.0));
        assert!((mean_variance(&slow).unwrap() - 8.0 / 7.0 / 8.0).abs() < 1e-12);
        assert_eq!(mean_variance(&[1.0]), None);
    }
}
