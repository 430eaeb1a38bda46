//! `mxrs profile diff`: compares two traces, or several pairs.

use crate::args::Format;
use crate::exit::{Failure, Outcome};
use crate::terminal;
use mxrs::profiler::diff::{Options, Verdict, compare_pairs};
use std::path::PathBuf;

/// Arguments of `profile diff`.
#[derive(clap::Args)]
pub struct Args {
    /// Trace of a run before the change and of one after it; more pairs in the order in which they were recorded, such as
    /// `before1.json after1.json before2.json after2.json`, tell a change from what differs between any two runs
    #[arg(required = true, num_args = 2.., value_name = "BEFORE AFTER")]
    traces: Vec<PathBuf>,
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
    let (pairs, rest) = args.traces.as_chunks();
    if let [alone] = rest {
        return Err(Failure::Usage(format!(
            "{} traces were named, and {} has no counterpart: expected pairs, before and after, before and after",
            args.traces.len(),
            alone.display()
        )));
    }
    let comparison = compare_pairs(pairs, options).map_err(Failure::input)?;
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
