//! `cargo xtask compare bandwidth`: optimizer updates, reductions, softmax and normalization, and the bandwidth of memory.

use anyhow::Result;

use super::Common;
use crate::session::Session;

/// Arguments of `compare bandwidth`.
#[derive(clap::Args)]
pub struct Args {
    /// MB of the largest tensor of each call, if its elements have 4 bytes [default: 100]
    #[arg(long)]
    megabytes: Option<f64>,
    /// Only operators whose names contain one of these texts
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    #[command(flatten)]
    common: Common,
}

/// Runs the command.
///
/// # Errors
/// Fails if the program does not build or fails.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    let mut run = super::program(&session, "compare_bandwidth", &args.common)?;
    run = run.args(super::given([("--megabytes", args.megabytes.map(|megabytes| megabytes.to_string()))]));
    if !args.only.is_empty() {
        run = run.args(["--only", &args.only.join(",")]);
    }
    run.stream()
}
