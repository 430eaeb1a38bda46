//! The output of `score`: log lines in MXNet's format, and JSON.

use super::explain::Explained;
use crate::exit::{Failure, Outcome};
use crate::terminal;
use mxrs::format::write_atomically;
use mxrs::types::{DType, Device, Error};
use mxrs::{Runtime, settings};
use serde::Serialize;
use std::path::Path;

/// The outcome of a measurement.
pub enum Status {
    /// Images per second of each repetition; at least one.
    Measured(Vec<f64>),
    /// The memory was not sufficient; the text says for what.
    OutOfMemory(String),
    /// This version cannot run the network; the text says why.
    NotBuilt(String),
    /// The measurement failed; the text is the error.
    Failed(String),
}

/// One measurement.
#[derive(Serialize)]
pub struct Cell {
    network: String,
    batch_size: Option<usize>,
    dtype: Option<&'static str>,
    status: &'static str,
    /// Median of the repetitions.
    images_per_sec: Option<f64>,
    repetitions: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The figures of each layer, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained: Option<Explained>,
}

impl Cell {
    /// A measurement with its outcome.
    pub fn new(network: &str, batch_size: Option<usize>, dtype: Option<DType>, status: Status) -> Self {
        let (status, repetitions, reason) = match status {
            Status::Measured(figures) => ("ok", figures, None),
            Status::OutOfMemory(reason) => ("oom", Vec::new(), Some(reason)),
            Status::NotBuilt(reason) => ("not built", Vec::new(), Some(reason)),
            Status::Failed(reason) => ("failed", Vec::new(), Some(reason)),
        };
        let dtype = dtype.map(DType::name);
        Self {
            network: network.into(),
            batch_size,
            dtype,
            status,
            images_per_sec: median(&repetitions),
            repetitions,
            reason,
            explained: None,
        }
    }

    /// The log lines of the measurement.
    pub fn lines(&self) -> Vec<String> {
        let (batch_size, dtype) = (self.batch_size.unwrap_or(0), self.dtype.unwrap_or("?"));
        let line = |figure: &str| format!("batch size {batch_size:2}, dtype {dtype}, images/sec: {figure}");
        let mut lines =
            vec![line(&self.images_per_sec.map_or(self.status.to_owned(), |figure| format!("{figure:.6}")))];
        if let Some(reason) = &self.reason {
            lines.push(reason.clone());
        }
        if let (true, Some(median)) = (self.repetitions.len() > 1, self.images_per_sec) {
            let least = self.repetitions.iter().copied().fold(f64::INFINITY, f64::min);
            let most = self.repetitions.iter().copied().fold(0.0, f64::max);
            let spread = (most - least) / median * 100.0;
            let n = self.repetitions.len();
            lines.push(format!("median of {n}: {median:.6}, least {least:.6}, most {most:.6}, spread {spread:.1} %"));
        }
        lines
    }
}

fn median(figures: &[f64]) -> Option<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some((low + high) / 2.0)
}

/// All measurements, and the settings on which they depend.
#[derive(Serialize)]
pub struct Report {
    mxrs: &'static str,
    device: String,
    threads: usize,
    affinity: Option<Vec<Vec<usize>>>,
    engine: &'static str,
    backends: Vec<String>,
    num_batches: u32,
    warmup: u32,
    cells: Vec<Cell>,
}

impl Report {
    /// An empty report with the settings of this runtime.
    pub fn new(runtime: &Runtime, device: Device, num_batches: u32, warmup: u32) -> Self {
        let topology = settings::topology(runtime.settings());
        let loaded = &runtime.backends().loaded;
        Self {
            mxrs: env!("CARGO_PKG_VERSION"),
            device: device.to_string(),
            threads: runtime.team().size(),
            affinity: settings::team(runtime.settings(), mxrs_sync::physical_cores(), topology.as_ref()).cpus,
            engine: runtime.engine().config().kind.word(),
            backends: loaded.iter().map(|loaded| format!("{} {}", loaded.backend.name(), loaded.version)).collect(),
            num_batches,
            warmup,
            cells: Vec::new(),
        }
    }

    /// The settings on which the measurements depend, in one line.
    pub fn header(&self) -> String {
        let affinity = self.affinity.as_ref().map_or("none".to_owned(), |cpus| format!("{cpus:?}"));
        let backends = self.backends.join(", ");
        format!("threads: {}, affinity: {affinity}, engine: {}, backends: {backends}", self.threads, self.engine)
    }

    /// Adds a measurement.
    pub fn add(&mut self, cell: Cell) {
        self.cells.push(cell);
    }

    /// Writes everything as JSON.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(&self, path: &Path) -> Outcome {
        let text = terminal::json(self) + "\n";
        let written = write_atomically(path, |sink| sink.write_all(text.as_bytes()).map_err(|e| Error::io(path, &e)));
        written.map_err(Failure::Run)
    }

    /// A failure that names the failed measurements, if there are any.
    pub fn failure(&self) -> Option<Failure> {
        let failed: Vec<String> = self
            .cells
            .iter()
            .filter(|cell| cell.status == "failed")
            .map(|cell| format!("{} at batch size {}", cell.network, cell.batch_size.unwrap_or(0)))
            .collect();
        let expected = "every measurement to finish; the log says why";
        (!failed.is_empty())
            .then(|| Failure::Run(Error::invalid("score", format!("failures: {}", failed.join(", ")), expected)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_that_of_mxnet() {
        let cell = Cell::new("resnet-50", Some(1), Some(DType::F32), Status::Measured(vec![12.369148]));
        assert_eq!(cell.lines(), ["batch size  1, dtype float32, images/sec: 12.369148"]);
        let cell = Cell::new("vgg-16", Some(256), Some(DType::F32), Status::OutOfMemory("why".into()));
        assert_eq!(cell.lines(), ["batch size 256, dtype float32, images/sec: oom", "why"]);
    }

    #[test]
    fn repetitions_have_a_second_line() {
        let cell = Cell::new("x", Some(32), Some(DType::F32), Status::Measured(vec![4.0, 1.0, 2.0]));
        assert_eq!(cell.images_per_sec, Some(2.0));
        assert_eq!(cell.lines()[1], "median of 3: 2.000000, least 1.000000, most 4.000000, spread 150.0 %");
        assert_eq!(median(&[1.0, 2.0]), Some(1.5));
        assert_eq!(median(&[]), None);
    }
}
