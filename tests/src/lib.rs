//! Code shared by the end-to-end tests: paths of the committed files, and random values for the parameters of networks.
//!
//! The tests themselves are in `tests/`; tests of the command line are in `crates/mxrs-cli/tests`. This crate depends on no
//! operator or network, only on names of files and endings of parameters' names.
//!
//! ```
//! assert!(mxrs_tests::digits("lenet-symbol.json").is_file());
//! ```
//!
//! Read next: `tests/digits.rs`, and `src/bin/gen_docs.rs` for the tables in `docs/`.

use mxrs::models::{FactorKind, Initializer, RandomKind};
use mxrs::types::{Result, Shape};
use std::path::PathBuf;

/// Path of a file of the digits data set or of one of its checkpoints.
pub fn digits(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../data/digits")).join(name)
}

/// Path of a file that MXNet or NumPy wrote for the tests.
pub fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures")).join(name)
}

/// Random values of a parameter. Weights keep the size of activations (He initialization); other parameters differ from the
/// value that would have no effect. This makes outputs differ from class to class. If all classes had the same output, a
/// comparison would show nothing.
///
/// # Errors
/// Fails if a weight has fewer than two axes.
pub fn parameter(name: &str, shape: &Shape, seed: u64) -> Result<Vec<f32>> {
    let he = Initializer::Xavier { rnd_type: RandomKind::Gaussian, factor_type: FactorKind::In, magnitude: 2.0 };
    let mut values =
        if name.ends_with("_weight") { he.values(name, None, shape, seed)? } else { uniform(name, shape, 0.2, seed)? };
    // The branches of residual networks add up; 50 unscaled branches would saturate the softmax.
    if name.ends_with("_conv3_weight") {
        values.iter_mut().for_each(|v| *v *= 0.2);
    }
    if name.ends_with("_gamma") || name.ends_with("_var") {
        values.iter_mut().for_each(|v| *v += 1.0);
    }
    Ok(values)
}

/// Random numbers from `-scale` to `scale`, also for names that initializers treat specially.
///
/// # Errors
/// Does not fail for a finite scale.
pub fn uniform(name: &str, shape: &Shape, scale: f32, seed: u64) -> Result<Vec<f32>> {
    Initializer::Zero.values(name, Some(&format!("[\"uniform\", {{\"scale\": {scale}}}]")), shape, seed)
}

/// Runs the Rust examples of the guide as doc tests.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../docs/guide/src/classify.md")]
    struct Classify;
    #[doc = include_str!("../../docs/guide/src/train.md")]
    struct Train;
    #[doc = include_str!("../../docs/guide/src/extend.md")]
    struct Extend;
    #[doc = include_str!("../../docs/guide/src/profile.md")]
    struct Profile;
    #[doc = include_str!("../../docs/guide/src/crates.md")]
    struct Crates;
}
