//! Compares two traces of the same work: which operators got slower or faster, and which differences are only noise.
//!
//! The two runs happened at different times, so the machine may have been faster in one of them. The comparison is therefore
//! between operators: a change is named if the operator changed and the others did not. `model` describes the statistics, and
//! `docs/design/0023-comparing-traces.md` has their power, their false alarms and their limits.

mod calls;
mod levels;
mod model;
mod print;
mod robust;
mod series;
mod several;

use crate::reader::Footer;
use calls::Run;
use model::{Effect, Model};
use mxrs_types::{Error, Result};
use serde::Serialize;
use series::{Groups, Unit};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// The smallest change of an operator or a node that is named, as a part of the time of the whole run. Smaller changes do
/// not matter, such as a view that takes 20 nanoseconds more.
const LEAST_OF_WHOLE: f64 = 5e-4;

/// Which changes a comparison names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The smallest change to name: 0.03 is 3 %. At least 0, less than 1. A change of less than 0.05 % of the time of the run is
    /// not named in any case.
    pub min_effect: f64,
    /// The smallest probability of a change to name, from 0.5 to less than 1. For a node, the allowed error is a tenth of
    /// that for an operator, so the default of 0.9 means 0.99: there are more nodes than operators.
    pub certainty: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { min_effect: 0.03, certainty: 0.9 }
    }
}

/// What happened to an operator or a node from the first run to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It takes longer.
    Slower,
    /// It takes less time.
    Faster,
    /// It did not change, or less than the noise lets one see, or too little to name ([`Options::min_effect`]).
    Same,
    /// Only the first run has it.
    OnlyInA,
    /// Only the second run has it.
    OnlyInB,
}

/// The calls of an operator or of a node in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Side {
    /// The number of calls.
    pub calls: usize,
    /// The typical time per iteration in microseconds: the median time of each call of an iteration, added up over its
    /// calls.
    pub typical_us: f64,
    /// The time of all calls in microseconds.
    pub total_us: f64,
    /// The part of the time of all operators, from 0 to 1.
    pub share: f64,
}

/// An operator with all its nodes, or one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The operator, such as `Convolution`.
    pub operator: String,
    /// The node, such as `conv0`. Empty for the whole operator.
    pub node: String,
    /// The first run.
    pub a: Side,
    /// The second run.
    pub b: Side,
    /// The time in the second run divided by that in the first, after the change of the machine's speed is divided out.
    pub ratio: Option<f64>,
    /// The range in which the ratio is with a probability of 95 %.
    pub interval: Option<[f64; 2]>,
    /// The probability that the time changed.
    pub certainty: Option<f64>,
    /// The conclusion.
    pub verdict: Verdict,
}

/// The differences of two runs, or of several pairs of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The number of pairs of runs.
    pub pairs: usize,
    /// The number of iterations that were found before and after, in all runs.
    pub iterations: [usize; 2],
    /// The factor by which the machine got slower, estimated from all operators.
    pub machine: f64,
    /// The range in which `machine` is with a probability of 95 %.
    pub machine_interval: [f64; 2],
    /// The operators, those with the largest time first.
    pub operators: Vec<Row>,
    /// The nodes of all operators, those with the largest time first. Empty if the traces do not name nodes.
    pub nodes: Vec<Row>,
    /// What a reader has to know about the traces: missing ends, dropped records, few iterations.
    pub notes: Vec<String>,
}

impl Comparison {
    /// The rows whose verdict is not [`Verdict::Same`]: operators, then nodes.
    pub fn named(&self) -> impl Iterator<Item = &Row> {
        self.operators.iter().chain(&self.nodes).filter(|row| row.verdict != Verdict::Same)
    }

    /// The comparison as JSON, with the names of the fields.
    ///
    /// # Errors
    /// Does not occur: every value can be written as JSON.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string_pretty(self).map_err(|error| Error::invalid("comparison", error, "values for JSON"))
    }
}

/// Compares the trace `b` with the trace `a`. Both are in the format of chrome://tracing, from this profiler or from MXNet; names
/// that end in `.gz` are those of gzip files. Files are read one event at a time; about 50 bytes are kept for each call of an
/// operator.
///
/// # Errors
/// [`mxrs_types::ErrorKind::InvalidValue`] for bad options or a trace without operators;
/// [`mxrs_types::ErrorKind::Format`] for a file that is not a trace, or one with more than 20 million calls or 65,536 nodes;
/// [`mxrs_types::ErrorKind::Io`] if a file cannot be read.
pub fn compare(a: impl AsRef<Path>, b: impl AsRef<Path>, options: Options) -> Result<Comparison> {
    compare_pairs(&[[a.as_ref(), b.as_ref()]], options)
}

/// Compares several pairs of traces. Each pair has a run before the change and a run after it. The runs should be recorded
/// alternately, one before and one after. The differences between pairs then show how much any two runs differ, so that this
/// is not taken for a change.
///
/// # Errors
/// As [`compare`]; and [`mxrs_types::ErrorKind::InvalidValue`] if there is no pair.
pub fn compare_pairs<P: AsRef<Path>>(pairs: &[[P; 2]], options: Options) -> Result<Comparison> {
    if !(0.0..1.0).contains(&options.min_effect) {
        return Err(Error::invalid("smallest change to name", options.min_effect, "a number from 0 to less than 1"));
    }
    if !(0.5..1.0).contains(&options.certainty) {
        return Err(Error::invalid(
            "smallest probability to name",
            options.certainty,
            "a number from 0.5 to less than 1",
        ));
    }
    let mut compared =
        pairs.iter().map(|[a, b]| compare_pair([a.as_ref(), b.as_ref()], options)).collect::<Result<Vec<_>>>()?;
    match compared.len() {
        0 => Err(Error::invalid("traces", "none", "one pair of traces or more")),
        1 => Ok(compared.remove(0)),
        _ => Ok(several::join(&compared, options)),
    }
}

fn compare_pair(paths: [&Path; 2], options: Options) -> Result<Comparison> {
    let mut groups = Groups::default();
    let [of_a, of_b] = paths.map(|path| Run::read(path, &mut groups));
    let runs = [of_a?, of_b?];
    for (run, path) in runs.iter().zip(paths) {
        if run.calls.is_empty() {
            let expected =
                "events `B` and `E` of the category `operator`, which a profiler writes that records operators";
            return Err(Error::invalid(format!("trace {}", path.display()), "no call of an operator", expected));
        }
    }
    let notes = runs.iter().zip(paths).flat_map(|(run, path)| notes(&run.footer, run.n_unpaired, path)).collect();
    Ok(conclude(&groups, runs, options, notes))
}

fn notes(footer: &Footer, n_unpaired: usize, path: &Path) -> Vec<String> {
    let path = path.display();
    let mut notes = Vec::new();
    if let Some(cut) = &footer.cut {
        notes.push(format!("{path} is not complete: {cut}"));
    }
    if footer.n_dropped > 0 {
        notes.push(format!("{path} lacks {} records, which the profiler dropped", footer.n_dropped));
    }
    if n_unpaired > 0 {
        notes.push(format!(
            "{path} has {n_unpaired} begins or ends of operators without a counterpart, which were left out"
        ));
    }
    notes
}

fn conclude(groups: &Groups, runs: [Run; 2], options: Options, mut notes: Vec<String>) -> Comparison {
    let (units, iterations) = series::align(groups, &runs);
    let mut operators: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, unit) in units.iter().enumerate() {
        operators.entry(groups.operator(unit.group)).or_default().push(at);
    }
    let model = Model::fit(&units, &operators.values().map(Vec::as_slice).collect::<Vec<_>>(), iterations);
    let totals = [0, 1].map(|run| units.iter().map(|unit| unit.sides[run].total_us).sum::<f64>());
    let n_fewest = iterations[0].min(iterations[1]);
    if n_fewest < model::FEWEST {
        notes.push(format!(
            "there are only {n_fewest} iterations; below {} no node is named, and an operator only if it has that many nodes",
            model::FEWEST
        ));
    }
    if operators.len() < 3 {
        notes.push(
            "with fewer than three operators a change of the machine's speed looks like a change of an operator".into(),
        );
    }
    let row = |operator: &str, node: &str, of_row: &[&Unit], effect: Option<Effect>, certainty: f64| {
        let sides = [0, 1].map(|run| side(of_row, run, totals[run]));
        let mut row = Row {
            operator: operator.to_owned(),
            node: node.to_owned(),
            a: sides[0],
            b: sides[1],
            ratio: effect.map(|effect| effect.log_ratio.exp()),
            interval: effect.map(|effect| effect.interval().map(f64::exp)),
            certainty: effect.map(|effect| effect.certainty),
            verdict: Verdict::Same,
        };
        row.verdict = verdict(&row, effect, options.min_effect, certainty);
        row
    };
    let mut rows = Vec::new();
    let mut nodes = Vec::new();
    for (at, (operator, members)) in operators.iter().enumerate() {
        let of_operator: Vec<&Unit> = members.iter().map(|member| &units[*member]).collect();
        rows.push(row(operator, "", &of_operator, model.operator(at), options.certainty));
        for range in same_groups(&of_operator) {
            let node = groups.node(of_operator[range.start].group);
            if !node.is_empty() {
                let effect = model.node(&members[range.clone()]);
                nodes.push(row(operator, node, &of_operator[range], effect, 1.0 - (1.0 - options.certainty) / 10.0));
            }
        }
    }
    let by_time = |x: &Row, y: &Row| (y.a.total_us + y.b.total_us).total_cmp(&(x.a.total_us + x.b.total_us));
    rows.sort_by(by_time);
    nodes.sort_by(by_time);
    let [machine, low, high] = model.machine().map(f64::exp);
    Comparison { pairs: 1, iterations, machine, machine_interval: [low, high], operators: rows, nodes, notes }
}

/// The ranges of units that belong to the same group. The units are sorted by their groups.
fn same_groups(units: &[&Unit]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, unit) in units.iter().enumerate() {
        match ranges.last_mut() {
            Some(range) if units[range.start].group == unit.group => range.end = at + 1,
            _ => ranges.push(at..at + 1),
        }
    }
    ranges
}

fn side(units: &[&Unit], run: usize, total_us: f64) -> Side {
    let of_run = || units.iter().map(|unit| &unit.sides[run]);
    let sum = of_run().map(|side| side.total_us).sum::<f64>();
    Side {
        calls: of_run().map(|side| side.calls).sum(),
        typical_us: of_run().map(|side| side.typical_us).sum(),
        total_us: sum,
        share: if total_us > 0.0 { sum / total_us } else { 0.0 },
    }
}

fn verdict(row: &Row, effect: Option<Effect>, min_effect: f64, certainty: f64) -> Verdict {
    match effect {
        _ if row.b.calls == 0 => Verdict::OnlyInA,
        _ if row.a.calls == 0 => Verdict::OnlyInB,
        Some(effect) if effect.is_founded && effect.certainty >= certainty => {
            let change = effect.log_ratio.exp_m1();
            let of_whole = row.a.share.max(row.b.share) * change.abs();
            // Logarithms are compared, so that a time that is divided by 1.03 counts as changed as much as one that is
            // multiplied by 1.03.
            match effect.log_ratio.abs() >= min_effect.ln_1p() && of_whole >= LEAST_OF_WHOLE {
                true if change > 0.0 => Verdict::Slower,
                true => Verdict::Faster,
                false => Verdict::Same,
            }
        }
        _ => Verdict::Same,
    }
}
