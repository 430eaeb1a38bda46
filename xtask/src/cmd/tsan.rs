//! `cargo xtask tsan`: runs the tests of the crates with threads under the thread sanitizer.
//!
//! The sanitizer derives the order of memory accesses from the synchronization between threads. It reports two accesses
//! without an order, even if they did not overlap in this run. It understands atomics and threads but not fences. That
//! causes no false reports, because the fences of mxrs protect no data and only decide which threads sleep. No report is
//! suppressed. The standard library is compiled with the sanitizer too, so that the sanitizer understands its locks and
//! channels.

use anyhow::{Context, Result};

use crate::sanitizer::{Sanitized, Sanitizer, must_report};
use crate::session::Session;

/// The crates that start threads or share memory between them.
const PACKAGES: [&str; 4] = ["mxrs-sync", "mxrs-trace", "mxrs-storage", "mxrs-engine"];

/// A test that is left out: under this sanitizer crossbeam-epoch uses a list in place of fences, and the list allocates.
const SKIPPED: &str = "a_warm_engine_allocates_nothing";

/// Arguments of `tsan`.
#[derive(clap::Args)]
pub struct Args {
    /// Only check that a planted race is found
    #[arg(long)]
    self_test: bool,
    /// Run only tests whose name contains this text
    filter: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// Fails if a test fails or has a race, a planted race is not reported, or rustup cannot fetch the standard library's
/// sources.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    let sanitized = Sanitized::new(&session, Sanitizer::Thread)?;
    self_test(&sanitized).context("the sanitizer's own test")?;
    if args.self_test {
        return Ok(());
    }
    let packages = PACKAGES.iter().flat_map(|package| ["-p", package]);
    let run = sanitized.cargo("test").args(packages).args(["--lib", "--tests", "--no-fail-fast"]);
    run.args(&args.filter).args(["--", "--skip", SKIPPED]).stream()
}

/// Checks that a loop with a race is reported, and that the same loop without the race is not.
fn self_test(sanitized: &Sanitized<'_>) -> Result<()> {
    sanitized.cargo("build").args(["-p", "mxrs-sync", "--example", "race"]).stream()?;
    must_report(&sanitized.example("race"), "ThreadSanitizer: data race")?;
    sanitized.example("race").arg("--ordered").capture().context("a loop without a race was reported")?;
    eprintln!("tsan: a planted race was found, its orderly twin was not reported");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn every_package_is_a_member() {
        let workspace = Workspace::find().unwrap();
        for package in PACKAGES {
            assert!(workspace.floor_of(package).is_some(), "{package} is not a member of the workspace");
        }
    }
}
