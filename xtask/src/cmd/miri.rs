//! `cargo xtask miri`: the tests of the crates that hold unsafe code, under Miri on the nightly toolchain.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::session::Session;

/// The crates whose unsafe code Miri can run, no native library being behind them, and which of their tests: those of the
/// engine's parts, since whole engines take Miri hours.
const PARTS: [&[&str]; 2] = [&["-p", "mxrs-storage", "-p", "mxrs-ndarray"], &["-p", "mxrs-engine", "--lib"]];

/// Arguments of `miri`.
#[derive(clap::Args)]
pub struct Args {
    /// Run only tests whose name contains this
    filter: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// Miri or the standard library's sources are missing, or Miri finds undefined behavior.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    need_miri(&session)?;
    // The tests map files and read the clock, which isolation would refuse. crossbeam-epoch, under the engine's deques, does
    // not follow stacked borrows and keeps its garbage for later.
    const FLAGS: &str = "-Zmiri-disable-isolation -Zmiri-tree-borrows -Zmiri-ignore-leaks -Zmiri-permissive-provenance";
    for part in PARTS {
        let run = session.nightly("cargo").args(["miri", "test"]).args(part).args(&args.filter);
        run.env("MIRIFLAGS", FLAGS).env("CARGO_TARGET_DIR", session.target_dir().join("miri")).stream()?;
    }
    Ok(())
}

fn need_miri(session: &Session) -> Result<()> {
    const REMEDY: &str = "run `cargo xtask setup --nightly` (it needs the network)";
    if !session.nightly("cargo").args(["miri", "--version"]).succeeds() {
        bail!("the nightly toolchain has no Miri here; {REMEDY}");
    }
    let sysroot = session.nightly("rustc").args(["--print", "sysroot"]).capture().context("asking nightly rustc")?;
    if !Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library").is_dir() {
        bail!(
            "the nightly toolchain lacks the component rust-src, from which Miri builds its standard library; {REMEDY}"
        );
    }
    Ok(())
}
