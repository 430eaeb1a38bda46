//! `plan --passes` and `plan --dump`: the result of each pass, in the order in which binding runs them.

use super::report::{readable, table};
use crate::args::ListFormat;
use crate::exit::{Failure, Outcome};
use crate::terminal;
use mxrs::exec::{DryGraph, PassReport, pass_names};
use mxrs::symbol::graph_to_file;
use mxrs::types::Error;
use serde::Serialize;

const COLUMNS: [&str; 9] =
    ["pass", "result", "nodes before", "nodes after", "steps", "kernels", "arena", "packed", "time"];

/// The table row of one pass.
#[derive(Serialize)]
struct Row {
    pass: &'static str,
    result: &'static str,
    nodes_before: usize,
    nodes_after: usize,
    steps: Option<usize>,
    kernels: Option<usize>,
    arena_bytes: Option<usize>,
    packed_bytes: Option<usize>,
    microseconds: u64,
    switch: &'static str,
}

impl Row {
    fn new(report: &PassReport) -> Self {
        Self {
            pass: report.name,
            result: report.outcome.word(),
            nodes_before: report.n_nodes[0],
            nodes_after: report.n_nodes[1],
            steps: report.n_steps,
            kernels: report.n_kernels,
            arena_bytes: report.arena_bytes,
            packed_bytes: report.packed_bytes,
            microseconds: report.time.as_micros().try_into().unwrap_or(u64::MAX),
            switch: report.switch,
        }
    }

    fn cells(&self) -> Vec<String> {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        vec![
            self.pass.into(),
            self.result.into(),
            self.nodes_before.to_string(),
            self.nodes_after.to_string(),
            or_dash(self.steps.map(|n| n.to_string())),
            or_dash(self.kernels.map(|n| n.to_string())),
            or_dash(self.arena_bytes.map(readable)),
            or_dash(self.packed_bytes.map(readable)),
            format!("{:.3} ms", self.microseconds as f64 / 1000.0),
        ]
    }
}

/// Prints one table row per pass.
///
/// # Errors
/// Returns an error if printing fails.
pub fn print(dry: &DryGraph, format: ListFormat) -> Outcome {
    let rows: Vec<Row> = dry.passes().iter().map(Row::new).collect();
    let cells = rows.iter().map(Row::cells);
    match format {
        ListFormat::Json => terminal::print_json(&rows),
        ListFormat::Markdown => terminal::print(&terminal::markdown(&COLUMNS, cells)),
        ListFormat::Table => terminal::print_line(table(&COLUMNS, cells.collect())),
    }
}

/// Prints the graph after a pass, as a symbol file.
///
/// # Errors
/// Returns an error if no pass has this name, or printing fails.
pub fn dump(dry: &DryGraph, pass: &str) -> Outcome {
    let report = dry.passes().iter().find(|report| report.name == pass);
    let graph = report.and_then(|report| report.graph.as_ref()).ok_or_else(|| {
        let known: Vec<&str> = pass_names().collect();
        Failure::binding(Error::invalid("name of a pass", pass, format!("one of {}", known.join(", "))))
    })?;
    terminal::print_line(graph_to_file(graph).to_json())
}
