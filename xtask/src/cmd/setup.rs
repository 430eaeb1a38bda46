//! `cargo xtask setup`: finds or installs the tools that a build needs and prints their paths.

use anyhow::{Context, Result};

use crate::process::Run;
use crate::tools::Tools;
use crate::workspace::Workspace;

/// Arguments of `setup`.
#[derive(clap::Args)]
pub struct Args {
    /// Also install the nightly toolchain with Miri, for `fuzz` and `miri`
    #[arg(long)]
    nightly: bool,
}

/// Runs the command.
///
/// # Errors
/// Fails if the manifests cannot be read, or if rustup cannot install nightly. Missing build tools are reported but are not
/// an error, because the project builds without oneDNN.
pub fn run(args: &Args) -> Result<()> {
    let workspace = Workspace::find()?;
    let tools = Tools::find_or_install();
    println!("{}", tools.line());
    println!("oneDNN can be built: {}", if tools.can_build_onednn() { "yes" } else { "no" });
    if args.nightly {
        let install = ["toolchain", "install", "nightly", "--profile", "minimal", "--component", "miri,rust-src"];
        Run::new("rustup", &workspace.root).args(install).stream().context("installing the nightly toolchain")?;
    }
    Ok(())
}
