//! Statistics that a few wild values do not move. Lists of values are not empty.

/// The number of values to leave out at each end: all but the middle ones of up to eight values, later a quarter. So a third of
/// the values may be outliers if there are five or more.
fn n_trimmed(n: usize) -> usize {
    if n <= 8 { (n - 1) / 2 } else { (n / 4).max(3) }
}

/// The mean of the middle values. Sorts them.
pub(super) fn middle(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let cut = n_trimmed(values.len());
    mean(&values[cut..values.len() - cut])
}

/// The mean of sorted times without the fastest tenth and the slower half; of up to eight, the median. Nearly half of the times
/// may be too long.
pub(super) fn faster_half(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n <= 8 { quantile(sorted, 0.5) } else { mean(&sorted[n / 10..n.div_ceil(2)]) }
}

/// The variance of [`faster_half`] of `n` values that each have the variance `of_one`.
pub(super) fn faster_half_variance(of_one: f64, n: usize) -> f64 {
    // Compared with the variance of the mean of normally distributed values: the median has π/2 times that, and the mean of
    // these ranks 1.35 times (`the_variance_of_the_faster_half` simulates it).
    let factor = if n <= 8 { std::f64::consts::FRAC_PI_2 } else { 1.35 };
    of_one * factor / n as f64
}

/// The quantile of sorted values; `part` is 0 for the first value and 1 for the last.
pub(super) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (before, after) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    before + (after - before) * place.fract()
}

/// The standard error of a quantile: half the distance of the quantiles that bound it with one standard error of its rank
/// (Woodruff 1952).
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

/// The standard deviation that normally distributed values with this median distance from their median have.
pub(super) fn spread(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    let center = median(&mut values);
    values.iter_mut().for_each(|value| *value = (*value - center).abs());
    1.4826 * median(&mut values)
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The variance of one value; 0 if there is only one.
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

/// By how much the variance of clipped values is too small.
pub(super) const OF_CLIPPED: f64 = 1.1;

/// The variance of the mean of values in the order of their times, whose neighbors may be similar: that of the means of eight
/// parts. `None` for fewer than two values.
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

    /// The variance of many means of the faster half of normally distributed values, from a generator with a fixed seed.
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

    /// The standard error of a quantile of uniform values is that of its rank.
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
        // Independent values of variance 1, and the same values held for 8 steps each.
        let of_step = |step: usize| if step.is_multiple_of(2) { 1.0 } else { -1.0 };
        let fast: Vec<f64> = (0..64).map(of_step).collect();
        let slow: Vec<f64> = (0..64).map(|i| of_step(i / 8)).collect();
        assert_eq!(mean_variance(&fast), Some(0.0));
        assert!((mean_variance(&slow).unwrap() - 8.0 / 7.0 / 8.0).abs() < 1e-12);
        assert_eq!(mean_variance(&[1.0]), None);
    }
}
