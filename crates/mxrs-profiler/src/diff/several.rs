//! Several pairs of runs together: what a single pair cannot tell from a change, it cannot repeat.
//!
//! Two runs of one program differ by more than their calls show: the addresses of memory, the core that a thread starts on, a
//! neighbor that takes bandwidth. An operator that such a difference slows looks changed in one pair of runs. In the next pair
//! another operator does. So the differences between pairs are the measure of the error here:
//!
//! 1. The effect of an operator is the mean of its effects over the pairs, in which far ones are limited. It includes the change of
//!    the machine.
//! 2. What the effects of a pair have in common beyond that is the machine in that pair: their mean, in which operators with small
//!    errors count more. Its scale says how much the machine can have changed on the average of all pairs.
//! 3. What is left over is the error of one effect. A few pairs do not show it well, so it is pulled towards the error within the
//!    pairs, times the factor by which the differences between pairs usually exceed that error.
//! 4. From there on, an operator is judged as in a single pair: see `model`, step 4.

use super::model::{self, Effect, Errors, FEWEST, MACHINE, RUN_TO_RUN};
use super::robust::{OF_CLIPPED, clip, mean, median, middle};
use super::{Comparison, Options, Row, Side, Verdict, verdict};
use std::collections::BTreeMap;

/// The number of pairs that the error of all operators is worth, compared with those of one.
const PRIOR_PAIRS: f64 = 4.0;
/// How often the machine and the effects are estimated in turn.
const ROUNDS: usize = 5;
/// Errors that are estimated from about eight differences. For the factor, see [`Errors::log_factor`].
const ERRORS: Errors = Errors { freedom: 8.0, log_factor: -0.950_11 };

/// The rows of one operator or node in all pairs.
struct Repeated<'a> {
    rows: Vec<Option<&'a Row>>,
    /// The logarithms of the times' ratios in the pairs that have both times, each with its variance in that pair.
    effects: Vec<(usize, f64, f64)>,
}

impl<'a> Repeated<'a> {
    fn new(rows: Vec<Option<&'a Row>>, pairs: &[Comparison]) -> Self {
        let of = |(pair, row): (usize, &Option<&Row>)| {
            let (ratio, [low, high]) = ((*row)?.ratio?, (*row)?.interval?);
            let machine = pairs[pair].machine;
            let width = |[low, high]: [f64; 2]| ((high / low).ln() / (2.0 * 1.96)).powi(2);
            // The interval of a row contains the error of the machine, which is not an error of the time itself.
            let variance = (width([low, high]) - width(pairs[pair].machine_interval)).max(RUN_TO_RUN.powi(2));
            Some((pair, (ratio * machine).ln(), variance))
        };
        let effects = rows.iter().enumerate().filter_map(of).collect();
        Self { rows, effects }
    }

    /// The mean of the effects, with the mean of their variances within the pairs.
    fn alone(&self) -> Option<(f64, f64)> {
        let effects: Vec<f64> = self.effects.iter().map(|(_, effect, _)| *effect).collect();
        let within = self.effects.iter().map(|(_, _, variance)| *variance).sum::<f64>();
        (!effects.is_empty()).then(|| (clipped_mean(&effects), within / self.effects.len() as f64))
    }

    fn sides(&self) -> [Side; 2] {
        [|row: &Row| row.a, |row: &Row| row.b].map(|side| {
            let sides: Vec<Side> =
                self.rows.iter().flatten().map(|row| side(row)).filter(|side| side.calls > 0).collect();
            if sides.is_empty() {
                return Side::default();
            }
            Side {
                calls: sides.iter().map(|side| side.calls).sum(),
                typical_us: median(&mut sides.iter().map(|side| side.typical_us).collect::<Vec<_>>()),
                total_us: sides.iter().map(|side| side.total_us).sum(),
                share: mean(&sides.iter().map(|side| side.share).collect::<Vec<_>>()),
            }
        })
    }
}

/// Joins the comparisons of at least two pairs of runs.
pub(super) fn join(pairs: &[Comparison], options: Options) -> Comparison {
    let operators = repeated(pairs, |pair| &pair.operators);
    let nodes = repeated(pairs, |pair| &pair.nodes);
    let fitted = fit(&operators, pairs.len());
    let n = pairs.len() as f64;
    let of_machine = fitted.machines.iter().map(|machine| machine.powi(2)).sum::<f64>();
    // The usual change of the machine counts as one more difference.
    let usual = ((MACHINE.powi(2) + of_machine) / n / n).sqrt();
    let is_founded = pairs.len() >= FEWEST || pairs.iter().all(|pair| pair.iterations.iter().all(|n| *n >= FEWEST));

    let of_all = votes(&operators, &fitted.effects);
    let (machine, machine_variance, certainties) = model::posterior(&of_all, usual, ERRORS);
    let effect = |(effect, variance): (f64, f64), certainty: f64| Effect {
        log_ratio: effect - machine,
        error: (variance + machine_variance).sqrt(),
        certainty,
        is_founded,
    };
    let of_operators =
        of_all.iter().zip(&certainties).map(|(vote, certainty)| vote.map(|vote| effect(vote, *certainty)));
    let of_nodes = votes(&nodes, &effects(&nodes, &fitted.machines)).into_iter().map(|vote| {
        let certainty =
            |(own, variance): (f64, f64)| model::certainty_of_node(own - machine, variance + machine_variance, ERRORS);
        vote.map(|vote| effect(vote, certainty(vote)))
    });
    let for_nodes = 1.0 - (1.0 - options.certainty) / 10.0;
    let width = 1.96 * machine_variance.sqrt();
    let sum = |run: usize| pairs.iter().map(|pair| pair.iterations[run]).sum();
    let mut notes: Vec<String> = pairs.iter().flat_map(|pair| pair.notes.iter().cloned()).collect();
    notes.sort();
    notes.dedup();
    Comparison {
        pairs: pairs.len(),
        iterations: [sum(0), sum(1)],
        machine: machine.exp(),
        machine_interval: [(machine - width).exp(), (machine + width).exp()],
        operators: rows(&operators, of_operators, options.min_effect, options.certainty),
        nodes: rows(&nodes, of_nodes, options.min_effect, for_nodes),
        notes,
    }
}

/// The rows with the same names.
fn repeated<'a>(pairs: &'a [Comparison], of: impl Fn(&Comparison) -> &Vec<Row>) -> Vec<Repeated<'a>> {
    let mut by_name: BTreeMap<(&str, &str), Vec<Option<&Row>>> = BTreeMap::new();
    for (number, pair) in pairs.iter().enumerate() {
        for row in of(pair) {
            let rows = by_name.entry((&row.operator, &row.node)).or_insert_with(|| vec![None; pairs.len()]);
            rows[number] = Some(row);
        }
    }
    by_name.into_values().map(|rows| Repeated::new(rows, pairs)).collect()
}

/// What several pairs say about all operators, or about all nodes.
struct Fit {
    /// The change of the machine in each pair, without that of the average pair.
    machines: Vec<f64>,
    /// The effect over all pairs, with the variance of an effect in one pair.
    effects: Vec<Option<(f64, f64)>>,
}

/// Estimates the change of the machine in each pair, and the effects without it. Both depend on each other and on the errors, so
/// they are computed in turn.
fn fit(all: &[Repeated<'_>], n_pairs: usize) -> Fit {
    let mut fit = Fit { machines: vec![0.0; n_pairs], effects: all.iter().map(Repeated::alone).collect() };
    for _ in 0..ROUNDS {
        fit.machines = machines(all, &fit.effects, n_pairs);
        fit.effects = effects(all, &fit.machines);
    }
    fit
}

/// The mean over the operators of their distances from their usual effects, weighted by their errors.
fn machines(all: &[Repeated<'_>], effects: &[Option<(f64, f64)>], n_pairs: usize) -> Vec<f64> {
    let (mut sums, mut weights) = (vec![0.0; n_pairs], vec![0.0; n_pairs]);
    for (own, effect) in all.iter().zip(effects) {
        let Some((usual, error)) = effect else { continue };
        for (pair, effect, within) in &own.effects {
            let weight = 1.0 / error.max(*within);
            sums[*pair] += weight * (effect - usual);
            weights[*pair] += weight;
        }
    }
    let mut machines: Vec<f64> =
        sums.iter().zip(&weights).map(|(sum, weight)| if *weight > 0.0 { sum / weight } else { 0.0 }).collect();
    let average = mean(&machines);
    machines.iter_mut().for_each(|machine| *machine -= average);
    machines
}

/// The effects without the change of the machine, and the variance of an effect in one pair.
fn effects(all: &[Repeated<'_>], machines: &[f64]) -> Vec<Option<(f64, f64)>> {
    let of = |own: &Repeated<'_>| {
        let without: Vec<f64> = own.effects.iter().map(|(pair, effect, _)| effect - machines[*pair]).collect();
        let center = (!without.is_empty()).then(|| clipped_mean(&without))?;
        let squares = without.iter().map(|effect| (effect - center).powi(2)).sum::<f64>();
        let within = own.effects.iter().map(|(_, _, variance)| *variance).sum::<f64>() / without.len() as f64;
        Some((center, squares, within, without.len() as f64 - 1.0))
    };
    let found: Vec<_> = all.iter().map(of).collect();
    // How much larger the differences between pairs usually are than the error within them.
    let repeated = found.iter().flatten().filter(|(.., freedom)| *freedom > 0.0);
    let mut ratios: Vec<f64> = repeated.map(|(_, squares, within, freedom)| squares / freedom / within).collect();
    let usual = if ratios.is_empty() { 1.0 } else { median(&mut ratios).max(1.0) };
    let pulled = |(center, squares, within, freedom): (f64, f64, f64, f64)| {
        let of_one = (PRIOR_PAIRS * usual * within + squares) / (PRIOR_PAIRS + freedom);
        (center, of_one.max(RUN_TO_RUN.powi(2)))
    };
    found.into_iter().map(|found| found.map(pulled)).collect()
}

/// The mean of values of which those far from the middle are limited.
fn clipped_mean(values: &[f64]) -> f64 {
    let center = middle(&mut values.to_vec());
    let mut distances: Vec<f64> = values.iter().map(|value| value - center).collect();
    clip(&mut distances);
    center + mean(&distances)
}

/// The effects as votes: each with the variance of the mean over its pairs.
fn votes(all: &[Repeated<'_>], effects: &[Option<(f64, f64)>]) -> Vec<Option<(f64, f64)>> {
    let vote = |(own, effect): (&Repeated<'_>, &Option<(f64, f64)>)| {
        effect.map(|(effect, of_one)| (effect, of_one * OF_CLIPPED / own.effects.len() as f64))
    };
    all.iter().zip(effects).map(vote).collect()
}

fn rows(
    all: &[Repeated<'_>],
    effects: impl Iterator<Item = Option<Effect>>,
    min_effect: f64,
    certainty: f64,
) -> Vec<Row> {
    let row = |(own, effect): (&Repeated<'_>, Option<Effect>)| {
        let name = own.rows.iter().flatten().next();
        let [a, b] = own.sides();
        let mut row = Row {
            operator: name.map(|row| row.operator.clone()).unwrap_or_default(),
            node: name.map(|row| row.node.clone()).unwrap_or_default(),
            a,
            b,
            ratio: effect.map(|effect| effect.log_ratio.exp()),
            interval: effect.map(|effect| effect.interval().map(f64::exp)),
            certainty: effect.map(|effect| effect.certainty),
            verdict: Verdict::Same,
        };
        row.verdict = verdict(&row, effect, min_effect, certainty);
        row
    };
    let mut rows: Vec<Row> = all.iter().zip(effects).map(row).collect();
    rows.sort_by(|x, y| (y.a.total_us + y.b.total_us).total_cmp(&(x.a.total_us + x.b.total_us)));
    rows
}
