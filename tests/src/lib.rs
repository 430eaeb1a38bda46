//! What end-to-end tests share: where the committed files are, and what networks are filled with.
//!
//! The tests themselves are in `tests/`; those of the command line live with it, in `crates/mxrs-cli/tests`. Knows no
//! operator and no network, beyond the names of files and the endings of parameters' names.
//!
//! ```
//! assert!(mxrs_tests::digits("lenet-symbol.json").is_file());
//! ```
//!
//! Read next: `tests/digits.rs`, and `src/bin/gen_docs.rs` for the tables in `docs/`.

use mxrs::models::{FactorKind, Initializer, RandomKind};
use mxrs::types::{Result, Shape};
use std::path::PathBuf;

/// A file of the digits data set and its checkpoints.
pub fn digits(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../data/digits")).join(name)
}

/// A file that MXNet or NumPy wrote for the tests.
pub fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures")).join(name)
}

/// Random weights that keep activations at their size (He), and every other parameter away from the value that does nothing:
/// outputs must differ from class to class, or a comparison would show nothing.
///
/// # Errors
/// A weight of fewer than two axes.
pub fn parameter(name: &str, shape: &Shape, seed: u64) -> Result<Vec<f32>> {
    let he = Initializer::Xavier { rnd_type: RandomKind::Gaussian, factor_type: FactorKind::In, magnitude: 2.0 };
    let mut values =
        if name.ends_with("_weight") { he.values(name, None, shape, seed)? } else { uniform(name, shape, 0.2, seed)? };
    // The branches of residual networks add up: at full strength 50 of them would saturate the softmax.
    if name.ends_with("_conv3_weight") {
        values.iter_mut().for_each(|v| *v *= 0.2);
    }
    if name.ends_with("_gamma") || name.ends_with("_var") {
        values.iter_mut().for_each(|v| *v += 1.0);
    }
    Ok(values)
}

/// Random numbers from `-scale` to `scale`, whatever the name says.
///
/// # Errors
/// None for a finite scale.
pub fn uniform(name: &str, shape: &Shape, scale: f32, seed: u64) -> Result<Vec<f32>> {
    Initializer::Zero.values(name, Some(&format!("[\"uniform\", {{\"scale\": {scale}}}]")), shape, seed)
}

/// The Rust examples of the guide, which run as doc tests.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../docs/guide/src/classify.md")]
    struct Classify;
    #[doc = include_str!("../../docs/guide/src/train.md")]
    struct Train;
    #[doc = include_str!("../../docs/guide/src/extend.md")]
    struct Extend;
    #[doc = include_str!("../../docs/guide/src/crates.md")]
    struct Crates;
}
