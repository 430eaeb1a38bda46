//! Judges several pairs of runs together. A random difference may look like a change in one pair of runs, but it does not
//! repeat in the other pairs.
//!
//! Two runs of one program differ by more than their calls show: the addresses of memory, the core that a thread starts on,
//! a neighbor that takes bandwidth. An operator that is slowed by such a difference looks changed in one pair of runs. In
//! the next pair, it is another operator. So here the differences between pairs measure the error:
//!
//! 1. The effect of an operator is the mean of its effects over the pairs, with outliers limited. It includes the change of
//!    the machine.
//! 2. What all effects of one pair have in common in addition is the change of the machine in that pair. It is their mean,
//!    in which operators with small errors count more. The size of these changes says how much the machine can have changed
//!    on the average of all pairs.
//! 3. The rest is the error of one effect. A few pairs give a bad estimate of it. So it is averaged with the error within
//!    the pairs, multiplied by the factor by which differences between pairs usually exceed that error.
//! 4. From there on, an operator is judged as in a single pair: see `model`, step 4.

use super::model::{self, Effect, Errors, FEWEST, MACHINE, RUN_TO_RUN};
use super::robust::{OF_CLIPPED, clip, mean, median, middle};
use super::{Comparison, Options, Row, Side, Verdict, verdict};
use std::collections::BTreeMap;

/// The weight of the usual error of all operators when it is averaged with the error of one operator, as a number of pairs.
const PRIOR_PAIRS: f64 = 4.0;
/// The number of rounds in which the machine's changes and the operators' effects are estimated in turn.
const ROUNDS: usize = 5;
/// The distribution of errors that are estimated from about eight differences. For the factor, see [`Errors::log_factor`].
const ERRORS: Errors = Errors { freedom: 8.0, log_factor: -0.950_11 };

/// One operator or node in all pairs: its row in each pair.
struct Repeated<'a> {
    rows: Vec<Option<&'a Row>>,
    /// The effects in the pairs that have times of both runs: the pair, the logarithm of the ratio of the times, and its
    /// variance within this pair.
    effects: Vec<(usize, f64, f64)>,
}

impl<'a> Repeated<'a> {
    fn new(rows: Vec<Option<&'a Row>>, pairs: &[Comparison]) -> Self {
        let of = |(pair, row): (usize, &Option<&Row>)| {
            let (ratio, [low, high]) = ((*row)?.ratio?, (*row)?.interval?);
            let machine = pairs[pair].machine;
            let width = |[low, high]: [f64; 2]| ((high / low).ln() / (2.0 * 1.96)).powi(2);
            // The interval of a row includes the uncertainty of the machine's speed. That is not an error of the row's own
            // time, so it is subtracted.
            let variance = (width([low, high]) - width(pairs[pair].machine_interval)).max(RUN_TO_RUN.powi(2));
            Some((pair, (ratio * machine).ln(), variance))
        };
        let effects = rows.iter().enumerate().filter_map(of).collect();
        Self { rows, effects }
    }

    /// The mean of the effects over the pairs, and the mean of their variances within the pairs.
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
    // The prior scale of the machine's change counts as one more observed change.
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

/// For each name of an operator or node, its rows in all pairs.
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

/// The result of fitting all operators, or all nodes, over several pairs.
struct Fit {
    /// The change of the machine in each pair, relative to the average pair.
    machines: Vec<f64>,
    /// The effect of each operator over all pairs, and the variance of its effect in one pair.
    effects: Vec<Option<(f64, f64)>>,
}

/// Estimates the change of the machine in each pair, and the effects without it. Each depends on the other, so they are
/// computed in turn for some rounds.
fn fit(all: &[Repeated<'_>], n_pairs: usize) -> Fit {
    let mut fit = Fit { machines: vec![0.0; n_pairs], effects: all.iter().map(Repeated::alone).collect() };
    for _ in 0..ROUNDS {
        fit.machines = machines(all, &fit.effects, n_pairs);
        fit.effects = effects(all, &fit.machines);
    }
    fit
}

/// The machine's change in each pair: the mean distance of the operators' effects in that pair from their usual effects,
/// weighted by their errors.
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

/// For each operator, its effect without the changes of the machine, and the variance of its effect in one pair.
fn effects(all: &[Repeated<'_>], machines: &[f64]) -> Vec<Option<(f64, f64)>> {
    let of = |own: &Repeated<'_>| {
        let without: Vec<f64> = own.effects.iter().map(|(pair, effect, _)| effect - machines[*pair]).collect();
        let center = (!without.is_empty()).then(|| clipped_mean(&without))?;
        let squares = without.iter().map(|effect| (effect - center).powi(2)).sum::<f64>();
        let within = own.effects.iter().map(|(_, _, variance)| *variance).sum::<f64>() / without.len() as f64;
        Some((center, squares, within, without.len() as f64 - 1.0))
    };
    let found: Vec<_> = all.iter().map(of).collect();
    // The usual factor by which differences between pairs exceed the error within pairs.
    let repeated = found.iter().flatten().filter(|(.., freedom)| *freedom > 0.0);
    let mut ratios: Vec<f64> = repeated.map(|(_, squares, within, freedom)| squares / freedom / within).collect();
    let usual = if ratios.is_empty() { 1.0 } else { median(&mut ratios).max(1.0) };
    let pulled = |(center, squares, within, freedom): (f64, f64, f64, f64)| {
        let of_one = (PRIOR_PAIRS * usual * within + squares) / (PRIOR_PAIRS + freedom);
        (center, of_one.max(RUN_TO_RUN.powi(2)))
    };
    found.into_iter().map(|found| found.map(pulled)).collect()
}

/// The mean of values, after values far from the middle were limited.
fn clipped_mean(values: &[f64]) -> f64 {
    let center = middle(&mut values.to_vec());
    let mut distances: Vec<f64> = values.iter().map(|value| value - center).collect();
    clip(&mut distances);
    center + mean(&distances)
}

/// The effects as votes for `model::posterior`: each with the variance of its mean over the pairs.
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
