//! Collects what tests leave out because the machine lacks something, for the end of a run. The output of a test that passes is
//! not shown, so tests append such lines to a file in the target folder (`mxrs_testkit::skipped`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use anyhow::{Context, Result};

/// The variable that names the file.
pub const VARIABLE: &str = "MXRS_SKIPPED_FILE";

/// What tests have left out, each once.
#[derive(Debug, Default)]
pub struct Skips(BTreeSet<String>);

/// The file to which tests append lines.
pub fn file(target_dir: &Path) -> PathBuf {
    target_dir.join("skipped-by-tests.txt")
}

impl Skips {
    /// Removes the lines of earlier runs.
    ///
    /// # Errors
    /// Fails if the file cannot be removed.
    pub fn clear(target_dir: &Path) -> Result<()> {
        let file = file(target_dir);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("removing {}", file.display()))
            }
            _ => Ok(()),
        }
    }

    /// Reads the lines. There are none if there is no file.
    pub fn read(target_dir: &Path) -> Self {
        let bytes = fs::read(file(target_dir)).unwrap_or_default();
        Skips(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
    }
}

impl fmt::Display for Skips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(f, "skipped by a test: {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_shown_once_and_not_in_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        Skips::clear(folder.path()).unwrap();
        assert_eq!(Skips::read(folder.path()).to_string(), "");
        fs::write(file(folder.path()), "b: no MPI\na: not root\nb: no MPI\n").unwrap();
        let text = "skipped by a test: a: not root\nskipped by a test: b: no MPI\n";
        assert_eq!(Skips::read(folder.path()).to_string(), text);
        Skips::clear(folder.path()).unwrap();
        assert_eq!(Skips::read(folder.path()).to_string(), "");
    }
}
