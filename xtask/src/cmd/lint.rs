//! `cargo xtask lint`: runs clippy on every target of every member, with warnings as errors, and cargo-deny if it is
//! installed.

use anyhow::Result;

use super::fmt::need_component;
use crate::session::Session;

/// Arguments of `lint`.
#[derive(clap::Args)]
pub struct Args {
    /// Leave out the crates that compile oneDNN
    #[arg(long)]
    quick: bool,
}

/// Runs the command.
///
/// # Errors
/// Fails if clippy or cargo-deny reports something.
pub fn run(args: &Args) -> Result<()> {
    let session = if args.quick { Session::rust_only()? } else { Session::native()? };
    clippy(&session)
}

/// Runs clippy, and cargo-deny if this machine has it.
///
/// # Errors
/// Fails if clippy or cargo-deny reports something.
pub fn clippy(session: &Session) -> Result<()> {
    need_component(session, "clippy", "clippy")?;
    let run = session.cargo("clippy").args(session.kernels.workspace_flags()).arg("--all-targets");
    run.args(["--", "-D", "warnings"]).stream()?;
    if session.cargo("deny").arg("--version").succeeds() {
        return session.cargo("deny").args(["check", "bans", "licenses", "sources"]).stream();
    }
    eprintln!("lint: cargo-deny is not installed; deny.toml was not checked");
    Ok(())
}
