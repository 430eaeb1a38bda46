//! MXNet 1.9.1 in a separate Python process.

use super::subject::Subject;
use super::{Case, Footprint, answer};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SCRIPT: &str = include_str!("mxnet.py");
const ASK: &str = "import mxnet; print(mxnet.__version__)";

/// A Python that has MXNet.
pub struct Peer {
    python: PathBuf,
    /// MXNet's version.
    pub version: String,
}

impl Peer {
    /// Checks that this Python has MXNet.
    ///
    /// # Errors
    /// Fails if MXNet is not installed or cannot be imported; the error holds the end of Python's stderr.
    pub fn find(python: &Path) -> Result<Self> {
        let output = Command::new(python).args(["-c", ASK]).stderr(Stdio::piped()).output();
        let output = output.with_context(|| format!("starting {}", python.display()))?;
        let version = answer(&output, &python.display().to_string())?.trim().to_owned();
        ensure!(!version.is_empty(), "{} has an MXNet without version", python.display());
        Ok(Self { python: python.to_owned(), version })
    }

    /// Runs a case in MXNet. The symbol file is written to `folder`.
    ///
    /// # Errors
    /// Fails if the script fails; the error holds the end of its stderr.
    pub fn footprint(&self, case: &Case, n_steps: usize, folder: &Path) -> Result<Footprint> {
        let subject = Subject::new(&case.network)?;
        let path = folder.join(format!("{}-symbol.json", case.network));
        subject.save(&path)?;
        let shape: Vec<String> = subject.shape(case.batch).iter().map(usize::to_string).collect();
        let mut command = Command::new(&self.python);
        command.args(["-c", SCRIPT]).arg(&path).args([&shape.join(","), case.mode.word()]);
        command.args([n_steps.to_string(), subject.n_classes.to_string()]);
        let output = command.output().with_context(|| format!("starting {}", self.python.display()))?;
        Footprint::from_text(&answer(&output, &format!("MXNet on {case}"))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_that_is_not_there_is_named() {
        let error = Peer::find(Path::new("no-such-python")).err().unwrap();
        assert!(format!("{error:#}").contains("no-such-python"), "{error:#}");
    }
}
