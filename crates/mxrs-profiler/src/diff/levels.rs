//! The level of each node in a run: what a call takes if other programs do not disturb it. Steps 1 and 2 of `model`.

use super::model::{FEWEST, MANY_NODES};
use super::robust::{OF_CLIPPED, clip, faster_half, faster_half_variance, median, quantile, quantile_error, variance};
use super::series::Unit;

/// Iterations are left out if the machine was slower than at its best by more than this.
const CALM: f64 = 0.25;
/// The quantile that is the level in noisy runs, and the rank that it has at least: below it one fast call would decide.
const LOW: f64 = 0.1;
const LOWEST_RANK: f64 = 2.5;
/// Runs are noisy if the standard deviation of the values below the median is larger than this.
const NOISY: f64 = 0.2;
/// In a quiet run, a node is disturbed if its noise is this many times that of the median node.
const UNUSUAL: f64 = 2.0;
/// The number of values that the median variance of all nodes is worth, compared with those of a node.
const PRIOR_VALUES: f64 = 4.0;

/// The iteration and the logarithm of the time of each call of a unit.
type Values = Vec<(u32, f64)>;

/// A unit in one run.
pub(super) struct Level {
    pub(super) level: f64,
    /// By iteration, without the level and the drift of the machine, limited.
    pub(super) residuals: Values,
    /// The variance of the level; `None` for a single value.
    pub(super) variance: Option<f64>,
    /// The standard deviation of the values below the median; in quiet runs, 0 unless it is unusually large.
    pub(super) noise: f64,
}

/// The levels of all units in both runs; `None` for units that a run does not have.
pub(super) fn of_runs(units: &[Unit], n_iterations: [usize; 2]) -> [Vec<Option<Level>>; 2] {
    let drifts = [0, 1].map(|run| drift(units, run, n_iterations[run]));
    let limits = drifts.each_ref().map(|drift| limit(drift));
    let calm = match limits {
        [Some(in_a), Some(in_b)] => Some([without(units, 0, &drifts[0], in_a), without(units, 1, &drifts[1], in_b)]),
        _ => None,
    };
    let mut levels = match calm {
        Some(calm) if calm.iter().all(|values| noise(values) <= NOISY) => calm.map(quiet),
        _ => [0, 1].map(|run| noisy(units, run, without(units, run, &drifts[run], f64::INFINITY))),
    };
    levels.iter_mut().for_each(|levels| pull(levels));
    levels
}

/// The speed of the machine in each iteration of a run: the median distance of all nodes from their own fast calls.
fn drift(units: &[Unit], run: usize, n_iterations: usize) -> Vec<f64> {
    let mut distances: Vec<Vec<f64>> = vec![Vec::new(); n_iterations];
    for unit in units {
        let values = &unit.sides[run].values;
        if !values.is_empty() {
            let fast = quantile(&sorted(values), LOW);
            values.iter().for_each(|(at, value)| distances[*at as usize].push(value - fast));
        }
    }
    // Few nodes do not show what they have in common.
    let drift = |distances: &mut Vec<f64>| if distances.len() >= MANY_NODES { median(distances) } else { 0.0 };
    distances.iter_mut().map(drift).collect()
}

/// The drift up to which iterations are calm; `None` if few are.
fn limit(drift: &[f64]) -> Option<f64> {
    let mut by_speed = drift.to_vec();
    by_speed.sort_unstable_by(f64::total_cmp);
    if by_speed.is_empty() {
        return Some(0.0);
    }
    let limit = quantile(&by_speed, LOW) + CALM;
    if drift.len() < 2 * FEWEST {
        // Of a short run, the fastest iterations are kept in any case.
        return Some(limit.max(by_speed[drift.len().min(FEWEST) - 1]));
    }
    let n_calm = by_speed.partition_point(|drift| *drift <= limit);
    (n_calm >= FEWEST.max(drift.len() / 4)).then_some(limit)
}

/// The values of each unit without the drift, in iterations with at most this drift.
fn without(units: &[Unit], run: usize, drift: &[f64], limit: f64) -> Vec<Values> {
    let of_unit = |unit: &Unit| {
        let values = unit.sides[run].values.iter();
        let calm = values.filter(|(at, _)| drift[*at as usize] <= limit);
        calm.map(|(at, value)| (*at, value - drift[*at as usize])).collect()
    };
    units.iter().map(of_unit).collect()
}

fn sorted(values: &[(u32, f64)]) -> Vec<f64> {
    let mut values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The standard deviation of normally distributed values, from those below the median: a tenth of all is below it by more than
/// 1.28 standard deviations.
fn below_median(sorted: &[f64]) -> f64 {
    (quantile(sorted, 0.5) - quantile(sorted, 0.1)) / 1.28
}

/// The usual standard deviation of the values of a unit that are below its median.
fn noise(units: &[Values]) -> f64 {
    let long = units.iter().filter(|values| values.len() >= FEWEST);
    let mut noises: Vec<f64> = long.map(|values| below_median(&sorted(values))).collect();
    if noises.is_empty() { 0.0 } else { median(&mut noises) }
}

/// The values without their usual value, limited.
fn residuals(mut values: Values, usual: f64) -> Values {
    let mut residuals: Vec<f64> = values.iter().map(|(_, value)| value - usual).collect();
    clip(&mut residuals);
    values.iter_mut().zip(residuals).for_each(|((_, value), residual)| *value = residual);
    values
}

fn quiet(units: Vec<Values>) -> Vec<Option<Level>> {
    let usual_noise = noise(&units);
    let of_unit = |values: Values| {
        let (n, ordered) = (values.len(), sorted(&values));
        let level = (n > 0).then(|| faster_half(&ordered))?;
        let noise = below_median(&ordered);
        let noise = if noise > UNUSUAL * usual_noise { noise } else { 0.0 };
        let residuals = residuals(values, level);
        let of_one = variance(&residuals.iter().map(|(_, residual)| *residual).collect::<Vec<_>>()) * OF_CLIPPED;
        let variance = (n > 1).then(|| faster_half_variance(of_one, n));
        Some(Level { level, residuals, variance, noise })
    };
    units.into_iter().map(of_unit).collect()
}

/// The levels in a noisy run. They come from the times as measured, because what disturbs such a run is not common to all
/// operators and cannot be subtracted. `corrected` are the times after the speed of the machine was subtracted; they only show
/// how much the calls of a node vary.
fn noisy(units: &[Unit], run: usize, corrected: Vec<Values>) -> Vec<Option<Level>> {
    let of_unit = |(unit, corrected): (&Unit, Values)| {
        let measured = sorted(&unit.sides[run].values);
        let n = measured.len();
        if n == 0 {
            return None;
        }
        let part = LOW.max(LOWEST_RANK / n as f64).min(0.5);
        let ordered = sorted(&corrected);
        Some(Level {
            level: quantile(&measured, part),
            residuals: residuals(corrected, quantile(&ordered, 0.5)),
            variance: (n > 1).then(|| quantile_error(&measured, part).powi(2)),
            noise: below_median(&measured).max(below_median(&ordered)),
        })
    };
    units.iter().zip(corrected).map(of_unit).collect()
}

/// Pulls the variances towards their median.
fn pull(levels: &mut [Option<Level>]) {
    let n = |level: &Level| level.residuals.len() as f64;
    let mut of_one_value: Vec<f64> =
        levels.iter().flatten().filter_map(|level| Some(level.variance? * n(level))).collect();
    if of_one_value.is_empty() {
        return;
    }
    let usual = median(&mut of_one_value);
    for level in levels.iter_mut().flatten() {
        let n = n(level);
        let pulled = |own: f64| (PRIOR_VALUES * usual / n + (n - 1.0) * own) / (PRIOR_VALUES + n - 1.0);
        level.variance = level.variance.map(pulled);
    }
}
