//! `cargo xtask compare storage`: our pools, glibc's malloc and mimalloc on the same traces.

use std::num::NonZeroUsize;

use anyhow::Result;

use super::Common;
use crate::session::Session;

/// Arguments of `compare storage`.
#[derive(clap::Args)]
pub struct Args {
    /// Training steps of each trace [default: 50]
    #[arg(long)]
    iterations: Option<NonZeroUsize>,
    /// Pairs of allocation and release per round of the warm allocations [default: 100000]
    #[arg(long)]
    pairs: Option<NonZeroUsize>,
    #[command(flatten)]
    common: Common,
}

/// Runs the command.
///
/// # Errors
/// Fails if the program does not build or fails.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    let mut run = super::built(&session, "compare_storage", &["--features", "mimalloc"])?.args(args.common.flags());
    if let Some(iterations) = args.iterations {
        run = run.args(["--iterations", &iterations.to_string()]);
    }
    if let Some(pairs) = args.pairs {
        run = run.args(["--pairs", &pairs.to_string()]);
    }
    run.stream()
}
