//! `mxrs profile diff`: compares two traces.

use crate::args::Format;
use crate::exit::{Failure, Outcome};
use crate::terminal;
use mxrs::profiler::diff::{Options, Verdict, compare};
use std::path::PathBuf;

/// Arguments of `profile diff`.
#[derive(clap::Args)]
pub struct Args {
    /// Trace of the first run, such as `before.json`
    a: PathBuf,
    /// Trace of the second run
    b: PathBuf,
    /// Smallest change to name: 0.03 is 3 %
    #[arg(long, value_name = "SHARE", default_value_t = Options::default().min_effect, value_parser = share)]
    min_effect: f64,
    /// Smallest probability of a change to name, from 0.5 to below 1
    #[arg(long, value_name = "SHARE", default_value_t = Options::default().certainty, value_parser = certainty)]
    certainty: f64,
    /// Fail if an operator got slower
    #[arg(long)]
    check: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|share| (0.0..1.0).contains(share));
    number.ok_or_else(|| "expected a number from 0 to below 1".into())
}

fn certainty(text: &str) -> Result<f64, String> {
    let number = share(text).ok().filter(|share| *share >= 0.5);
    number.ok_or_else(|| "expected a number from 0.5 to below 1".into())
}

/// Runs the command.
///
/// # Errors
/// Fails if a trace cannot be read or has no operators, and with `--check` if an operator got slower.
pub fn run(args: &Args) -> Outcome {
    let options = Options { min_effect: args.min_effect, certainty: args.certainty };
    let comparison = compare(&args.a, &args.b, options).map_err(Failure::input)?;
    match args.format {
        Format::Table => terminal::print(&comparison.to_string())?,
        Format::Json => terminal::print_line(comparison.to_json()?)?,
    }
    let slower = comparison.operators.iter().filter(|row| row.verdict == Verdict::Slower);
    let names: Vec<&str> = slower.map(|row| row.operator.as_str()).collect();
    match args.check && !names.is_empty() {
        true => Err(Failure::Run(mxrs::Error::invalid("time of operators", names.join(", "), "no operator slower"))),
        false => Ok(()),
    }
}
