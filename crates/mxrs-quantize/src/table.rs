//! The calibration table: the range of each quantized value. It is saved as JSON next to a network.

use crate::CalibMode;
use indexmap::IndexMap;
use mxrs_format::write_atomically;
use mxrs_types::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The range of float values that 8-bit integers represent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The value of the smallest integer; 0 for values that are never negative.
    pub min: f32,
    /// The value of the largest integer.
    pub max: f32,
}

impl Range {
    /// The larger of the absolute values of the two bounds.
    pub fn max_abs(&self) -> f32 {
        self.min.abs().max(self.max.abs())
    }

    /// The same range, or the range from 0 to 1 if both bounds are 0. In the second case all values were 0, which the range
    /// from 0 to 1 represents exactly.
    pub(crate) fn widened(self) -> Self {
        if self.max_abs() > 0.0 { self } else { Self { min: self.min, max: 1.0 } }
    }
}

/// The result of calibration for one value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// Range for quantization.
    #[serde(flatten)]
    pub range: Range,
    /// Smallest value in the calibration data.
    pub seen_min: f32,
    /// Largest value in the calibration data.
    pub seen_max: f32,
    /// Kullback-Leibler divergence at the threshold, in nats; only for entropy calibration.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub divergence: Option<f32>,
}

/// The calibrated ranges, by name of the value (`conv0_output`, `data`); the names are MXNet's.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationTable {
    /// How the ranges were determined: `naive` or `entropy`.
    pub mode: String,
    /// Number of examples in the calibration data.
    pub examples: u64,
    /// Ranges by name of the value, in the order of the graph.
    pub ranges: IndexMap<String, Calibrated>,
}

/// The table as stored in a file.
#[derive(Serialize, Deserialize)]
struct File {
    mode: String,
    examples: u64,
    ranges: Vec<Row>,
}

/// One range as stored in a file.
#[derive(Serialize, Deserialize)]
struct Row {
    value: String,
    #[serde(flatten)]
    found: Calibrated,
}

impl CalibrationTable {
    /// A table without ranges; all ranges are then computed in each run.
    pub fn empty() -> Self {
        Self { mode: CalibMode::None.to_string(), examples: 0, ranges: IndexMap::new() }
    }

    /// The range of a value.
    pub fn get(&self, name: &str) -> Option<Range> {
        self.ranges.get(name).map(|found| found.range)
    }

    /// The table as JSON with one value per line.
    pub fn to_json(&self) -> String {
        let row = |(value, found): (&String, &Calibrated)| Row { value: value.clone(), found: *found };
        let ranges = self.ranges.iter().map(row).collect();
        let file = File { mode: self.mode.clone(), examples: self.examples, ranges };
        // Keys are strings and ranges are finite, so this cannot fail.
        serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
    }

    /// Reads a table that [`Self::to_json`] wrote.
    ///
    /// # Errors
    /// Fails if the text is not a calibration table, or if the bounds of a range are not ordered.
    pub fn from_json(text: &str) -> Result<Self> {
        let file: File = serde_json::from_str(text)
            .map_err(|error| Error::invalid("calibration table", error, "JSON with `mode`, `examples` and `ranges`"))?;
        let ranges = file.ranges.into_iter().map(|row| (row.value, row.found)).collect();
        let table = Self { mode: file.mode, examples: file.examples, ranges };
        for (name, Calibrated { range: Range { min, max }, .. }) in &table.ranges {
            if !(min.is_finite() && max.is_finite() && min <= max) {
                let got = format!("{min} to {max}");
                return Err(Error::invalid(format!("range of `{name}` in a calibration table"), got, "min to max"));
            }
        }
        Ok(table)
    }

    /// Writes the table to a file, atomically.
    ///
    /// # Errors
    /// Returns I/O errors with the path.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        write_atomically(path, |sink| sink.write_all(self.to_json().as_bytes()).map_err(|e| Error::io(path, &e)))
    }

    /// Reads a table from a file.
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_json`] with the path, and I/O errors.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, &error))?;
        Self::from_json(&text).map_err(|error| error.with_path(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(min: f32, max: f32) -> CalibrationTable {
        let found = Calibrated { range: Range { min, max }, seen_min: -2.5, seen_max: 3.0, divergence: Some(0.25) };
        let naive = Calibrated { divergence: None, ..found };
        let ranges = [("conv0_output".to_owned(), found), ("data".to_owned(), naive)].into_iter().collect();
        CalibrationTable { mode: "entropy".into(), examples: 297, ranges }
    }

    #[test]
    fn a_table_comes_back_as_it_was_written() {
        let written = table(-1.0e-7, 0.1);
        let text = written.to_json();
        assert!(text.contains("\"examples\": 297") && text.contains("\"min\": -1e-7"), "{text}");
        assert_eq!(text.matches("divergence").count(), 1);
        assert_eq!(CalibrationTable::from_json(&text).unwrap(), written);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("net-calibration.json");
        written.save(&path).unwrap();
        assert_eq!(CalibrationTable::open(&path).unwrap(), written);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("broken.json");
        let text = table(0.0, 1.0).to_json();
        for broken in [&text[..text.len() / 2], "{}", "[1]", &text.replace("\"min\": 0.0", "\"min\": 2.0")] {
            std::fs::write(&path, broken).unwrap();
            let error = CalibrationTable::open(&path).unwrap_err().to_string();
            assert!(error.contains("calibration table"), "{error}");
        }
        assert!(CalibrationTable::open(dir.path().join("absent.json")).is_err());
    }

    #[test]
    fn a_range_without_width_is_widened() {
        assert_eq!(Range { min: 0.0, max: 0.0 }.widened(), Range { min: 0.0, max: 1.0 });
        assert_eq!(Range { min: -1.0, max: 0.0 }.widened(), Range { min: -1.0, max: 0.0 });
    }
}
