//! The output of `plan`, as tables and as JSON.

use super::Mode;
use super::compare::Compared;
use super::recompute::Recomputed;
use crate::args::ListFormat;
use crate::exit::Outcome;
use crate::subject::Subject;
use crate::terminal;
use comfy_table::CellAlignment;
use mxrs::exec::{DeviceBytes, PlannedGraph, StepReport};
use mxrs::graph::memory::Algorithm;
use serde::Serialize;

/// All figures that are printed.
#[derive(Serialize)]
pub struct Report {
    graph: String,
    mode: Mode,
    batch: Option<usize>,
    dtype: &'static str,
    steps: usize,
    forward_steps: usize,
    bytes: Bytes,
    in_place: usize,
    /// Number of fused calls in the planned graph.
    fused_operators: usize,
    /// Number of calls of the original graph that the fused calls replace.
    replaced_operators: usize,
    recomputed_operators: usize,
    /// Multiply-adds of the recomputed operators divided by those of all other operators.
    extra_time: f64,
    algorithm: String,
    tried: Vec<Tried>,
    /// The memory on each device, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    devices: Vec<OnDevice>,
    /// The copies between devices.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    copies: Vec<Copied>,
    /// The comparison of all algorithms, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<Vec<Compared>>,
    /// The comparison of all modes of recomputation, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recomputed: Option<Vec<Recomputed>>,
}

/// Bytes by purpose.
#[derive(Serialize)]
struct Bytes {
    lower_bound: usize,
    arena: usize,
    activations: usize,
    workspaces: usize,
    packed_constants: usize,
    parameters: usize,
    gradients: usize,
    inputs: usize,
    outputs: usize,
    total: usize,
    without_sharing: usize,
}

/// Steps and bytes on one device.
#[derive(Serialize)]
struct OnDevice {
    device: String,
    steps: usize,
    arena: usize,
    packed_constants: usize,
    copied: usize,
}

/// A copy between devices.
#[derive(Serialize)]
struct Copied {
    name: String,
    from: String,
    to: String,
    tensor: String,
    half: &'static str,
}

/// A plan of one algorithm that the planner tried before it chose the best.
#[derive(Serialize)]
struct Tried {
    algorithm: String,
    bytes: usize,
}

/// Name of an algorithm.
pub fn algorithm(algorithm: Algorithm) -> String {
    match algorithm {
        Algorithm::Pool { match_range } => format!("pool, match range {match_range}"),
        Algorithm::Offset => "offset".into(),
    }
}

/// Units of bytes, each 1024 times the one before.
pub const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];

/// A number of bytes with its unit.
pub fn readable(bytes: usize) -> String {
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

impl Report {
    /// The report of one plan.
    pub fn new(subject: &Subject, mode: Mode, planned: &PlannedGraph) -> Self {
        let report = &planned.report;
        let pool = report
            .tried
            .iter()
            .map(|t| Tried { algorithm: algorithm(Algorithm::Pool { match_range: t.match_range }), bytes: t.bytes });
        let offset = report.offset_bytes.map(|bytes| Tried { algorithm: algorithm(Algorithm::Offset), bytes });
        Self {
            graph: subject.name.clone(),
            mode,
            batch: subject.batch(),
            dtype: subject.dtype.name(),
            steps: planned.steps.len(),
            forward_steps: planned.n_forward,
            bytes: Bytes {
                lower_bound: report.lower_bound_bytes,
                arena: planned.arena_bytes,
                activations: planned.activation_bytes,
                workspaces: planned.workspace_bytes,
                packed_constants: planned.packed_bytes,
                parameters: planned.parameter_bytes,
                gradients: planned.gradient_bytes,
                inputs: planned.input_bytes,
                outputs: planned.output_bytes,
                total: planned.total_bytes(),
                without_sharing: report.unshared_bytes,
            },
            in_place: report.n_inplace,
            fused_operators: planned.fused.len(),
            replaced_operators: planned.fused.iter().map(|fused| fused.replaced.len()).sum(),
            recomputed_operators: planned.n_recomputed,
            extra_time: planned.recomputed_work,
            algorithm: algorithm(report.algorithm),
            tried: pool.chain(offset).collect(),
            devices: devices(planned),
            copies: copies(planned),
            compared: None,
            recomputed: None,
        }
    }

    /// The tables of devices and copies, with their headings; none if there is one device.
    fn of_devices(&self) -> Vec<(&'static [&'static str], Vec<Vec<String>>)> {
        if self.devices.is_empty() {
            return Vec::new();
        }
        let device = |of: &OnDevice| {
            let sizes = [of.arena, of.packed_constants, of.copied].map(|bytes| bytes.to_string());
            [of.device.clone(), of.steps.to_string()].into_iter().chain(sizes).collect()
        };
        let copy = |copy: &Copied| {
            vec![copy.name.clone(), copy.from.clone(), copy.to.clone(), copy.tensor.clone(), copy.half.to_owned()]
        };
        let devices = self.devices.iter().map(device).collect();
        vec![(&DEVICES, devices), (&COPIES, self.copies.iter().map(copy).collect())]
    }

    /// The subject of the plan in one line.
    pub fn title(&self) -> String {
        let batch = self.batch.map_or(String::new(), |batch| format!(", batch {batch}"));
        let (graph, mode, dtype) = (&self.graph, self.mode.word(), self.dtype);
        format!("{graph}: {mode}{batch}, {dtype}, {} steps, {} of them forward", self.steps, self.forward_steps)
    }

    /// Prints the report.
    ///
    /// # Errors
    /// Returns an error if printing fails.
    pub fn print(&self, format: ListFormat) -> Outcome {
        match format {
            ListFormat::Json => terminal::print_json(self),
            ListFormat::Markdown => {
                let mut text = format!("{}\n\n", self.title());
                text += &terminal::markdown(&FIGURES, self.figures());
                text += &format!("\n{}\n", self.notes().join("\n\n"));
                for (headings, rows) in self.of_devices() {
                    text += &format!("\n{}", terminal::markdown(headings, rows));
                }
                if let Some(compared) = &self.compared {
                    text += &format!("\n{}", terminal::markdown(&COLUMNS, compared.iter().map(cells)));
                }
                if let Some(modes) = &self.recomputed {
                    text += &format!("\n{}", terminal::markdown(&MODES, modes.iter().map(mode_cells)));
                }
                terminal::print(&text)
            }
            ListFormat::Table => {
                terminal::print_line(self.title())?;
                terminal::print_line(table(&FIGURES, self.figures()))?;
                for note in self.notes() {
                    terminal::print_line(note)?;
                }
                for (headings, rows) in self.of_devices() {
                    terminal::print_line(table(headings, rows))?;
                }
                if let Some(compared) = &self.compared {
                    terminal::print_line(table(&COLUMNS, compared.iter().map(cells).collect()))?;
                }
                match &self.recomputed {
                    Some(modes) => terminal::print_line(table(&MODES, modes.iter().map(mode_cells).collect())),
                    None => Ok(()),
                }
            }
        }
    }

    fn figures(&self) -> Vec<Vec<String>> {
        let b = &self.bytes;
        [
            ("peak (lower bound)", b.lower_bound),
            ("arena", b.arena),
            ("  activations", b.activations),
            ("  workspaces", b.workspaces),
            ("packed constants", b.packed_constants),
            ("parameters", b.parameters),
            ("gradients", b.gradients),
            ("inputs", b.inputs),
            ("outputs", b.outputs),
            ("total", b.total),
            ("arena without sharing", b.without_sharing),
        ]
        .map(|(name, bytes)| vec![name.to_owned(), bytes.to_string(), readable(bytes)])
        .to_vec()
    }

    fn notes(&self) -> Vec<String> {
        let tried: Vec<String> = self.tried.iter().map(|t| format!("{}: {}", t.algorithm, readable(t.bytes))).collect();
        vec![
            format!("fused operators: {}, in place of {}", self.fused_operators, self.replaced_operators),
            format!(
                "recomputed operators: {}, estimated extra time {:.1} %",
                self.recomputed_operators,
                100.0 * self.extra_time
            ),
            format!("algorithm: {}, {} outputs in place; tried {}", self.algorithm, self.in_place, tried.join("; ")),
        ]
    }
}

/// The memory on each device, if there are several.
fn devices(planned: &PlannedGraph) -> Vec<OnDevice> {
    let of = |bytes: &DeviceBytes| OnDevice {
        device: bytes.device.to_string(),
        steps: planned.steps.iter().filter(|step| step.device == bytes.device).count(),
        arena: bytes.arena_bytes,
        packed_constants: bytes.packed_bytes,
        copied: bytes.crossing_bytes,
    };
    if planned.devices.len() > 1 { planned.devices.iter().map(of).collect() } else { Vec::new() }
}

/// The copies between devices, in the order of the steps.
fn copies(planned: &PlannedGraph) -> Vec<Copied> {
    let copied = |(at, step): (usize, &StepReport)| {
        Some(Copied {
            name: step.name.clone(),
            from: step.source?.to_string(),
            to: step.device.to_string(),
            tensor: step.outputs.first().cloned().unwrap_or_default(),
            half: if at < planned.n_forward { "forward" } else { "backward" },
        })
    };
    planned.steps.iter().enumerate().filter_map(copied).collect()
}

const DEVICES: [&str; 5] = ["device", "steps", "arena", "packed constants", "copied"];
const COPIES: [&str; 5] = ["copy", "from", "to", "tensor", "half"];
const FIGURES: [&str; 3] = ["memory", "bytes", ""];
const COLUMNS: [&str; 5] = ["algorithm", "bytes", "", "x lower bound", "in place"];

const MODES: [&str; 6] = ["computed again", "arena", "", "saved", "operators", "extra time"];

fn mode_cells(row: &Recomputed) -> Vec<String> {
    let name = if row.chosen { format!("chosen: {}", row.mode) } else { row.mode.clone() };
    let saved = 100.0 * row.saved_bytes as f64 / (row.bytes + row.saved_bytes).max(1) as f64;
    vec![
        name,
        row.bytes.to_string(),
        readable(row.bytes),
        format!("{} ({saved:.1} %)", readable(row.saved_bytes)),
        row.operators.to_string(),
        format!("{:.1} %", 100.0 * row.extra_time),
    ]
}

fn cells(row: &Compared) -> Vec<String> {
    let ratio = row.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}"));
    vec![row.algorithm.clone(), row.bytes.to_string(), readable(row.bytes), ratio, row.in_place.to_string()]
}

/// A table whose first column is aligned left and all others right.
pub fn table(headings: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = terminal::table(headings);
    table.add_rows(rows);
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_in_their_unit() {
        assert_eq!([0, 1023, 1024, 3 << 19, 1 << 30].map(readable), ["0 B", "1023 B", "1.0 KiB", "1.5 MiB", "1.0 GiB"]);
    }
}
