//! The functions that find oneDNN, for builds without oneDNN: all functions return an error.

use super::Version;
use crate::sys::Table;
use mxrs_types::{Error, Result};
use std::path::Path;

pub(crate) fn table() -> Option<&'static Table> {
    None
}

pub(super) fn open(_: Option<&Path>) -> Result<Version> {
    find(None)
}

pub(super) fn find(_: Option<&Path>) -> Result<Version> {
    Err(Error::not_built("oneDNN", "built without it; turn on feature `static` or `dynamic` of mxrs-onednn-sys"))
}
