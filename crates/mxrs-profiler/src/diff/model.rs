//! The statistics of a comparison. All times are logarithms here, so that a factor is a sum.
//!
//! 1. *Drift.* In each run, the median over all nodes of their distances from their own fast calls is the speed of the machine
//!    in an iteration. It is subtracted from all nodes. A node that is slower in the whole run does not move it, because each
//!    node is compared with itself. Iterations in which the machine was much slower than at its best are left out: other
//!    programs ran then, and they do not slow all operators by the same factor.
//! 2. *Effect of a node.* The level of a node in a run is the mean of its faster half without the fastest tenth: other programs
//!    only make calls longer. If few iterations are left, or if even the faster calls vary much, a run was disturbed all the
//!    time. Then the level is a low quantile of the times as they were measured: it is nearer to what the node takes without
//!    disturbance. The effect is the difference of the two levels. Its variance is pulled towards the median of all nodes,
//!    because a few values do not show their variance well.
//! 3. *Effect of an operator.* The mean of the middle half of the effects of its nodes. Its variance is the largest of three:
//!    from the variances of the nodes; from the differences between the effects of the nodes, which also contain what differs
//!    from run to run, such as addresses; and from the course of the mean residual of all nodes over time, which also contains
//!    what the nodes of an operator have in common.
//! 4. *Speed of the machine.* One unknown number `m` is the change of all operators that did not change themselves. Each
//!    operator has changed with the probability [`CHANGED`], and then by about [`USUAL_CHANGE`]. So each operator has one vote
//!    about `m`, however large its part of the time is, and operators that contradict the others count as changed. The
//!    probabilities are summed over a grid of `m`.

use super::levels::{self, Level};
use super::robust::{OF_CLIPPED, clip, mean, mean_variance, median, middle, spread, variance};
use super::series::Unit;

/// The fewest values of a node on which a conclusion is based. With fewer values, one outlier could be taken for a change.
pub(super) const FEWEST: usize = 5;

/// The prior probability that an operator changed, and below it the prior probability that a node changed.
const CHANGED: f64 = 0.04;
const NODE_CHANGED: f64 = 0.02;
/// The scale of the prior distribution of an operator's change, if it changed: a logarithm of a factor.
const USUAL_CHANGE: f64 = 0.12;
/// The scale of the prior distribution of the change of the machine's speed from run to run.
pub(super) const MACHINE: f64 = 0.15;
/// The standard deviation of the difference between two runs without any change, due to unknown causes. It holds for an
/// operator; for a node it is at least this.
pub(super) const RUN_TO_RUN: f64 = 0.005;
/// The degrees of freedom of the Student's distribution of errors. With them, large errors are more likely than in a normal
/// distribution.
const FREEDOM: f64 = 40.0;
/// The degrees of freedom of the distribution of changes of operators and of the machine. There are few, because some
/// changes are very large.
const FREEDOM_OF_CHANGES: f64 = 2.0;
/// The logarithms of Γ((ν + 1) / 2) / Γ(ν / 2) / √(ν π) for these degrees of freedom ν: the constant factors of the
/// densities.
const LOG_FACTOR: f64 = -0.925_19;
const LOG_FACTOR_OF_CHANGES: f64 = -1.039_72;

/// A Student's distribution of errors, given by its degrees of freedom.
#[derive(Clone, Copy)]
pub(super) struct Errors {
    pub(super) freedom: f64,
    /// The logarithm of Γ((ν + 1) / 2) / Γ(ν / 2) / √(ν π) for ν degrees of freedom.
    pub(super) log_factor: f64,
}

/// The distribution of the errors of a single pair of runs.
const ERRORS: Errors = Errors { freedom: FREEDOM, log_factor: LOG_FACTOR };
/// The fewest nodes of an operator from which the differences between its nodes can be estimated.
pub(super) const MANY_NODES: usize = 5;
/// The change of the machine's speed between two runs is searched on a grid of log ratios: its step, and how far it extends
/// beyond the smallest and the largest change that an operator shows.
const STEP: f64 = 0.002;
const MARGIN: f64 = 0.5;
/// The most steps of the grid.
const MOST_STEPS: f64 = 20_000.0;

/// The change of an operator or a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effect {
    /// The logarithm of the ratio of the times, after the change of the machine's speed was subtracted.
    pub(super) log_ratio: f64,
    /// The standard error of `log_ratio`.
    pub(super) error: f64,
    /// The probability that the operator or node changed, so that its true `log_ratio` is not 0.
    pub(super) certainty: f64,
    /// Whether there are enough values for a conclusion.
    pub(super) is_founded: bool,
}

impl Effect {
    /// The range in which the logarithm of the ratio is with a probability of 95 %.
    pub(super) fn interval(&self) -> [f64; 2] {
        [self.log_ratio - 1.96 * self.error, self.log_ratio + 1.96 * self.error]
    }
}

/// The difference of the levels of a unit that both runs have.
#[derive(Clone, Copy)]
struct Difference {
    effect: f64,
    variance: f64,
    n_values: usize,
    /// The larger one of the noises of the two runs.
    noise: f64,
}

pub(super) struct Model {
    differences: Vec<Option<Difference>>,
    operators: Vec<Option<Effect>>,
    /// How much the effects of the nodes of one operator vary if they all changed by the same factor: the variance of this.
    between_nodes: f64,
    machine: f64,
    machine_variance: f64,
}

impl Model {
    /// Estimates the changes of all operators. `operators` lists the units of each.
    pub(super) fn fit(units: &[Unit], operators: &[&[usize]], n_iterations: [usize; 2]) -> Self {
        let levels = levels::of_runs(units, n_iterations);
        let differences = differences(&levels, operators);
        let of = |members: &[usize]| members.iter().filter_map(|unit| differences[*unit]).collect::<Vec<_>>();
        let between_nodes = between_nodes(operators.iter().map(|members| of(members)));
        let votes: Vec<Option<(f64, f64)>> = operators
            .iter()
            .map(|members| {
                let nodes = of(members);
                let in_common = [0, 1].map(|run| in_common(&levels[run], members));
                (!nodes.is_empty()).then(|| vote(&nodes, in_common, between_nodes))
            })
            .collect();
        let (machine, machine_variance, certainties) = posterior(&votes, MACHINE, ERRORS);
        let effects = votes.iter().zip(certainties).zip(operators).map(|((vote, certainty), members)| {
            let (effect, variance) = (*vote)?;
            let nodes = of(members);
            let n_values = nodes.iter().map(|node| node.n_values).max().unwrap_or(0);
            Some(Effect {
                log_ratio: effect - machine,
                error: (variance + machine_variance).sqrt(),
                certainty,
                is_founded: n_values.max(nodes.len()) >= FEWEST,
            })
        });
        let effects = effects.collect();
        Self { differences, operators: effects, between_nodes, machine, machine_variance }
    }

    /// The change of an operator; `None` if only one run has it.
    pub(super) fn operator(&self, number: usize) -> Option<Effect> {
        self.operators[number]
    }

    /// The change of a node, whose calls in an iteration are these units.
    pub(super) fn node(&self, members: &[usize]) -> Option<Effect> {
        let units: Vec<Difference> = members.iter().filter_map(|unit| self.differences[*unit]).collect();
        let n_values = units.iter().map(|unit| unit.n_values).min()?;
        let n = units.len() as f64;
        let effect = middle(&mut units.iter().map(|unit| unit.effect).collect::<Vec<_>>()) - self.machine;
        let own = units.iter().map(|unit| unit.variance).sum::<f64>() / (n * n);
        // A disturbance that is seen in some calls of the node may have slowed all of them, so the noise adds to the
        // variance.
        let disturbance = units.iter().map(|unit| unit.noise).fold(0.0, f64::max).powi(2);
        let variance = own + disturbance + self.between_nodes + RUN_TO_RUN.powi(2) + self.machine_variance;
        let certainty = certainty_of_node(effect, variance, ERRORS);
        Some(Effect { log_ratio: effect, error: variance.sqrt(), certainty, is_founded: n_values >= FEWEST })
    }

    /// The logarithm of the change of the machine's speed, and the range in which it is with a probability of 95 %.
    pub(super) fn machine(&self) -> [f64; 3] {
        let width = 1.96 * self.machine_variance.sqrt();
        [self.machine, self.machine - width, self.machine + width]
    }
}

fn differences(levels: &[Vec<Option<Level>>; 2], operators: &[&[usize]]) -> Vec<Option<Difference>> {
    let mut differences: Vec<Option<Difference>> = Vec::with_capacity(levels[0].len());
    for pair in levels[0].iter().zip(&levels[1]) {
        differences.push(match pair {
            (Some(a), Some(b)) => Some(Difference {
                effect: b.level - a.level,
                variance: a.variance.zip(b.variance).map_or(f64::NAN, |(a, b)| a + b),
                n_values: a.residuals.len().min(b.residuals.len()),
                noise: a.noise.max(b.noise),
            }),
            _ => None,
        });
    }
    // For a unit with a single value, the variance is unknown. The variance between the nodes of an operator is used
    // instead.
    if differences.iter().flatten().any(|difference| difference.variance.is_nan()) {
        let mut distances = Vec::new();
        for members in operators.iter().filter(|members| members.len() >= MANY_NODES) {
            let mut effects: Vec<f64> = members.iter().filter_map(|unit| Some(differences[*unit]?.effect)).collect();
            if !effects.is_empty() {
                let center = median(&mut effects);
                distances.extend(effects.iter().map(|effect| effect - center));
            }
        }
        let error = if distances.len() >= MANY_NODES { spread(&distances).max(0.02) } else { 0.25 };
        for difference in differences.iter_mut().flatten().filter(|difference| difference.variance.is_nan()) {
            difference.variance = error * error;
        }
    }
    differences
}

/// The variance between the effects of the nodes of one operator that their own variances do not explain.
fn between_nodes(operators: impl Iterator<Item = Vec<Difference>>) -> f64 {
    let (mut sum, mut n_all) = (0.0, 0.0);
    for nodes in operators.filter(|nodes| nodes.len() >= MANY_NODES) {
        let n = nodes.len() as f64;
        let effects: Vec<f64> = nodes.iter().map(|node| node.effect).collect();
        let explained = nodes.iter().map(|node| node.variance).sum::<f64>() / n;
        sum += (spread(&effects).powi(2) - explained).max(0.0) * n;
        n_all += n;
    }
    if n_all > 0.0 { (sum / n_all).max(RUN_TO_RUN.powi(2)) } else { RUN_TO_RUN.powi(2) }
}

/// The variance of the mean residual of the nodes of an operator in a run, as a measure of disturbances that all nodes
/// share. `None` for a single iteration.
fn in_common(levels: &[Option<Level>], members: &[usize]) -> Option<f64> {
    let of_units = members.iter().filter_map(|unit| levels[*unit].as_ref());
    let mut residuals: Vec<(u32, f64)> = of_units.flat_map(|level| level.residuals.iter().copied()).collect();
    residuals.sort_by_key(|(iteration, _)| *iteration);
    let of_iterations = residuals.chunk_by(|x, y| x.0 == y.0);
    let means: Vec<f64> = of_iterations
        .map(|chunk| chunk.iter().map(|(_, residual)| residual).sum::<f64>() / chunk.len() as f64)
        .collect();
    mean_variance(&means)
}

/// The effect of an operator and its variance. `posterior` uses them as the operator's vote about the machine's speed.
fn vote(nodes: &[Difference], in_common: [Option<f64>; 2], between_nodes: f64) -> (f64, f64) {
    let n = nodes.len() as f64;
    let mut effects: Vec<f64> = nodes.iter().map(|node| node.effect).collect();
    let effect = middle(&mut effects);
    // With many nodes, the differences between the nodes already contain disturbances. With few nodes, their noise is added
    // to the variance.
    let is_few = nodes.len() < MANY_NODES;
    let own = |node: &Difference| node.variance + if is_few { node.noise.powi(2) } else { 0.0 };
    let of_nodes = mean(&nodes.iter().map(own).collect::<Vec<_>>()) / n + between_nodes / n;
    let of_differences = if nodes.len() >= MANY_NODES {
        effects.iter_mut().for_each(|own| *own -= effect);
        clip(&mut effects);
        variance(&effects) * OF_CLIPPED / n
    } else {
        0.0
    };
    let of_course = match in_common {
        [Some(a), Some(b)] => a + b + between_nodes / n,
        _ => 0.0,
    };
    (effect, of_nodes.max(of_differences).max(of_course) + RUN_TO_RUN.powi(2))
}

/// The logarithms of two densities of this effect, each multiplied by the prior probability: that the effect is only an
/// error, and that it is a change with an error. Both are Student's distributions.
fn hypotheses(effect: f64, variance: f64, changed: f64, errors: Errors) -> [f64; 2] {
    let density = |variance: f64, freedom: f64, log_factor: f64| {
        log_factor - 0.5 * variance.ln() - 0.5 * (freedom + 1.0) * (effect * effect / variance / freedom).ln_1p()
    };
    let same = density(variance, errors.freedom, errors.log_factor);
    let different = density(variance + USUAL_CHANGE.powi(2), FREEDOM_OF_CHANGES, LOG_FACTOR_OF_CHANGES);
    [(1.0 - changed).ln() + same, changed.ln() + different]
}

/// The probability that a node with this effect changed. The change of the machine's speed was already subtracted from the
/// effect.
pub(super) fn certainty_of_node(effect: f64, variance: f64, errors: Errors) -> f64 {
    let [same, changed] = hypotheses(effect, variance, NODE_CHANGED, errors);
    1.0 / (1.0 + (same - changed).exp())
}

/// The mean and the variance of the change of the machine's speed, and the probability that each operator changed. `usual`
/// is the scale of the prior distribution of the machine's change.
pub(super) fn posterior(votes: &[Option<(f64, f64)>], usual: f64, errors: Errors) -> (f64, f64, Vec<f64>) {
    let effects = || votes.iter().flatten().map(|(effect, _)| *effect);
    let lowest = effects().fold(0.0, f64::min) - MARGIN;
    let highest = effects().fold(0.0, f64::max) + MARGIN;
    let step = STEP.max((highest - lowest) / MOST_STEPS);
    let grid: Vec<f64> = (0..=((highest - lowest) / step) as usize).map(|at| lowest + at as f64 * step).collect();
    // For one operator and one value of the machine's change: the logarithm of the sum of the densities of both hypotheses,
    // and the probability that the operator changed.
    let of_vote = |(effect, variance): (f64, f64), machine: f64| {
        let [same, changed] = hypotheses(effect - machine, variance, CHANGED, errors);
        let larger = same.max(changed);
        let together = larger + ((same - larger).exp() + (changed - larger).exp()).ln();
        (together, (changed - together).exp())
    };
    let logs: Vec<f64> = grid
        .iter()
        .map(|machine| {
            let of_votes = votes.iter().flatten().map(|vote| of_vote(*vote, *machine).0).sum::<f64>();
            of_votes - 0.5 * (FREEDOM_OF_CHANGES + 1.0) * ((machine / usual).powi(2) / FREEDOM_OF_CHANGES).ln_1p()
        })
        .collect();
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
    let sum = weights.iter().sum::<f64>();
    let expected = |value: &dyn Fn(f64) -> f64| {
        grid.iter().zip(&weights).map(|(machine, weight)| value(*machine) * weight).sum::<f64>() / sum
    };
    let machine = expected(&|machine| machine);
    let variance = expected(&|at| (at - machine).powi(2));
    let certainty = |vote: &Option<(f64, f64)>| vote.map_or(0.0, |vote| expected(&|machine| of_vote(vote, machine).1));
    (machine, variance, votes.iter().map(certainty).collect())
}
