//! What end-to-end tests share: where the committed files are.
//!
//! The tests themselves are in `tests/`; those of the command line live with it, in `crates/mxrs-cli/tests`. Knows no
//! operator and no network beyond the names of files.
//!
//! ```
//! assert!(mxrs_tests::digits("lenet-symbol.json").is_file());
//! ```
//!
//! Read next: `tests/digits.rs`, and `src/bin/gen_docs.rs` for the tables in `docs/`.

use std::path::PathBuf;

/// A file of the digits data set and its checkpoints.
pub fn digits(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../data/digits")).join(name)
}

/// A file that MXNet or NumPy wrote for the tests.
pub fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures")).join(name)
}
