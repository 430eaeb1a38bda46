//! `cargo xtask miri`: runs the tests of the crates with unsafe code under Miri, on the nightly toolchain.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::session::Session;

/// Cargo flags of the tests that Miri runs, for the crates with unsafe code that call no native library. Of the engine, only
/// the unit tests run, because whole engines take hours under Miri.
const PARTS: [&[&str]; 2] =
    [&["-p", "mxrs-trace", "-p", "mxrs-storage", "-p", "mxrs-ndarray"], &["-p", "mxrs-engine", "--lib"]];

/// Arguments of `miri`.
#[derive(clap::Args)]
pub struct Args {
    /// Run only tests whose name contains this text
    filter: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// Fails if Miri or the standard library's sources are missing, or if Miri finds undefined behavior.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    need_miri(&session)?;
    // Isolation is off, because the tests map files and read the clock. Tree borrows are used and leaks are ignored, because
    // crossbeam-epoch, which the engine's deques use, violates stacked borrows and frees its garbage late.
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
