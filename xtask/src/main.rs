//! The runner behind `cargo xtask …`. Each check, CI step and README command is one subcommand with a file in `cmd/`.
//!
//! It depends on no mxrs crate, only starts cargo and the programs that cargo builds, and so compiles in seconds on a bare
//! machine.
//!
//! ```text
//! cargo xtask demo          build, classify the digits with both checkpoints, time resnet-50
//! cargo xtask test          every check and every test
//! cargo xtask test --quick  the suite of the default build, in debug
//! ```
//!
//! Read next: `process.rs` (how a command is run), `tools/` (what a machine needs), `tidy/` (the project's own rules).

// The rule that only mxrs-env reads the environment applies to the product. The runner has to pass PATH and flags to cargo.
#![allow(clippy::disallowed_methods)]

mod cmd;
mod elapsed;
mod failures;
mod heartbeat;
mod native_build;
mod process;
mod prose;
mod sanitizer;
mod session;
mod skips;
mod steps;
mod tally;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match cmd::run(cmd::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
