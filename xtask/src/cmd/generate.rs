//! `cargo xtask gen [--check]`: writes the tables of docs/ that are generated from the code.
//!
//! This module only runs the program `gen_docs` of the package `mxrs-tests`, which writes the tables into a folder. The
//! content comes from the crates.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::session::{Kernels, Session};
use crate::workspace::read_text;

/// The program that writes the tables.
const PROGRAM: &str = "gen_docs";
/// A test of the package that contains the program. When cargo builds the test, it builds the program too.
const TEST: &str = "runtime";

/// Arguments of `gen`.
#[derive(clap::Args)]
pub struct Args {
    /// Write nothing; fail if a committed table is out of date
    #[arg(long)]
    check: bool,
}

/// Runs the command.
///
/// # Errors
/// Fails if the generator does not build or run, or with `--check` if a table is out of date.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    if args.check { check(&session) } else { write(&session) }
}

/// Checks that the committed tables are what the generator writes.
///
/// # Errors
/// Fails if the generator does not build or run, or if a table is out of date.
pub fn check(session: &Session) -> Result<()> {
    let fresh = generate(session)?;
    let stale = stale(&fresh, &session.workspace.root.join("docs"))?;
    if !stale.is_empty() {
        bail!("stale: {}; run `cargo xtask gen` and commit the result", stale.join(", "));
    }
    Ok(())
}

/// Writes the tables that are out of date.
///
/// # Errors
/// Fails if the generator does not build or run, or if a file cannot be written.
pub fn write(session: &Session) -> Result<()> {
    let fresh = generate(session)?;
    let docs = session.workspace.root.join("docs");
    let stale = stale(&fresh, &docs)?;
    for name in &stale {
        std::fs::copy(fresh.join(name), docs.join(name)).with_context(|| format!("writing docs/{name}"))?;
        println!("docs/{name}: written");
    }
    if stale.is_empty() {
        println!("all generated tables were fresh");
    }
    Ok(())
}

/// Builds and runs the generator; returns the folder it wrote into.
fn generate(session: &Session) -> Result<PathBuf> {
    // The tables do not depend on the kernels, so the build without oneDNN is used, which the tests have already made.
    // `cargo build` would compile most crates again, because it leaves out the features that only tests switch on. So a test
    // of the program's package is built instead, and cargo builds the programs of a package together with its tests.
    let flags = Kernels::Own.workspace_flags();
    session.cargo("test").args(flags).args(["--no-run", "--test", TEST]).stream()?;
    let fresh = session.target_dir().join("xtask").join("docs");
    if fresh.exists() {
        std::fs::remove_dir_all(&fresh).with_context(|| format!("clearing {}", fresh.display()))?;
    }
    std::fs::create_dir_all(&fresh).with_context(|| format!("making {}", fresh.display()))?;
    session.program(session.target_dir().join("debug").join(PROGRAM)).arg(&fresh).stream()?;
    Ok(fresh)
}

/// Names of the files in `fresh` that are missing in `docs` or differ from the file there.
fn stale(fresh: &Path, docs: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut n_files = 0;
    for entry in std::fs::read_dir(fresh).with_context(|| format!("listing {}", fresh.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        n_files += 1;
        let committed = docs.join(&name);
        if !committed.is_file() || read_text(&committed)? != read_text(&fresh.join(&name))? {
            names.push(name);
        }
    }
    if n_files == 0 {
        bail!("`{PROGRAM}` wrote no table into {}", fresh.display());
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_and_a_missing_table_are_stale() {
        let dir = tempfile::tempdir().unwrap();
        let (fresh, docs) = (dir.path().join("fresh"), dir.path().join("docs"));
        for folder in [&fresh, &docs] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("env.md"), "same\n").unwrap();
        }
        assert_eq!(stale(&fresh, &docs).unwrap(), [""; 0]);
        std::fs::write(fresh.join("ops.md"), "relu\n").unwrap();
        assert_eq!(stale(&fresh, &docs).unwrap(), ["ops.md"]);
        std::fs::write(docs.join("ops.md"), "relu, tanh\n").unwrap();
        assert_eq!(stale(&fresh, &docs).unwrap(), ["ops.md"]);
    }

    #[test]
    fn a_generator_that_writes_nothing_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(stale(dir.path(), dir.path()).unwrap_err().to_string().contains("wrote no table"));
    }
}
