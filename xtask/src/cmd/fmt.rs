//! `cargo xtask fmt [--check]`: rustfmt on every member.

use anyhow::{Result, bail};

use crate::session::Session;

/// Arguments of `fmt`.
#[derive(clap::Args)]
pub struct Args {
    /// Only say what is not formatted, and fail if anything is not
    #[arg(long)]
    check: bool,
}

/// Runs the command.
///
/// # Errors
/// With `--check`, a file is not formatted; rustfmt is missing and cannot be installed.
pub fn run(args: &Args) -> Result<()> {
    format(&Session::rust_only()?, args.check)
}

/// Formats the code, or checks it.
///
/// # Errors
/// As for `run`.
pub fn format(session: &Session, check: bool) -> Result<()> {
    need_component(session, "fmt", "rustfmt")?;
    let run = session.cargo("fmt").arg("--all");
    if check { run.args(["--", "--check"]).stream() } else { run.stream() }
}

/// Makes sure that `cargo <subcommand>` works, by way of rustup if need be.
///
/// # Errors
/// It does not work, and rustup is absent or cannot install it.
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
