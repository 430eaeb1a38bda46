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
use std::path::Path;

#[cfg(not(feature = "static"))]
pub(crate) use source::table;
pub use version::{CpuRuntime, Version};

/// The file that feature `dynamic` loads if no other file is named; the system's loader searches for it.
pub const DEFAULT_LIBRARY: &str = "libdnnl.so.3";

/// Opens the library and returns its version.
///
/// With feature `static` there is nothing to load, and `path` must be `None`. With `dynamic` the first successful call loads
/// `path`, or [`DEFAULT_LIBRARY`], for the rest of the process. Until then, calls of functions in [`crate::sys`] find no
/// library. Loading runs the initializers of that file, so name only files that you trust.
///
/// # Errors
/// `NotBuilt` if neither feature is on. `Backend` if the file cannot be loaded or is not oneDNN 3. `InvalidValue` if `path`
/// is given although the library is linked, or if a library was already loaded from another file.
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
/// `NotBuilt` if neither feature is on. `Backend` if the file cannot be loaded or is not oneDNN 3.
pub fn version() -> Result<Version> {
    source::version()
}

/// Whether oneDNN can be used. If not, [`version`] returns the reason.
pub fn is_available() -> bool {
    version().is_ok()
}
