//! `cargo xtask doc`: builds the documentation of every member; warnings are errors.

use anyhow::Result;

use crate::session::Session;

/// Arguments of `doc`.
#[derive(clap::Args)]
pub struct Args {
    /// Open the documentation in a browser afterwards
    #[arg(long)]
    open: bool,
}

/// Runs the command.
///
/// # Errors
/// Fails if rustdoc has a warning.
pub fn run(args: &Args) -> Result<()> {
    build(&Session::native()?, args.open)
}

/// Builds the documentation.
///
/// # Errors
/// Fails if rustdoc has a warning.
pub fn build(session: &Session, open: bool) -> Result<()> {
    let run = session.cargo("doc").args(session.kernels.workspace_flags()).arg("--no-deps");
    let run = if open { run.arg("--open") } else { run };
    run.env("RUSTDOCFLAGS", "-D warnings").stream()
}
