//! The files of a case: symbol and parameters as MXNet has them, and the same as ONNX.

use super::Case;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seed of the random weights: the same in every run.
const SEED: &str = "0";

/// The files of one network at one batch size; gone when dropped.
pub struct Files {
    folder: tempfile::TempDir,
    network: String,
}

impl Files {
    /// Lets the program `mxrs` write them into a new folder below `below`.
    ///
    /// # Errors
    /// It fails; what it complained of.
    pub fn export(mxrs: &Path, network: &str, batch: usize, below: &Path) -> Result<Self> {
        let folder = tempfile::tempdir_in(below).with_context(|| format!("a folder in {}", below.display()))?;
        let files = Self { folder, network: network.to_owned() };
        let mut command = Command::new(mxrs);
        command.args(["convert", "onnx", "export", "--network", network, "--batch-size", &batch.to_string()]);
        command.args(["--no-check", "--seed", SEED, "--save-params"]).arg(files.prefix()).arg(files.onnx());
        let output = command.output().with_context(|| format!("starting {}", mxrs.display()))?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        let last = complaint.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        ensure!(output.status.success(), "exporting {network} ended with {}: {last}", output.status);
        for path in [files.symbol(), files.params(), files.onnx()] {
            ensure!(path.is_file(), "exporting {network} wrote no {}", path.display());
        }
        Ok(files)
    }

    /// What a peer is told.
    ///
    /// # Errors
    /// As [`Case::shape`].
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

    /// A file of this name beside them.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
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
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(folder: &Path, text: &str) -> PathBuf {
        let path = folder.join("exporter");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn what_the_exporter_complains_of_is_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let failing = program(folder.path(), "#!/bin/sh\necho 'no such network' >&2\nexit 2\n");
        let error = Files::export(&failing, "alexnet", 1, folder.path()).err().unwrap().to_string();
        assert!(error.ends_with("exit status: 2: no such network"), "{error}");
        let lazy = program(folder.path(), "#!/bin/sh\n");
        let error = Files::export(&lazy, "alexnet", 1, folder.path()).err().unwrap().to_string();
        assert!(error.contains("wrote no ") && error.ends_with("alexnet-symbol.json"), "{error}");
        assert!(Files::export(Path::new("/no/such"), "alexnet", 1, folder.path()).is_err());
    }
}
