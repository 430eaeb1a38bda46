//! `plan --kernels`: the steps of a run with their kernels, in the order in which they run.

use super::report::{readable, table};
use crate::args::ListFormat;
use crate::exit::{Failure, Outcome};
use crate::terminal;
use mxrs::Runtime;
use mxrs::exec::{PlannedGraph, StepReport};
use serde::Serialize;

const COLUMNS: [&str; 7] = ["step", "operator", "backend", "kernel", "multiply-adds", "bytes", "inputs and outputs"];

/// The table row of one step.
#[derive(Serialize)]
struct Row<'a> {
    step: &'a str,
    operator: &'a str,
    backend: &'a str,
    kernel: &'a str,
    calls: usize,
    multiply_adds: u64,
    bytes: usize,
    inputs: &'a [String],
    outputs: &'a [String],
}

impl<'a> Row<'a> {
    fn new(step: &'a StepReport) -> Self {
        Self {
            step: &step.name,
            operator: &step.op,
            backend: step.backend,
            kernel: &step.kernel,
            calls: step.n_calls,
            multiply_adds: step.multiply_adds,
            bytes: step.bytes,
            inputs: &step.inputs,
            outputs: &step.outputs,
        }
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.step.into(),
            self.operator.into(),
            self.backend.into(),
            self.kernel.into(),
            self.multiply_adds.to_string(),
            readable(self.bytes),
            format!("{} -> {}", self.inputs.join(", "), self.outputs.join(", ")),
        ]
    }
}

/// Refuses a name that no backend of this runtime has. Otherwise the list of its steps would be empty, and a mistyped
/// `reference` would look as if every call had a fast kernel.
///
/// # Errors
/// Returns an error that names the backends.
pub fn require_backend(runtime: &Runtime, name: &str) -> Outcome {
    let known: Vec<&str> = runtime.backends().list().iter().map(|backend| backend.name()).collect();
    if known.contains(&name) {
        return Ok(());
    }
    Err(Failure::Usage(format!("--kernels: got `{name}`, expected one of {}", known.join(", "))))
}

/// Prints one table row per step that has a kernel. A `backend` keeps only its steps.
///
/// # Errors
/// Returns an error if printing fails.
pub fn print(planned: &PlannedGraph, backend: Option<&str>, format: ListFormat) -> Outcome {
    let kept = |step: &&StepReport| !step.backend.is_empty() && backend.is_none_or(|name| step.backend == name);
    let rows: Vec<Row<'_>> = planned.steps.iter().filter(kept).map(Row::new).collect();
    let cells = rows.iter().map(Row::cells);
    match format {
        ListFormat::Json => terminal::print_json(&rows),
        ListFormat::Markdown => terminal::print(&terminal::markdown(&COLUMNS, cells)),
        ListFormat::Table => terminal::print_line(table(&COLUMNS, cells.collect())),
    }
}
