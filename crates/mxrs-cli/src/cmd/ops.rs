//! `mxrs ops`: lists the operators that are built and the backends that support them, and explains why a backend refuses a
//! call.

use crate::args::ListFormat;
use crate::exit::{Failure, Outcome};
use crate::{start, terminal};
use mxrs::Runtime;
use mxrs::op::OpDef;
use mxrs_testkit::conformance::Prepared;
use serde::Serialize;
use std::sync::Arc;

/// Arguments of `ops`.
#[derive(clap::Args)]
pub struct Args {
    /// List only these operators, given by name or alias
    names: Vec<String>,
    /// Show each backend's offer or refusal for the sample calls of this operator, or of all operators
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    explain: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormat::Table)]
    format: ListFormat,
}

/// Description of one operator.
#[derive(Serialize)]
struct Operator {
    name: &'static str,
    aliases: &'static [&'static str],
    dtypes: Vec<&'static str>,
    /// Backends that support at least one of its sample calls.
    backends: Vec<&'static str>,
    summary: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Call>,
}

/// One sample call with one dtype.
#[derive(Serialize)]
struct Call {
    sample: &'static str,
    dtype: &'static str,
    inputs: String,
    answers: Vec<Answer>,
}

/// The answer of a backend to a call: an offer or a refusal.
#[derive(Serialize)]
struct Answer {
    backend: &'static str,
    runs: bool,
    /// Estimated time of one run, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    /// The reason why the backend refuses the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// Fails if no operator has a given name, or if a sample is invalid, which is a bug of mxrs.
pub fn run(args: &Args) -> Outcome {
    let runtime = start::runtime(None)?;
    let mut names: Vec<&str> = args.names.iter().map(String::as_str).collect();
    names.extend(args.explain.as_deref().filter(|name| !name.is_empty()));
    let chosen: Vec<&Arc<OpDef>> = if names.is_empty() {
        runtime.ops().iter().collect()
    } else {
        let found = names.iter().map(|name| mxrs::ops::find(runtime.ops(), name));
        found.collect::<mxrs::Result<_>>().map_err(|error| Failure::Usage(error.to_string()))?
    };
    let explain = args.explain.is_some();
    let mut operators = Vec::new();
    for op in chosen {
        operators.push(operator(&runtime, op, explain)?);
    }
    match args.format {
        ListFormat::Json => terminal::print_json(&operators),
        ListFormat::Markdown => terminal::print(&markdown(&operators, explain)),
        ListFormat::Table => table(&runtime, &operators, explain),
    }
}

fn operator(runtime: &Runtime, op: &OpDef, keep_calls: bool) -> Outcome<Operator> {
    let calls = calls(runtime, op)?;
    let mut backends = Vec::new();
    for answer in calls.iter().flat_map(|call| &call.answers).filter(|answer| answer.runs) {
        if !backends.contains(&answer.backend) {
            backends.push(answer.backend);
        }
    }
    Ok(Operator {
        name: op.name,
        aliases: op.aliases,
        dtypes: op.dtypes.iter().map(|dtype| dtype.name()).collect(),
        backends,
        summary: op.summary,
        calls: if keep_calls { calls } else { Vec::new() },
    })
}

/// Asks every backend for an offer for every sample with every dtype.
fn calls(runtime: &Runtime, op: &OpDef) -> Outcome<Vec<Call>> {
    let mut calls = Vec::new();
    for sample in (op.samples)() {
        let is_fixed = sample.inputs.first().is_none_or(|input| input.dtype.is_some());
        let dtypes = if is_fixed { &op.dtypes[..op.dtypes.len().min(1)] } else { op.dtypes };
        for &dtype in dtypes {
            let prepared = Prepared::new(op, &sample, dtype)?;
            // As in a bound network, all inputs but the first count as constants.
            let is_constant: Vec<bool> = (0..prepared.inputs.len()).map(|i| i > 0).collect();
            let call = prepared.call(op, &is_constant);
            let answer = |backend: &dyn mxrs::op::Backend| {
                let (seconds, reason) = match backend.offer(&call) {
                    Ok(offer) => (Some(offer.seconds()), None),
                    Err(reason) => (None, Some(reason)),
                };
                Answer { backend: backend.name(), runs: seconds.is_some(), seconds, reason }
            };
            let answers = runtime.backends().loaded.iter().map(|loaded| answer(&*loaded.backend)).collect();
            let inputs = prepared.inputs.iter().map(|input| input.shape.to_string()).collect::<Vec<_>>().join(", ");
            calls.push(Call { sample: sample.name, dtype: dtype.name(), inputs, answers });
        }
    }
    Ok(calls)
}

const COLUMNS: [&str; 5] = ["operator", "aliases", "dtypes", "backends", "summary"];
const CALL_COLUMNS: [&str; 5] = ["operator", "sample", "inputs", "estimated ms", "why not"];

fn cells(operator: &Operator) -> Vec<String> {
    vec![
        operator.name.into(),
        operator.aliases.join(", "),
        operator.dtypes.join(", "),
        operator.backends.join(", "),
        operator.summary.into(),
    ]
}

fn call_cells(operator: &Operator) -> impl Iterator<Item = Vec<String>> + '_ {
    operator.calls.iter().map(|call| {
        let mut offers: Vec<(f64, &str)> = call.answers.iter().filter_map(|a| Some((a.seconds?, a.backend))).collect();
        offers.sort_by(|a, b| a.0.total_cmp(&b.0));
        let offers: Vec<String> =
            offers.iter().map(|(seconds, backend)| format!("{backend}: {:.4}", 1e3 * seconds)).collect();
        let why_not: Vec<String> =
            call.answers.iter().filter_map(|a| Some(format!("{}: {}", a.backend, a.reason.as_ref()?))).collect();
        let inputs = format!("{} {}", call.dtype, call.inputs);
        vec![operator.name.into(), call.sample.into(), inputs, offers.join(", "), why_not.join("; ")]
    })
}

fn markdown(operators: &[Operator], explain: bool) -> String {
    if explain {
        terminal::markdown(&CALL_COLUMNS, operators.iter().flat_map(call_cells))
    } else {
        terminal::markdown(&COLUMNS, operators.iter().map(cells))
    }
}

fn table(runtime: &Runtime, operators: &[Operator], explain: bool) -> Outcome {
    let mut table = if explain { terminal::table(&CALL_COLUMNS) } else { terminal::table(&COLUMNS) };
    for operator in operators {
        if explain {
            table.add_rows(call_cells(operator));
        } else {
            table.add_row(cells(operator));
        }
    }
    terminal::print_line(table.to_string())?;
    for loaded in &runtime.backends().loaded {
        terminal::print_line(format!("backend {}: {}", loaded.backend.name(), loaded.version))?;
    }
    for absent in &runtime.backends().absent {
        terminal::print_line(format!("backend {} is not there: {}", absent.name, absent.reason))?;
    }
    Ok(())
}
