//! `cargo xtask compare team`: our team of threads, OpenMP and rayon on loops of a few microseconds.

use std::num::NonZeroU64;

use anyhow::Result;

use super::Common;
use crate::session::Session;

/// Arguments of `compare team`.
#[derive(clap::Args)]
pub struct Args {
    /// The C compiler for OpenMP's loop
    #[arg(long, default_value = "gcc")]
    cc: String,
    /// Microseconds that one round takes [default: 10000]
    #[arg(long)]
    round_us: Option<NonZeroU64>,
    #[command(flatten)]
    common: Common,
}

/// Runs the command.
///
/// # Errors
/// Fails if the program does not build or fails.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    let mut run = super::program(&session, "compare_team", &args.common)?.args(["--cc", &args.cc]);
    if let Some(round_us) = args.round_us {
        run = run.args(["--round-us", &round_us.to_string()]);
    }
    run.stream()
}
