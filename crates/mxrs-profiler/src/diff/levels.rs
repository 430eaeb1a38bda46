//! The level of each node in a run: what a call takes if other programs do not disturb it. These are steps 1 and 2 of the
//! list in `model`.

use super::model::{FEWEST, MANY_NODES};
use super::robust::{OF_CLIPPED, clip, faster_half, faster_half_variance, median, quantile, quantile_error, variance};
use super::series::Unit;

/// An iteration is left out if its log time is larger than at the machine's best speed by more than this.
const CALM: f64 = 0.25;
/// In noisy runs, the level of a node is this quantile of its times. It is at least at rank `LOWEST_RANK`, so that a single
/// fast call does not decide.
const LOW: f64 = 0.1;
const LOWEST_RANK: f64 = 2.5;
/// A run is noisy if the standard deviation of a typical node, estimated from the values below its median, is larger than
/// this.
const NOISY: f64 = 0.2;
/// In a quiet run, a node counts as disturbed if its noise is this many times that of a typical node.
const UNUSUAL: f64 = 2.0;
/// The weight of the median variance of all nodes when it is averaged with the variance of one node, as a number of values.
const PRIOR_VALUES: f64 = 4.0;

/// The calls of a unit: the iteration of each call, and the logarithm of its time.
type Values = Vec<(u32, f64)>;

/// A unit (the corresponding calls of a node) in one run. `level` is the logarithm of its undisturbed time.
pub(super) struct Level {
    pub(super) level: f64,
    /// For each call, the iteration and what is left of the logarithm of its time without the level and the drift of the
    /// machine. Outliers are limited.
    pub(super) residuals: Values,
    /// The variance of the level; `None` for a single value.
    pub(super) variance: Option<f64>,
    /// The standard deviation, estimated from the values below the median. In quiet runs it is 0 unless it is unusually
    /// large.
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
    // With few nodes, the median does not tell the machine's speed from the nodes' own variation, so no drift is subtracted.
    let drift = |distances: &mut Vec<f64>| if distances.len() >= MANY_NODES { median(distances) } else { 0.0 };
    distances.iter_mut().map(drift).collect()
}

/// The largest drift of an iteration that counts as calm. `None` if too few iterations are calm.
fn limit(drift: &[f64]) -> Option<f64> {
    let mut by_speed = drift.to_vec();
    by_speed.sort_unstable_by(f64::total_cmp);
    if by_speed.is_empty() {
        return Some(0.0);
    }
    let limit = quantile(&by_speed, LOW) + CALM;
    if drift.len() < 2 * FEWEST {
        // In a short run, some of the fastest iterations are kept in any case, so that values remain.
        return Some(limit.max(by_speed[drift.len().min(FEWEST) - 1]));
    }
    let n_calm = by_speed.partition_point(|drift| *drift <= limit);
    (n_calm >= FEWEST.max(drift.len() / 4)).then_some(limit)
}

/// The values of each unit without the drift, from the iterations whose drift is at most `limit`.
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

/// The standard deviation of values that are assumed to be normally distributed, estimated from those below the median. A
/// tenth of normally distributed values is more than 1.28 standard deviations below the median.
fn below_median(sorted: &[f64]) -> f64 {
    (quantile(sorted, 0.5) - quantile(sorted, 0.1)) / 1.28
}

/// The standard deviation of a typical unit, estimated from the values below the median.
fn noise(units: &[Values]) -> f64 {
    let long = units.iter().filter(|values| values.len() >= FEWEST);
    let mut noises: Vec<f64> = long.map(|values| below_median(&sorted(values))).collect();
    if noises.is_empty() { 0.0 } else { median(&mut noises) }
}

/// Subtracts the level `usual` from the values, and limits outliers.
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

/// Averages the variance of each unit with the median variance of all units, because few values give a bad estimate.
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
