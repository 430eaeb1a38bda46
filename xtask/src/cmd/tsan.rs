//! `cargo xtask tsan`: the tests of the crates with threads, under the thread sanitizer.
//!
//! It orders memory accesses by what synchronizes them and reports two that are unordered, whether or not they met in this
//! run. It knows atomics and threads but not fences; our fences only decide who sleeps, no data hangs on them. There is
//! no list of reports to be ignored: the standard library is compiled along, so its locks and channels are followed too.

use anyhow::{Context, Result};

use crate::sanitizer::{Sanitized, Sanitizer, must_report};
use crate::session::Session;

/// The crates that start threads or share memory between them.
const PACKAGES: [&str; 3] = ["mxrs-sync", "mxrs-storage", "mxrs-engine"];

/// Left out: under this sanitizer crossbeam-epoch keeps a list where it has fences otherwise, and that list allocates.
const SKIPPED: &str = "a_warm_engine_allocates_nothing";

/// Arguments of `tsan`.
#[derive(clap::Args)]
pub struct Args {
    /// Only see whether a planted race is found
    #[arg(long)]
    self_test: bool,
    /// Run only tests whose name contains this
    filter: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// A test fails or races, the planted race goes unnoticed, or rustup cannot fetch the standard library's sources.
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

/// The same loop with and without a race: the one is reported, the other is not.
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
