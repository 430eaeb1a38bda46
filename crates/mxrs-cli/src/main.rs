//! The `mxrs` command: MXNet's command-line tools with their flags, defaults and log lines.
//!
//! Each subcommand is one file or folder in `cmd/`, with its arguments and its `run` function. The work itself is done in
//! the libraries: this crate only uses the facade `mxrs`, the terminal and the mapping from errors to exit codes.

mod args;
mod batches;
mod cmd;
mod contexts;
mod exit;
mod font;
mod interrupt;
mod logging;
mod networks;
mod picture;
mod profiling;
mod records;
mod room;
mod start;
mod subject;
mod svg;
mod terminal;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    logging::start(&cli.logging);
    if cli.command.checks_signals() {
        interrupt::watch();
    }
    match cmd::run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            failure.code()
        }
    }
}
