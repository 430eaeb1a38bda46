//! Runs one case in a separate process, by starting this program again.

use super::{Case, Footprint, Mode, Variable, answer};
use anyhow::{Context, Result};
use std::process::Command;

/// The arguments of a child process.
#[derive(Clone, Debug, clap::Args)]
pub struct ChildArgs {
    /// Run this network in this process and print its footprint (this program starts itself with this flag)
    #[arg(long, hide = true)]
    run: Option<String>,
    /// Batch size of --run
    #[arg(long, hide = true, default_value_t = 1)]
    run_batch: usize,
    /// Mode of --run
    #[arg(long, hide = true, value_enum, default_value = "inference")]
    run_mode: Mode,
    /// Number of steps of --run
    #[arg(long, hide = true, default_value_t = 2)]
    run_steps: usize,
    /// Environment variables of --run, each NAME=VALUE
    #[arg(long, hide = true, value_parser = variable)]
    run_set: Vec<Variable>,
}

fn variable(text: &str) -> Result<Variable, String> {
    text.split_once('=').map(|(name, value)| (name.into(), value.into())).ok_or("expected NAME=VALUE".into())
}

impl ChildArgs {
    /// Runs the case, if the arguments name one, and returns the line to print.
    ///
    /// # Errors
    /// The result is an error if [`super::run::footprint`] fails.
    pub fn run(&self) -> Option<Result<String>> {
        let network = self.run.clone()?;
        let case = Case { network, batch: self.run_batch, mode: self.run_mode };
        let footprint = super::run::footprint(&case, &self.run_set, self.run_steps);
        Some(footprint.map(|footprint| footprint.to_line() + "\n"))
    }
}

/// Runs a case in a separate process.
///
/// # Errors
/// Fails if the process does not start or fails; the error holds the end of its stderr.
pub fn footprint(case: &Case, set: &[Variable], n_steps: usize) -> Result<Footprint> {
    let this = std::env::current_exe().context("where this program is")?;
    let mut command = Command::new(this);
    let (batch, steps) = (case.batch.to_string(), n_steps.to_string());
    command.args([
        "--run",
        &case.network,
        "--run-batch",
        &batch,
        "--run-mode",
        case.mode.word(),
        "--run-steps",
        &steps,
    ]);
    for (name, value) in set {
        command.arg("--run-set").arg(format!("{name}={value}"));
    }
    let output = command.output().context("starting this program again")?;
    Footprint::from_text(&answer(&output, &format!("mxrs on {case}"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_may_contain_equals_signs() {
        assert_eq!(variable("A=b=c"), Ok(("A".into(), "b=c".into())));
        assert!(variable("A").is_err());
    }
}
