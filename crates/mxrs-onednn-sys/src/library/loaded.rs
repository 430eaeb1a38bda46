//! The functions that find oneDNN, for builds that load it while the program runs.

use super::{DEFAULT_LIBRARY, Version};
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
    let path = path.unwrap_or(Path::new(DEFAULT_LIBRARY));
    let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    match LOADED.get() {
        None => {
            let loaded = load(path)?;
            let version = Version::from_table(&loaded.table)?;
            tracing::debug!(target: "mxrs_onednn_sys", path = %path.display(), %version, "loaded oneDNN");
            LOADED.get_or_init(|| loaded);
            Ok(version)
        }
        Some(loaded) if loaded.path == path => Version::query(),
        Some(loaded) => Err(Error::invalid(
            "path of the oneDNN library",
            path.display(),
            format!("{}, which is loaded already and stays so", loaded.path.display()),
        )),
    }
}

pub(super) fn version() -> Result<Version> {
    if LOADED.get().is_some() { Version::query() } else { open(None) }
}

fn load(path: &Path) -> Result<Loaded> {
    // SAFETY: the initializers of oneDNN only set up oneDNN's own globals. For other files, the documentation of `open`
    // demands that the caller trusts the file.
    let library = unsafe { libloading::Library::new(path) }.map_err(|e| {
        let message = format!(
            "cannot load {}: {e}; install oneDNN 3 (PyPI has it as onednn-cpu-gomp), name its file, or build with feature `static`",
            path.display()
        );
        Error::new(ErrorKind::Backend { backend: crate::BACKEND, message })
    })?;
    // The library is never unloaded, because the function table and all oneDNN objects point into the library.
    let library = Box::leak(Box::new(library));
    // SAFETY: symbols that start with `dnnl_` belong to oneDNN. `open` checks that the version is 3 before any function
    // but `dnnl_version` is called. The library is leaked, so it is never closed.
    let table = unsafe { Table::of(library) };
    Ok(Loaded { path: path.to_owned(), table })
}
