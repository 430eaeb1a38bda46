//! Finds oneDNN. Of the three files `linked`, `loaded` and `absent`, which have the same functions, one is compiled: that
//! for the features of this build.

#[cfg(any(feature = "static", feature = "dynamic"))]
mod query;
mod version;

#[cfg_attr(feature = "static", path = "linked.rs")]
#[cfg_attr(all(feature = "dynamic", not(feature = "static")), path = "loaded.rs")]
#[cfg_attr(not(any(feature = "static", feature = "dynamic")), path = "absent.rs")]
mod source;

use mxrs_types::Result;
use std::path::{Path, PathBuf};

#[cfg(not(feature = "static"))]
pub(crate) use source::table;
pub use version::{CpuRuntime, Version};

/// The name of the file that feature `dynamic` loads if no other file is named.
pub const DEFAULT_LIBRARY: &str = "libdnnl.so.3";

/// The files that feature `dynamic` tries one after the other if no file is named: that of conda-forge's package in the conda
/// environment in the folder `conda`, the one that the system's loader finds, and that of Debian's package.
pub fn usual_files(conda: Option<&Path>) -> Vec<PathBuf> {
    let in_conda = conda.map(|folder| folder.join("lib").join(DEFAULT_LIBRARY));
    let in_debian = format!("/usr/lib/{}-linux-gnu/{DEFAULT_LIBRARY}", std::env::consts::ARCH);
    in_conda.into_iter().chain([DEFAULT_LIBRARY, &in_debian].map(PathBuf::from)).collect()
}

/// Opens the library and returns its version.
///
/// With feature `static` there is nothing to load, and `path` must be `None`. With `dynamic` the first successful call loads
/// `path`, or the first of the [`usual_files`] that can be loaded, for the rest of the process. Until then, calls of functions
/// in [`crate::sys`] find no library. Loading runs the initializers of that file, so name only files that you trust.
///
/// # Errors
/// `NotBuilt` if neither feature is on. `Backend` if no file can be loaded or is oneDNN 3; it lists the files with their
/// reasons. `InvalidValue` if `path` is given although the library is linked, or if a library was already loaded from another
/// file.
///
/// ```
/// match mxrs_onednn_sys::open(None) {
///     Ok(version) => println!("oneDNN {version}"),
///     Err(reason) => println!("no oneDNN: {reason}"),
/// }
/// ```
pub fn open(path: Option<&Path>) -> Result<Version> {
    source::open(path)
}

/// Version of the library. If no library is loaded yet, loads it as `open(None)` does; otherwise returns the version of the
/// loaded one, from whatever path.
///
/// # Errors
/// `NotBuilt` if neither feature is on. `Backend` if no file can be loaded or is oneDNN 3.
pub fn version() -> Result<Version> {
    source::find(None)
}

/// Like [`version`], but if no library is loaded yet, that of the conda environment in the folder `conda` is tried, too.
///
/// # Errors
/// As [`version`].
pub fn find(conda: Option<&Path>) -> Result<Version> {
    source::find(conda)
}

/// Whether oneDNN can be used. If not, [`version`] returns the reason.
pub fn is_available() -> bool {
    version().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_those_of_conda_of_the_loader_and_of_debian() {
        let files = usual_files(Some(Path::new("/conda/envs/x")));
        assert_eq!(files[..2], ["/conda/envs/x/lib/libdnnl.so.3", "libdnnl.so.3"].map(PathBuf::from));
        assert!(files[2].starts_with("/usr/lib") && files[2].ends_with("libdnnl.so.3"), "{files:?}");
        assert_eq!(usual_files(None), files[1..]);
    }
}
