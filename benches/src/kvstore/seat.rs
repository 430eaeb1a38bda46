//! A contestant's process.

use super::{Call, Case};
use crate::score::process::Process;
use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const SCRIPT: &str = include_str!("peer_mxnet.py");
/// A contestant that does not answer for this long is killed.
const LIMIT: Duration = Duration::from_secs(300);

/// A process that pushes and pulls arrays as ordered.
pub struct Seat {
    process: Process,
    /// Name and version of the library.
    pub name: String,
}

impl Seat {
    /// Starts mxrs: this program again.
    ///
    /// # Errors
    /// Fails if the process does not start or cannot make the store and the arrays.
    pub fn ours(case: &Case, shapes: &[Vec<usize>]) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe().context("where this program is")?);
        command.arg("--serve");
        Self::start(command, case, shapes)
    }

    /// Starts MXNet, with this Python.
    ///
    /// # Errors
    /// Fails if Python has no MXNet, or if MXNet cannot make the store and the arrays.
    pub fn mxnet(python: &Path, case: &Case, shapes: &[Vec<usize>]) -> Result<Self> {
        let mut command = Command::new(python);
        command.args(["-u", "-c", SCRIPT]);
        Self::start(command, case, shapes)
    }

    fn start(command: Command, case: &Case, shapes: &[Vec<usize>]) -> Result<Self> {
        let mut process = Process::start(command, None).map_err(|failure| anyhow!("{failure}"))?;
        let answer = ask(&mut process, &case.to_order(shapes))?;
        let name = answer["name"].as_str().context("an answer without `name`")?.to_owned();
        Ok(Self { process, name })
    }

    /// Runs steps, and returns the seconds of one.
    ///
    /// # Errors
    /// Fails if the process ends, reports an error or a wrong sum, or does not answer in time.
    pub fn seconds_per_step(&mut self, call: Call, n_steps: usize) -> Result<f64> {
        let answer = ask(&mut self.process, &json!({ "do": "run", "call": call.word(), "n_steps": n_steps }))?;
        let seconds = answer["seconds"].as_f64().context("an answer without `seconds`")?;
        Ok(seconds / n_steps as f64)
    }
}

fn ask(process: &mut Process, order: &Value) -> Result<Value> {
    process.ask(order, LIMIT).map_err(|failure| anyhow!("{failure}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_that_is_not_there_is_named() {
        let case = Case { store: "local".into(), n_devices: 2 };
        let error = Seat::mxnet(Path::new("no-such-python"), &case, &[]).err().unwrap().to_string();
        assert!(error.contains("no-such-python"), "{error}");
    }
}
