//! `cargo xtask lint`: clippy on every target of every member, warnings denied; cargo-deny where it is installed.

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
/// Clippy or cargo-deny found something.
pub fn run(args: &Args) -> Result<()> {
    let session = if args.quick { Session::rust_only()? } else { Session::native()? };
    clippy(&session)
}

/// Runs clippy, and cargo-deny if this machine has it.
///
/// # Errors
/// As for `run`.
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
