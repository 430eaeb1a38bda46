//! The values of one read of an [`EnvSource`], and values given through the API.

use crate::EnvSource;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The variables as they were at one moment. Later changes of the environment do not change it.
///
/// A variable set to the empty string counts as unset and is not kept.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    vars: BTreeMap<OsString, OsString>,
    api: BTreeMap<String, String>,
}

impl Snapshot {
    /// Reads `source` once.
    pub fn take(source: &dyn EnvSource) -> Self {
        let mut vars: BTreeMap<_, _> = source.vars().into_iter().collect();
        vars.retain(|_, value| !value.is_empty());
        Self { vars, api: BTreeMap::new() }
    }

    /// Adds a value given by an explicit API argument. It is checked like a variable and takes precedence over all
    /// variables.
    ///
    /// `name` is a canonical name such as `MXNET_CPU_WORKER_NTHREADS`. An empty `value` changes nothing.
    #[must_use]
    pub fn with_api(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let value = value.into();
        if !value.is_empty() {
            self.api.insert(name.into(), value);
        }
        self
    }

    pub(crate) fn var(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    pub(crate) fn api(&self, name: &str) -> Option<&str> {
        self.api.get(name).map(String::as_str)
    }

    /// Names of the variables that are set, sorted. Bytes that are not UTF-8 are replaced.
    pub(crate) fn var_names(&self) -> Vec<String> {
        self.vars.keys().map(|name| name.to_string_lossy().into_owned()).collect()
    }

    /// Names given through the API, sorted.
    pub(crate) fn api_names(&self) -> impl Iterator<Item = &str> {
        self.api.keys().map(String::as_str)
    }

    /// The folder for data if `MXNET_HOME` is unset: `$HOME/.mxnet`, on Windows `%APPDATA%\mxnet`. `None` if `HOME` or
    /// `APPDATA` is not set.
    pub(crate) fn data_folder(&self) -> Option<PathBuf> {
        let (name, folder) = if cfg!(windows) { ("APPDATA", "mxnet") } else { ("HOME", ".mxnet") };
        self.var(name).map(|home| PathBuf::from(home).join(folder))
    }

    /// The folder of the active conda environment.
    pub(crate) fn conda_folder(&self) -> Option<PathBuf> {
        self.var("CONDA_PREFIX").map(PathBuf::from).filter(|folder| folder.is_absolute())
    }

    /// The user's cache folder, for files that can be made again: `$XDG_CACHE_HOME`, `$HOME/.cache`, on macOS
    /// `$HOME/Library/Caches`, on Windows `%LOCALAPPDATA%`. `None` if the variable that names the folder is not set.
    pub(crate) fn cache_folder(&self) -> Option<PathBuf> {
        let named = self.var("XDG_CACHE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
        let (name, folder) = match std::env::consts::OS {
            "windows" => ("LOCALAPPDATA", ""),
            "macos" => ("HOME", "Library/Caches"),
            _ => ("HOME", ".cache"),
        };
        named.or_else(|| self.var(name).map(|home| PathBuf::from(home).join(folder)))
    }
}
