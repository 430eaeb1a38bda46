//! Several pairs of runs together: what a single pair cannot tell from a change, it cannot repeat.
//!
//! Two runs of one program differ by more than their calls show: the addresses of memory, the core that a thread starts on, a
//! neighbor that takes bandwidth. An operator that such a difference slows looks changed in one pair of runs. In the next pair
//! another operator does. So the differences between pairs are the measure of the error here:
//!
//! 1. The effect of an operator is the mean of its middle effects over the pairs, with the change of the machine included.
//! 2. What the effects of a pair have in common beyond that is the machine in that pair. Its scale says how much the machine
//!    can have changed on the average of all pairs.
//! 3. What is left over is the error of one effect. The own error of an operator is pulled towards that of all, because a few
//!    pairs do not show it well.
//! 4. From there on, an operator is judged as in a single pair: see `model`, step 4.

use super::model::{self, Effect, Errors, FEWEST, MACHINE, RUN_TO_RUN};
use super::robust::{mean, median, middle, spread};
use super::{Comparison, Options, Row, Side, Verdict, verdict};
use std::collections::BTreeMap;

/// The number of pairs that the error of all operators is worth, compared with those of one.
const PRIOR_PAIRS: f64 = 4.0;
/// Errors that are estimated from about eight differences. For the factor, see [`Errors::log_factor`].
const ERRORS: Errors = Errors { freedom: 8.0, log_factor: -0.950_11 };
/// By how much the variance of the middle of a few values is larger than that of their mean.
const OF_MIDDLE: f64 = std::f64::consts::FRAC_PI_2;

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

    fn center(&self) -> Option<f64> {
        let mut effects: Vec<f64> = self.effects.iter().map(|(_, effect, _)| *effect).collect();
        (!effects.is_empty()).then(|| middle(&mut effects))
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
    let machines = machines(&operators, pairs.len());
    let n = pairs.len() as f64;
    let of_machine = machines.iter().map(|machine| machine.powi(2)).sum::<f64>();
    // The usual change of the machine counts as one more difference.
    let usual = ((MACHINE.powi(2) + of_machine) / n / n).sqrt();
    let is_founded = pairs.len() >= FEWEST || pairs.iter().all(|pair| pair.iterations.iter().all(|n| *n >= FEWEST));

    let votes = votes(&operators, &machines);
    let (machine, machine_variance, certainties) = model::posterior(&votes, usual, ERRORS);
    let effect = |(effect, variance): (f64, f64), certainty: f64| Effect {
        log_ratio: effect - machine,
        error: (variance + machine_variance).sqrt(),
        certainty,
        is_founded,
    };
    let of_operators =
        votes.iter().zip(&certainties).map(|(vote, certainty)| vote.map(|vote| effect(vote, *certainty)));
    let of_nodes = self::votes(&nodes, &machines).into_iter().map(|vote| {
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

/// By how much the machine changed in each pair, beyond the average of all pairs: what the operators have in common.
fn machines(operators: &[Repeated<'_>], n_pairs: usize) -> Vec<f64> {
    let mut distances: Vec<Vec<f64>> = vec![Vec::new(); n_pairs];
    for operator in operators {
        let center = operator.center();
        for (pair, effect, _) in &operator.effects {
            distances[*pair].extend(center.map(|center| effect - center));
        }
    }
    distances.iter_mut().map(|of_pair| if of_pair.is_empty() { 0.0 } else { median(of_pair) }).collect()
}

/// The effect of each operator or node over all pairs, with its variance.
fn votes(all: &[Repeated<'_>], machines: &[f64]) -> Vec<Option<(f64, f64)>> {
    let residuals = |own: &Repeated<'_>| -> Vec<f64> {
        let without: Vec<f64> = own.effects.iter().map(|(pair, effect, _)| effect - machines[*pair]).collect();
        let center = if without.is_empty() { 0.0 } else { middle(&mut without.clone()) };
        without.iter().map(|effect| effect - center).collect()
    };
    let repeated = all.iter().filter(|own| own.effects.len() > 1);
    let of_all: Vec<f64> = repeated.flat_map(residuals).collect();
    // Residuals from a middle of n values are too small by the factor (n - 1) / n.
    let n_pairs = machines.len() as f64;
    let usual = if of_all.is_empty() { 0.0 } else { spread(&of_all).powi(2) * n_pairs / (n_pairs - 1.0) };
    let vote = |own: &Repeated<'_>| {
        let without: Vec<f64> = own.effects.iter().map(|(pair, effect, _)| effect - machines[*pair]).collect();
        if without.is_empty() {
            return None;
        }
        let n = without.len() as f64;
        let squares = residuals(own).iter().map(|residual| residual.powi(2)).sum::<f64>();
        let of_one = (PRIOR_PAIRS * usual + squares) / (PRIOR_PAIRS + n - 1.0);
        let within = own.effects.iter().map(|(_, _, variance)| *variance).sum::<f64>() / n;
        // Each is an estimate of the whole error of one pair. With few pairs, the differences between them may be small by chance.
        let of_one = if n < 3.0 { of_one.max(within) } else { of_one.max(RUN_TO_RUN.powi(2)) };
        Some((middle(&mut without.clone()), of_one * OF_MIDDLE / n))
    };
    all.iter().map(vote).collect()
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
