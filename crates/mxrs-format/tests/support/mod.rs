//! Paths of test files, and the category of an error.
#![allow(dead_code)] // each test binary uses only some of these functions

use mxrs_types::{Error, ErrorKind, FormatErrorKind};
use std::path::PathBuf;

/// Path of a file of the digits data set.
pub fn data(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../data/digits", name].iter().collect()
}

/// Path of a fixture that all crates share.
pub fn fixture(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../tests/fixtures", name].iter().collect()
}

/// Path of a test file of this crate, written by `golden/generate.py`.
pub fn golden(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/golden", name].iter().collect()
}

/// The category of a format error.
#[track_caller]
pub fn kind(error: &Error) -> &FormatErrorKind {
    match error.kind() {
        ErrorKind::Format { kind, .. } => kind,
        other => panic!("no format error: {other:?}"),
    }
}
