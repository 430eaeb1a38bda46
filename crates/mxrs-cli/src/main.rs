//! The `mxrs` command: what MXNet's command-line tools do, with their flags, defaults and log lines.
//!
//! One file per subcommand under `cmd/`; each says its arguments and runs. The work itself belongs to the libraries: this
//! crate knows only the facade `mxrs`, the terminal and the way errors become exit codes.

mod args;
mod batches;
mod cmd;
mod exit;
mod interrupt;
mod logging;
mod networks;
mod picture;
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
