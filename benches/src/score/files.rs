//! The files of a case: symbol and parameters in MXNet's formats, and the same network as ONNX.

use super::peers::Peer;
use super::process::finish;
use super::{Case, Failure};
use anyhow::{Context, Result, anyhow, ensure};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Seed of the random weights, which are the same in every run.
const SEED: &str = "0";

/// The files of one network at one batch size; deleted when dropped.
pub struct Files {
    folder: tempfile::TempDir,
    network: String,
    /// For each peer that has made files of its own from these files: the result of the attempt.
    made: RefCell<Vec<(Peer, Result<(), Failure>)>>,
}

impl Files {
    /// Lets the program `mxrs` write the files into a new folder below `below`, within the time `limit`.
    ///
    /// # Errors
    /// Fails if the program fails, takes too long or does not write all files; the error holds the end of its stderr.
    pub fn export(mxrs: &Path, network: &str, batch: usize, below: &Path, limit: Duration) -> Result<Self> {
        let folder = tempfile::tempdir_in(below).with_context(|| format!("a folder in {}", below.display()))?;
        let files = Self { folder, network: network.to_owned(), made: RefCell::default() };
        let mut command = Command::new(mxrs);
        command.args(["convert", "onnx", "export", "--network", network, "--batch-size", &batch.to_string()]);
        command.args(["--no-check", "--seed", SEED, "--save-params"]).arg(files.prefix()).arg(files.onnx());
        finish(command, &format!("exporting {network}"), limit).map_err(|failure| anyhow!(failure.why))?;
        for path in [files.symbol(), files.params(), files.onnx()] {
            ensure!(path.is_file(), "exporting {network} wrote no {}", path.display());
        }
        Ok(files)
    }

    /// The order that makes a peer load these files.
    ///
    /// # Errors
    /// Fails if [`Case::shape`] does.
    pub fn load(&self, case: &Case) -> Result<super::serve::Load> {
        Ok(super::serve::Load {
            network: case.network.clone(),
            symbol: self.symbol(),
            params: self.params(),
            onnx: self.onnx(),
            shape: case.shape()?,
            dtype: case.dtype.word().to_owned(),
            threads: case.threads,
            mode: case.mode.word().to_owned(),
        })
    }

    /// The path of a file of this name in the same folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Calls `make` once for each peer; later calls return the result of the first.
    ///
    /// # Errors
    /// Returns the error of `make`.
    pub fn once(&self, peer: Peer, make: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        let known = self.made.borrow().iter().find(|(who, _)| *who == peer).map(|(_, made)| made.clone());
        known.unwrap_or_else(|| {
            let made = make();
            self.made.borrow_mut().push((peer, made.clone()));
            made
        })
    }

    fn prefix(&self) -> PathBuf {
        self.beside(&self.network)
    }

    fn symbol(&self) -> PathBuf {
        self.beside(&format!("{}-symbol.json", self.network))
    }

    fn params(&self) -> PathBuf {
        self.beside(&format!("{}-0000.params", self.network))
    }

    fn onnx(&self) -> PathBuf {
        self.beside(&format!("{}.onnx", self.network))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::score::scripts::script;

    /// A time limit that no program in these tests reaches.
    pub const LONG: Duration = Duration::from_secs(60);

    /// Empty files of a network, made by a script that only pretends to export.
    pub fn empty(network: &str, batch: usize, folder: &Path) -> Files {
        let exporting = script(folder, "exporter", "touch ${12}-symbol.json ${12}-0000.params ${13}");
        Files::export(&exporting, network, batch, folder, LONG).unwrap()
    }

    #[test]
    fn what_the_exporter_complains_of_is_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let failure = |exporter: &Path, limit: Duration| {
            Files::export(exporter, "alexnet", 1, folder.path(), limit).err().unwrap().to_string()
        };
        let error = failure(&script(folder.path(), "failing", "echo 'no such network' >&2\nexit 2"), LONG);
        assert!(error.ends_with("exit status: 2: no such network"), "{error}");
        let error = failure(&script(folder.path(), "lazy", ""), LONG);
        assert!(error.contains("wrote no ") && error.ends_with("alexnet-symbol.json"), "{error}");
        let error = failure(&script(folder.path(), "hanging", "exec sleep 100"), Duration::from_millis(50));
        assert!(error.starts_with("exporting alexnet did not end within 0.05 s"), "{error}");
        assert!(failure(Path::new("/no/such"), LONG).contains("/no/such"));
    }

    #[test]
    fn what_a_peer_makes_it_makes_once() {
        let folder = tempfile::tempdir().unwrap();
        let files = empty("alexnet", 1, folder.path());
        let failure = Failure::new("failed", "why");
        assert_eq!(files.once(Peer::Openvino, || Err(failure.clone())), Err(failure.clone()));
        assert_eq!(files.once(Peer::Openvino, || Ok(())), Err(failure));
        assert_eq!(files.once(Peer::Mxrs, || Ok(())), Ok(()));
    }
}
