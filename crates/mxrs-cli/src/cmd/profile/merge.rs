//! `mxrs profile merge`: merges traces.

use crate::exit::{Failure, Outcome, expect_writable};
use crate::terminal;
use mxrs::profiler::merge;
use std::path::PathBuf;

/// Arguments of `profile merge`.
#[derive(clap::Args)]
pub struct Args {
    /// Traces to merge, in the order of their ranks
    #[arg(required = true, num_args = 1.., value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// The merged trace; compressed if the name ends in `.gz`
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// Fails if a trace cannot be read or the merged trace cannot be written.
pub fn run(args: &Args) -> Outcome {
    expect_writable(&args.output)?;
    merge(&args.traces, &args.output).map_err(Failure::input)?;
    terminal::print_line(format!("{} traces merged into {}", args.traces.len(), args.output.display()))
}
