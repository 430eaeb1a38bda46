//! The files of a case: symbol and parameters in MXNet's formats, and the same network as ONNX.

use super::check::Expected;
use super::peers::{Peer, Tools};
use super::process::finish;
use super::{Case, Failure, exported};
use crate::memory::subject::Subject;
use anyhow::{Context, Result, anyhow, ensure};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Seed of the random weights, which are the same in every run.
const SEED: &str = "0";

/// The files of one network at one batch size; deleted when dropped, unless they are kept.
pub struct Files {
    folder: Folder,
    network: String,
    shape: Vec<usize>,
    /// PyTorch's outputs, if PyTorch exported the network.
    expected: Option<Expected>,
    /// The reason if there are no symbol and parameter files.
    symbol_failure: Option<Failure>,
    /// The peers for which files in their own formats were made, each with the result of the attempt.
    made: RefCell<Vec<(Peer, Result<(), Failure>)>>,
}

/// Where files are.
enum Folder {
    /// In a folder that is deleted when dropped.
    Temporary(tempfile::TempDir),
    /// In a folder for later runs. A file in it is complete: it gets its name last.
    Kept(PathBuf),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Self::Temporary(folder) => folder.path(),
            Self::Kept(path) => path,
        }
    }
}

impl Files {
    /// Writes the files of a network into a new folder below `below`. Each program that writes files has the time `limit`.
    /// `n_checked` is the number of images for which PyTorch computes outputs, if it exports the network.
    ///
    /// # Errors
    /// Fails if there is no ONNX file in the end. Without symbol and parameters, the files are still those of other
    /// libraries.
    pub fn make(
        tools: Tools<'_>,
        network: &str,
        batch: usize,
        below: &Path,
        n_checked: usize,
        limit: Duration,
    ) -> Result<Self> {
        if !exported::is_one(network) {
            return Self::export(tools.mxrs, network, batch, below, limit);
        }
        let mut files = Self::none(network, exported::shape(network, batch)?, below)?;
        if let Some(keep) = &tools.places.keep {
            let folder = keep.join(format!("{}-{batch}", files.stem()));
            std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
            files.folder = Folder::Kept(folder);
        }
        files.expected = Some(exported::with_outputs(&files, n_checked, tools, limit)?);
        // mxrs imports the file in every run, because this version may import it in another way than the last.
        files.symbol_failure = exported::import(&files, &files.prefix(), tools, limit).err();
        Ok(files)
    }

    /// Lets the program `mxrs` write the files into a new folder below `below`, within the time `limit`.
    ///
    /// # Errors
    /// Fails if the program fails, takes too long or does not write all files; the error holds the end of its stderr.
    pub fn export(mxrs: &Path, network: &str, batch: usize, below: &Path, limit: Duration) -> Result<Self> {
        let files = Self::none(network, Subject::new(network)?.shape(batch).to_vec(), below)?;
        let mut command = Command::new(mxrs);
        command.args(["convert", "onnx", "export", "--network", network, "--batch-size", &batch.to_string()]);
        command.args(["--no-check", "--seed", SEED, "--save-params"]).arg(files.prefix()).arg(files.onnx());
        finish(command, &format!("exporting {network}"), limit).map_err(|failure| anyhow!(failure.why))?;
        for path in [files.symbol(), files.params(), files.onnx()] {
            ensure!(path.is_file(), "exporting {network} wrote no {}", path.display());
        }
        Ok(files)
    }

    fn none(network: &str, shape: Vec<usize>, below: &Path) -> Result<Self> {
        let folder = tempfile::tempdir_in(below).with_context(|| format!("a folder in {}", below.display()))?;
        let (folder, network, made) = (Folder::Temporary(folder), network.to_owned(), RefCell::default());
        Ok(Self { folder, network, shape, expected: None, symbol_failure: None, made })
    }

    /// The order that makes a peer load these files.
    pub fn load(&self, case: &Case) -> super::serve::Load {
        super::serve::Load {
            network: case.network.clone(),
            symbol: self.symbol(),
            params: self.params(),
            onnx: self.onnx(),
            shape: self.shape.clone(),
            dtype: case.dtype.word().to_owned(),
            threads: case.threads,
            mode: case.mode.word().to_owned(),
        }
    }

    /// Name of the network.
    pub fn network(&self) -> &str {
        &self.network
    }

    /// Shape of a batch of images.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// PyTorch's outputs, if PyTorch exported the network.
    pub fn expected(&self) -> Option<&Expected> {
        self.expected.as_ref()
    }

    /// Whether there are symbol and parameter files.
    ///
    /// # Errors
    /// Fails with the reason if there are none.
    pub fn has_symbol(&self) -> Result<(), Failure> {
        self.symbol_failure.clone().map_or(Ok(()), Err)
    }

    /// An ONNX file of the same network for batches of one image.
    ///
    /// # Errors
    /// Fails with the error of the program that writes it.
    pub fn onnx_of_one_image(&self, tools: Tools<'_>, limit: Duration) -> Result<PathBuf, Failure> {
        if self.shape.first() == Some(&1) {
            return Ok(self.onnx());
        }
        let failed = |error: anyhow::Error| Failure::new("no files", format!("{error:#}"));
        let path = self.beside("one-image.onnx");
        if self.has(&path) {
            return Ok(path);
        }
        if exported::is_one(&self.network) {
            exported::export(&self.network, 1, &path, None, tools, limit).map_err(failed)?;
        } else {
            let files = Self::export(tools.mxrs, &self.network, 1, self.folder.path(), limit).map_err(failed)?;
            std::fs::rename(files.onnx(), &path).map_err(|error| failed(error.into()))?;
        }
        Ok(path)
    }

    /// The path of a file of this name in the same folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Whether an earlier run has kept this file.
    pub fn has(&self, path: &Path) -> bool {
        matches!(self.folder, Folder::Kept(_)) && path.is_file()
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

    /// Path of the ONNX file.
    pub fn onnx(&self) -> PathBuf {
        self.beside(&format!("{}.onnx", self.stem()))
    }

    fn prefix(&self) -> PathBuf {
        self.beside(self.stem())
    }

    fn symbol(&self) -> PathBuf {
        self.beside(&format!("{}-symbol.json", self.stem()))
    }

    fn params(&self) -> PathBuf {
        self.beside(&format!("{}-0000.params", self.stem()))
    }

    fn stem(&self) -> &str {
        self.network.strip_prefix(exported::PREFIX).unwrap_or(&self.network)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::peers::Places;
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

    /// Stands in for a Python with PyTorch: writes an ONNX file, and one output of 1.0 for each image.
    const PYTORCH: &str =
        "echo $3 >> $0.log; echo onnx > $5; [ -z \"$7\" ] || printf '\\0\\0\\200\\077\\0\\0\\200\\077' > $7";

    #[test]
    fn what_pytorch_exports_has_outputs_and_a_symbol_or_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let python = script(folder.path(), "python", PYTORCH);
        let places = Places { torch_python: Some(python), ..Places::default() };
        let make = |mxrs: &Path, network: &str| {
            let tools = Tools { mxrs, places: &places, scripts: folder.path(), isa: None };
            let files = Files::make(tools, network, 2, folder.path(), 2, LONG)?;
            let one = files.onnx_of_one_image(tools, LONG).unwrap();
            assert!(one.is_file() && one != files.onnx());
            anyhow::Ok(files)
        };
        let importing = script(folder.path(), "importing", "touch $6-symbol.json $6-0000.params");
        let files = make(&importing, "torch:squeezenet").unwrap();
        assert_eq!((files.shape(), files.has_symbol()), (&[2, 3, 224, 224][..], Ok(())));
        files.expected().unwrap().judge(&[vec![1.0, 1.0]], 2).unwrap();
        assert_eq!(std::fs::metadata(files.beside("images.f32")).unwrap().len(), 4 * 2 * 3 * 224 * 224);
        let refusing = script(folder.path(), "refusing", "echo 'no operator HardSwish' >&2; exit 2");
        let failure = make(&refusing, "torch:squeezenet").unwrap().has_symbol().unwrap_err();
        assert!(failure.word == "not run" && failure.why.ends_with("no operator HardSwish"), "{failure}");
        assert!(make(&importing, "torch:alexnet").is_err());
    }

    #[test]
    fn what_is_kept_is_not_exported_again() {
        let folder = tempfile::tempdir().unwrap();
        let (python, keep) = (script(folder.path(), "python", PYTORCH), folder.path().join("kept"));
        let places = Places { torch_python: Some(python), keep: Some(keep.clone()), ..Places::default() };
        let mxrs = script(folder.path(), "importing", "touch $6-symbol.json $6-0000.params");
        let tools = Tools { mxrs: &mxrs, places: &places, scripts: folder.path(), isa: None };
        for _ in 0..2 {
            let files = Files::make(tools, "torch:squeezenet", 2, folder.path(), 2, LONG).unwrap();
            files.expected().unwrap().judge(&[vec![1.0, 1.0]], 2).unwrap();
            assert!(files.onnx_of_one_image(tools, LONG).unwrap().is_file());
        }
        // Python ran only in the first of the two rounds: once for batches of two images, and once for batches of one.
        assert_eq!(std::fs::read_to_string(folder.path().join("python.log")).unwrap(), "2\n1\n");
        assert!(keep.join("squeezenet-2/squeezenet.onnx").is_file());
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
