//! `mxrs profile`: profiles a subcommand, compares two traces, merges traces of several processes.

mod diff;
mod merge;

use crate::args::Cli;
use crate::exit::{Failure, Outcome};
use crate::interrupt;
use crate::profiling::{Wanted, profiled};
use clap::Parser;
use mxrs::profiler::Config;
use std::path::PathBuf;

/// Arguments of `profile`.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    tool: Option<Tool>,
    /// What is recorded and written.
    #[command(flatten)]
    recording: Recording,
}

/// What is done with traces that exist.
#[derive(clap::Subcommand)]
enum Tool {
    /// Compare two traces of the same work: which operators got slower or faster, and which differences are only noise
    Diff(diff::Args),
    /// Merge the traces of several ranks or processes into one
    Merge(merge::Args),
}

/// A subcommand to profile.
#[derive(clap::Args)]
struct Recording {
    /// Trace of all records, for chrome://tracing and Perfetto; compressed if the name ends in `.gz`
    #[arg(long, value_name = "FILE", default_value = "profile.json")]
    trace: PathBuf,
    /// Report: a page for a browser, with timeline, table, memory and roofline
    #[arg(long, value_name = "FILE", default_value = "profile.html")]
    report: PathBuf,
    /// Write no report
    #[arg(long, conflicts_with = "report")]
    no_report: bool,
    /// What is recorded, as a sum: 1 operators of graphs, 2 operators called one by one, 4 calls of the library, 8 memory
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u8).range(..16))]
    mode: u8,
    /// Record tasks of the engine too: when each is pushed, run and completed
    #[arg(long)]
    engine: bool,
    /// Trace in Perfetto's own format
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// Count cycles, instructions, cache misses and branch misses of the process, if the system allows it
    #[arg(long)]
    hardware_counters: bool,
    /// Stacks for flame graphs, one line for each
    #[arg(long, value_name = "FILE")]
    folded: Option<PathBuf>,
    /// Start of the name of a list of all memory blocks, `<PREFIX>-pid_<process>.csv`
    #[arg(long, value_name = "PREFIX")]
    memory_csv: Option<PathBuf>,
    /// Summary as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The subcommand to profile, with its arguments
    #[arg(last = true, required = true, value_name = "SUBCOMMAND")]
    command: Vec<String>,
}

impl Recording {
    fn wanted(&self) -> Outcome<Wanted> {
        let config = Config {
            filename: self.trace.clone(),
            report: (!self.no_report).then(|| self.report.clone()),
            profile_engine: self.engine,
            hardware_counters: self.hardware_counters,
            perfetto: self.perfetto.clone(),
            folded: self.folded.clone(),
            memory_csv_prefix: self.memory_csv.clone(),
            aggregate_stats: true,
            ..Config::of_mode(self.mode).map_err(Failure::binding)?
        };
        Ok(Wanted { config, json: self.json.clone() })
    }
}

/// Runs the command.
///
/// # Errors
/// Fails if the subcommand or its arguments are wrong, if the subcommand fails, if a trace cannot be read, or if a file cannot be
/// written.
pub fn run(args: &Args) -> Outcome {
    match &args.tool {
        Some(Tool::Diff(args)) => diff::run(args),
        Some(Tool::Merge(args)) => merge::run(args),
        None => record(&args.recording),
    }
}

fn record(args: &Recording) -> Outcome {
    let words = std::iter::once("mxrs").chain(args.command.iter().map(String::as_str));
    let inner = Cli::try_parse_from(words).unwrap_or_else(|error| error.exit());
    if matches!(inner.command, super::Command::Profile(_)) {
        return Err(Failure::Usage("`mxrs profile` cannot profile itself; give another subcommand".to_owned()));
    }
    if inner.command.checks_signals() {
        interrupt::watch();
    }
    profiled(Some(&args.wanted()?), || super::run(&inner))
}
