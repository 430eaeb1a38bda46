//! `cargo xtask test [--quick]`: every check and every test, then one line `N passed, M failed`.

use anyhow::Result;

use super::suite::{self, OnFailure};
use crate::session::Session;

/// Arguments of `test`.
#[derive(clap::Args)]
pub struct Args {
    /// Formatting, rules and tests only, without compiling oneDNN
    #[arg(long)]
    quick: bool,
}

/// Runs the command.
///
/// # Errors
/// A check or a test failed.
pub fn run(args: &Args) -> Result<()> {
    if args.quick {
        return suite::run(&Session::rust_only()?, &suite::QUICK, OnFailure::GoOn);
    }
    suite::run(&Session::native()?, &suite::FULL, OnFailure::GoOn)
}
