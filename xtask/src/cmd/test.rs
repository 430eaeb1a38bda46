//! `cargo xtask test [--quick]`: runs every check and every test, then prints one line `N passed, M failed`.

use anyhow::Result;

use super::suite::{self, OnFailure};
use crate::session::Session;

/// Arguments of `test`.
#[derive(clap::Args)]
pub struct Args {
    /// Run only formatting, rules and the tests of the default build, which need Rust alone
    #[arg(long)]
    quick: bool,
    /// Compile the tests with oneDNN as users compile mxrs, and run the doc examples with it too; takes about twice the time
    #[arg(long, conflicts_with = "quick")]
    release: bool,
}

/// Runs the command.
///
/// # Errors
/// Fails if a check or a test fails.
pub fn run(args: &Args) -> Result<()> {
    if args.quick {
        return suite::run(&Session::rust_only()?, &suite::QUICK, OnFailure::GoOn);
    }
    let suite = if args.release { suite::RELEASE } else { suite::FULL };
    suite::run(&Session::native()?, &suite, OnFailure::GoOn)
}
