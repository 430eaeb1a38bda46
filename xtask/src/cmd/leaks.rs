//! `cargo xtask leaks`: runs tests and example programs of the crates that own memory and threads under the leak sanitizer.
//!
//! At the end of a process the sanitizer searches for allocations that no pointer refers to. Memory that a static still
//! refers to is not a leak. Tests that fork are left out: a child process sees the memory of its parent's threads but not
//! their stacks, which hold the pointers.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::sanitizer::{Sanitized, Sanitizer, must_report};
use crate::session::Session;
use crate::workspace::rust_files;

/// Crates of which all tests and examples are run.
const PACKAGES: [&str; 2] = ["mxrs-storage", "mxrs-engine"];
/// Cargo flags that select the tests of the thread team, without those that fork.
const TEAM: [&str; 5] = ["-p", "mxrs-sync", "--lib", "--test", "team"];

/// A program whose leaks the sanitizer must find before its results are trusted. It leaks many allocations, because the
/// address of a single one could remain on the stack.
const LEAKING: &str = "fn main() { (0..100).for_each(|i| std::mem::forget(vec![i; 100])) }\n";

/// Arguments of `leaks`.
#[derive(clap::Args)]
pub struct Args {
    /// Only check that a planted leak is found
    #[arg(long)]
    self_test: bool,
}

/// Runs the command.
///
/// # Errors
/// Fails if a program fails or leaks, or if a planted leak is not reported.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    let sanitized = Sanitized::new(&session, Sanitizer::Leak)?;
    self_test(&sanitized).context("the sanitizer's own test")?;
    if args.self_test {
        return Ok(());
    }
    let packages = PACKAGES.iter().flat_map(|package| ["-p", package]);
    sanitized.cargo("test").args(packages).args(["--lib", "--tests", "--examples", "--no-fail-fast"]).stream()?;
    sanitized.cargo("test").args(TEAM).stream()?;
    for package in PACKAGES {
        for example in examples(&session, package)? {
            sanitized.cargo("run").args(["-p", package, "--example", &example]).stream()?;
        }
    }
    Ok(())
}

fn self_test(sanitized: &Sanitized<'_>) -> Result<()> {
    let dir = sanitized.target_dir();
    fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
    let (source, program) = (dir.join("leaking.rs"), dir.join("leaking"));
    fs::write(&source, LEAKING).with_context(|| format!("writing {}", source.display()))?;
    sanitized.rustc(&source, &program).stream()?;
    must_report(&sanitized.program(&program), "LeakSanitizer: detected memory leaks")?;
    eprintln!("leaks: a planted leak was found");
    Ok(())
}

/// Names of the example programs of one package.
fn examples(session: &Session, package: &str) -> Result<Vec<String>> {
    let workspace = &session.workspace;
    let member = workspace.members.iter().find(|member| member.name == package);
    let member = member.with_context(|| format!("{package} is not a member of the workspace"))?;
    let dir = workspace.root.join(&member.dir).join("examples");
    let files = rust_files(&dir)?.into_iter().filter(|file| file.parent() == Some(dir.as_path()));
    Ok(files.filter_map(|file| Some(Path::new(&file).file_stem()?.to_str()?.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_found_by_their_files() {
        let session = Session::rust_only().unwrap();
        for package in PACKAGES {
            assert!(!examples(&session, package).unwrap().is_empty(), "{package}");
        }
        assert!(examples(&session, "no-such-package").is_err());
    }
}
