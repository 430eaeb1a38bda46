//! The functions that find oneDNN, for builds that load it while the program runs.

use super::{Version, usual_files};
use crate::sys::Table;
use mxrs_types::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

struct Loaded {
    path: PathBuf,
    table: Table,
}

/// The loaded library. It is set once, after the check that the library is oneDNN 3.
static LOADED: OnceLock<Loaded> = OnceLock::new();
/// Locked while a thread loads the library, so that two threads do not load two files.
static LOADING: Mutex<()> = Mutex::new(());

pub(crate) fn table() -> Option<&'static Table> {
    LOADED.get().map(|loaded| &loaded.table)
}

pub(super) fn open(path: Option<&Path>) -> Result<Version> {
    let files = path.map_or_else(|| usual_files(None), |path| vec![path.to_owned()]);
    open_first(&files, |loaded| files.contains(loaded))
}

pub(super) fn find(conda: Option<&Path>) -> Result<Version> {
    open_first(&usual_files(conda), |_| true)
}

/// Loads the first of these files that is oneDNN 3. If a file is loaded already, only checks that it is `accepted`.
fn open_first(files: &[PathBuf], accepted: impl Fn(&PathBuf) -> bool) -> Result<Version> {
    let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = LOADED.get() {
        if accepted(&loaded.path) {
            return Version::query();
        }
        let expected = format!("{}, which is loaded already and stays so", loaded.path.display());
        let got = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ");
        return Err(Error::invalid("path of the oneDNN library", got, expected));
    }
    let mut reasons = Vec::new();
    for file in files {
        match load(file) {
            Ok((loaded, version)) => {
                tracing::debug!(target: "mxrs_onednn_sys", path = %file.display(), %version, "loaded oneDNN");
                LOADED.get_or_init(|| loaded);
                return Ok(version);
            }
            Err(reason) => reasons.push(reason),
        }
    }
    let message = format!(
        "cannot load oneDNN 3; install it (conda-forge has it as onednn, Debian as libdnnl3, PyPI as onednn-cpu-gomp), name \
         its file, or build with feature `static`; tried: {}",
        reasons.join("; ")
    );
    Err(Error::new(ErrorKind::Backend { backend: crate::BACKEND, message }))
}

/// Loads a file. The error is the reason why it is not used; it names the file.
fn load(path: &Path) -> std::result::Result<(Loaded, Version), String> {
    let named = |reason: String| {
        let path = path.display().to_string();
        if reason.contains(&path) { reason } else { format!("{path}: {reason}") }
    };
    // SAFETY: the initializers of oneDNN only set up oneDNN's own globals. For other files, the documentation of `open`
    // demands that the caller trusts the file.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| named(error.to_string()))?;
    // The library is never unloaded, because the function table and all oneDNN objects point into the library.
    let library = Box::leak(Box::new(library));
    // SAFETY: symbols that start with `dnnl_` belong to oneDNN. The version is checked before any function but
    // `dnnl_version` is called. The library is leaked, so it is never closed.
    let table = unsafe { Table::of(library) };
    let version = Version::from_table(&table).map_err(|error| named(error.to_string()))?;
    Ok((Loaded { path: path.to_owned(), table }, version))
}
