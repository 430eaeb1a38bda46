//! `cargo xtask loom`: checks every interleaving of the protocols of the engine, the storage pools, the thread team and
//! the rings of records.
//!
//! Builds in a separate target folder, because `--cfg loom` recompiles every crate and must not replace the ordinary build.

use anyhow::Result;

use crate::session::Session;

/// Arguments of `loom`.
#[derive(clap::Args)]
pub struct Args {
    /// Limit the forced thread switches per execution; without it each model has its own limit or none
    #[arg(long)]
    max_preemptions: Option<u32>,
    /// Run only models whose name contains this text
    filter: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// Fails if a model finds an interleaving that violates a rule.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    let packages = ["-p", "mxrs-sync", "-p", "mxrs-trace", "-p", "mxrs-storage", "-p", "mxrs-engine"];
    let run = session.cargo("test").arg("--release").args(packages).args(["--test", "loom_*"]);
    let run = run.args(&args.filter);
    let run = run.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", session.target_dir().join("loom"));
    match args.max_preemptions {
        Some(n) => run.env("LOOM_MAX_PREEMPTIONS", n.to_string()).stream(),
        None => run.stream(),
    }
}
