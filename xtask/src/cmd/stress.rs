//! `cargo xtask stress`: runs random programs on every kind of engine and compares each with a serial interpreter of the
//! engine's rules.
//!
//! The programs are those of the engine's `oracle` test, but many more, so that rare interleavings occur.

use std::num::NonZeroU64;

use anyhow::Result;

use crate::session::Session;

/// Names of the kinds of engine, as in MXNET_ENGINE_TYPE.
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
    /// Number of programs for each kind of engine
    #[arg(long, default_value_t = PROGRAMS)]
    programs: NonZeroU64,
    /// Seed of the first program; a failure names the seed that reproduces it
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Run only this kind of engine, a value of MXNET_ENGINE_TYPE
    #[arg(long, value_parser = KINDS)]
    kind: Option<String>,
    /// Number of programs that run at the same time
    #[arg(long, default_value_t = THREADS)]
    threads: NonZeroU64,
}

/// Runs the command.
///
/// # Errors
/// Fails if a program violates a rule or hangs.
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
