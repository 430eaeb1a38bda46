//! The functions that find oneDNN, for builds that link it into the program.

use super::Version;
use mxrs_types::{Error, Result};
use std::path::Path;

pub(super) fn open(path: Option<&Path>) -> Result<Version> {
    match path {
        None => find(None),
        Some(path) => Err(Error::invalid(
            "path of the oneDNN library",
            path.display(),
            "none: oneDNN is linked into this program; build with feature `dynamic` and without `static` to load a file",
        )),
    }
}

pub(super) fn find(_: Option<&Path>) -> Result<Version> {
    Version::query()
}
