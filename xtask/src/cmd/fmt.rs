//! `cargo xtask fmt [--check]`: runs rustfmt on every member.

use anyhow::{Result, bail};

use crate::session::Session;

/// Arguments of `fmt`.
#[derive(clap::Args)]
pub struct Args {
    /// Only list the files that are not formatted, and fail if there are any
    #[arg(long)]
    check: bool,
}

/// Runs the command.
///
/// # Errors
/// Fails if rustfmt is missing and cannot be installed, or with `--check` if a file is not formatted.
pub fn run(args: &Args) -> Result<()> {
    format(&Session::rust_only()?, args.check)
}

/// Formats the code, or checks it.
///
/// # Errors
/// Fails if rustfmt is missing and cannot be installed, or with `check` if a file is not formatted.
pub fn format(session: &Session, check: bool) -> Result<()> {
    need_component(session, "fmt", "rustfmt")?;
    let run = session.cargo("fmt").arg("--all");
    if check { run.args(["--", "--check"]).stream() } else { run.stream() }
}

/// Makes sure that `cargo <subcommand>` works; installs the component with rustup if it does not.
///
/// # Errors
/// Fails if the subcommand does not work and rustup is absent or cannot install it.
pub fn need_component(session: &Session, subcommand: &str, component: &str) -> Result<()> {
    let works = || session.cargo(subcommand).arg("--version").succeeds();
    if works() {
        return Ok(());
    }
    eprintln!("setup: no {component} found; asking rustup for it");
    session.program("rustup").args(["component", "add", component]).stream()?;
    if !works() {
        bail!("`cargo {subcommand}` does not work; install the component `{component}` of this toolchain");
    }
    Ok(())
}
