//! Memory of networks: the bytes that the planners of MXNet and mxrs report, and the bytes that a process running the
//! network really uses.
//!
//! Every run has a separate process, so that nothing else adds to its memory. For mxrs, the program `compare_memory` starts
//! itself again ([`child`]); for MXNet, it starts a Python script ([`mxnet`]). Both bind the same symbol, in training with
//! gradients of all parameters, fill the arrays in pieces, run steps and print one line of JSON ([`Footprint`]).

pub mod child;
pub mod mxnet;
pub mod networks;
pub mod recompute;
pub mod resident;
pub mod run;
pub mod subject;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::fmt;
use std::process::Output;

/// What a case runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// The forward part as at inference.
    Inference,
    /// A training step: the forward part, and gradients of all parameters.
    Training,
}

impl Mode {
    /// Name of the mode on the command line and in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Inference => "inference",
            Self::Training => "training",
        }
    }
}

/// One network, batch size and mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Name of the network, as [`subject::Subject::new`] takes it.
    pub network: String,
    /// Batch size.
    pub batch: usize,
    /// Inference or training.
    pub mode: Mode,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, batch {}", self.network, self.mode.word(), self.batch)
    }
}

/// Name and value of an environment variable.
pub type Variable = (String, String);

/// Memory and time that a run took.
#[derive(Clone, Debug, PartialEq)]
pub struct Footprint {
    /// Bytes planned for values that live between operators, outputs included.
    pub planned_bytes: u64,
    /// Bytes of constants kept in a second layout; `None` if the program does not report them.
    pub packed_bytes: Option<u64>,
    /// Resident bytes before the network was bound: the program and its libraries, and for MXNet also Python.
    pub started_bytes: u64,
    /// Peak of the process's resident bytes.
    pub peak_bytes: u64,
    /// Seconds of each step.
    pub step_seconds: Vec<f64>,
}

impl Footprint {
    /// Resident bytes that binding and running added.
    pub fn grown_bytes(&self) -> u64 {
        self.peak_bytes.saturating_sub(self.started_bytes)
    }

    /// The footprint as one line of JSON.
    pub fn to_line(&self) -> String {
        let value = json!({
            "planned_bytes": self.planned_bytes,
            "packed_bytes": self.packed_bytes,
            "started_bytes": self.started_bytes,
            "peak_bytes": self.peak_bytes,
            "step_seconds": self.step_seconds,
        });
        value.to_string()
    }

    /// Reads a footprint from the last line that a child process printed.
    ///
    /// # Errors
    /// Fails if that line is not a footprint.
    pub fn from_text(text: &str) -> Result<Self> {
        let line = text.lines().last().unwrap_or_default();
        let value: Value = serde_json::from_str(line).with_context(|| format!("the answer `{line}`"))?;
        let bytes = |key: &str| value[key].as_u64().with_context(|| format!("`{key}` in `{line}`"));
        Ok(Self {
            planned_bytes: bytes("planned_bytes")?,
            packed_bytes: value["packed_bytes"].as_u64(),
            started_bytes: bytes("started_bytes")?,
            peak_bytes: bytes("peak_bytes")?,
            step_seconds: value["step_seconds"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect(),
        })
    }
}

/// Standard output of a child process that ended successfully.
///
/// # Errors
/// Fails if the process failed; the error holds the last lines of its stderr.
fn answer(output: &Output, who: &str) -> Result<String> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let end: Vec<&str> = stderr.lines().rev().take(3).collect();
    let end: Vec<&str> = end.into_iter().rev().collect();
    ensure!(output.status.success(), "{who} ended with {}: {}", output.status, end.join(" | "));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footprint_survives_its_line() {
        let footprint = Footprint {
            planned_bytes: 1 << 40,
            packed_bytes: Some(7),
            started_bytes: 100,
            peak_bytes: 350,
            step_seconds: vec![0.5, 0.25],
        };
        assert_eq!(footprint.grown_bytes(), 250);
        // Lines that a library printed before the footprint are ignored.
        let text = format!("a line of a library\n{}\n", footprint.to_line());
        assert_eq!(Footprint::from_text(&text).unwrap(), footprint);
        let unknown = Footprint { packed_bytes: None, ..footprint };
        assert_eq!(Footprint::from_text(&unknown.to_line()).unwrap(), unknown);
        for text in ["", "{}", "12", "{\"planned_bytes\": -1}"] {
            assert!(Footprint::from_text(text).is_err(), "{text:?}");
        }
    }
}
