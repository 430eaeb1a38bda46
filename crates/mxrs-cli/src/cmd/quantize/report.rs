//! The output of `quantize`: which layers are quantized, which are not and why, and the range of each value.

use crate::terminal;
use mxrs::quantize::{CalibrationTable, Outcome, QuantizeReport};
use serde::Serialize;
use std::path::PathBuf;

/// All figures that are printed.
#[derive(Serialize)]
pub struct Report {
    calib_mode: String,
    examples: u64,
    layers: Vec<Layer>,
    ranges: Vec<Range>,
    quantized: usize,
    folded: usize,
    left: usize,
    dequantize: usize,
    bytes_before: u64,
    bytes_after: u64,
    files: Vec<PathBuf>,
}

/// One node of the network.
#[derive(Serialize)]
struct Layer {
    name: String,
    op: String,
    /// What was done with the node: `quantized`, `folded` or `left`.
    outcome: &'static str,
    /// The node into which this node is folded, or the reason why this node is not quantized.
    #[serde(skip_serializing_if = "String::is_empty")]
    note: String,
}

/// The range with which one value is quantized.
#[derive(Serialize)]
struct Range {
    node: String,
    value: String,
    min: Option<f32>,
    max: Option<f32>,
    /// Smallest and largest value during calibration.
    seen: Option<[f32; 2]>,
    divergence: Option<f32>,
}

impl Report {
    /// The report of a quantization.
    pub fn new(done: &QuantizeReport, table: &CalibrationTable, files: Vec<PathBuf>) -> Self {
        let layers: Vec<Layer> = done
            .nodes
            .iter()
            .map(|node| {
                let (outcome, note) = match &node.outcome {
                    Outcome::Quantized => ("quantized", String::new()),
                    Outcome::Folded { into } => ("folded", into.clone()),
                    Outcome::Left { reason } => ("left", reason.clone()),
                };
                Layer { name: node.name.clone(), op: node.op.clone(), outcome, note }
            })
            .collect();
        let range = |written: &mxrs::quantize::WrittenRange| {
            let found = table.ranges.get(&written.value);
            Range {
                node: written.node.clone(),
                value: written.value.clone(),
                min: written.range.map(|range| range.min),
                max: written.range.map(|range| range.max),
                seen: found.map(|found| [found.seen_min, found.seen_max]),
                divergence: found.and_then(|found| found.divergence),
            }
        };
        Self {
            calib_mode: table.mode.clone(),
            examples: table.examples,
            quantized: done.n_quantized(),
            folded: done.n_folded(),
            left: layers.iter().filter(|layer| layer.outcome == "left").count(),
            layers,
            ranges: done.ranges.iter().map(range).collect(),
            dequantize: done.n_dequantize,
            bytes_before: done.bytes_before,
            bytes_after: done.bytes_after,
            files,
        }
    }

    /// The report as tables.
    pub fn text(&self) -> String {
        let mut layers = terminal::table(&["Layer", "Operator", "", "Why, or where"]);
        for Layer { name, op, outcome, note } in &self.layers {
            layers.add_row([name.as_str(), op.as_str(), *outcome, note.as_str()]);
        }
        let mut ranges = terminal::table(&["Value", "Min", "Max", "Seen", "Divergence"]);
        let number = |number: Option<f32>| number.map_or("at each run".to_owned(), |number| format!("{number:.4}"));
        for range in &self.ranges {
            let seen = range.seen.map(|[min, max]| format!("{min:.4} to {max:.4}")).unwrap_or_default();
            let divergence = range.divergence.map(|divergence| format!("{divergence:.5}")).unwrap_or_default();
            ranges.add_row([range.value.clone(), number(range.min), number(range.max), seen, divergence]);
        }
        let times = self.bytes_before as f64 / self.bytes_after.max(1) as f64;
        let mut text = format!(
            "{layers}\n{ranges}\n{} layers quantized, {} folded, {} left; calibration: {} with {} images; parameters {} to {} \
             bytes ({times:.2} times smaller)\n",
            self.quantized, self.folded, self.left, self.calib_mode, self.examples, self.bytes_before, self.bytes_after
        );
        for file in &self.files {
            text += &format!("{} written\n", file.display());
        }
        text
    }
}
