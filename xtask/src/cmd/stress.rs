//! `cargo xtask stress`: random programs on every kind of engine against a serial interpreter of its rules.
//!
//! The same programs as in the engine's `oracle` test, but enough of them that rare interleavings occur.

use std::num::NonZeroU64;

use anyhow::Result;

use crate::session::Session;

/// The kinds of engine, by their words.
const KINDS: [&str; 6] = [
    "NaiveEngine",
    "ThreadedEngine",
    "ThreadedEnginePerDevice",
    "NaiveEngineAsync",
    "ThreadedEngineAsync",
    "ThreadedEnginePerDeviceAsync",
];
const PROGRAMS: NonZeroU64 = NonZeroU64::new(10_000).unwrap();
const THREADS: NonZeroU64 = NonZeroU64::new(2).unwrap();

/// Arguments of `stress`.
#[derive(clap::Args)]
pub struct Args {
    /// Programs for each kind of engine
    #[arg(long, default_value_t = PROGRAMS)]
    programs: NonZeroU64,
    /// Seed of the first; a failure names the seed to start from to see it again
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Only this kind, a word of MXNET_ENGINE_TYPE
    #[arg(long, value_parser = KINDS)]
    kind: Option<String>,
    /// Programs run at the same time
    #[arg(long, default_value_t = THREADS)]
    threads: NonZeroU64,
}

/// Runs the command.
///
/// # Errors
/// A program does what the rules forbid, or hangs.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    let run = session.cargo("run").args(["--release", "-p", "mxrs-engine", "--example", "stress", "--"]);
    let numbers = [("--programs", args.programs.get()), ("--seed", args.seed), ("--threads", args.threads.get())];
    let run = numbers.iter().fold(run, |run, (name, number)| run.arg(name).arg(number.to_string()));
    match &args.kind {
        Some(kind) => run.args(["--kind", kind]).stream(),
        None => run.stream(),
    }
}
