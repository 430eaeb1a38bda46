//! Compression of gradients to one or two bits per element. What a code does not express is the *residual*, which is added
//! to the next gradient.

mod codes;

use crate::{Key, StoreType};
use mxrs_types::{DType, Error, Result};
use std::str::FromStr;

/// How gradients are compressed. Only float32 gradients can be compressed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compression {
    /// One bit per element, which means 1 or -1.
    OneBit {
        /// An element plus its residual is sent as 1 if it is larger than this number.
        threshold: f32,
    },
    /// Two bits per element, which mean `threshold`, 0 or `-threshold`.
    TwoBit {
        /// The value that is sent; a positive number.
        threshold: f32,
    },
}

/// Checks that a store may start to compress: its type supports compression, no compression is `set` yet, and no key was
/// initialized. Error messages name `example` as a store that supports compression.
///
/// # Errors
/// Fails if one of these does not hold, and says which.
pub(crate) fn check(
    store_type: &StoreType,
    example: &str,
    compression: Compression,
    set: Option<Compression>,
    first_key: Option<&Key>,
) -> Result<()> {
    let refused = |got: String, expected: &str| Err(Error::invalid("compression of gradients", got, expected));
    if !store_type.can_compress() {
        return refused(format!("the store `{store_type}`"), &format!("a store that compresses, such as `{example}`"));
    }
    match (set, first_key) {
        (Some(set), _) => refused(format!("{} after {}", compression.kind(), set.kind()), "to be set once"),
        (_, Some(key)) => refused(format!("a call after `init` of key {key}"), "a call before `init`"),
        _ => Ok(()),
    }
}

/// The threshold of MXNet if none is given.
pub const DEFAULT_THRESHOLD: f64 = 0.5;

impl Compression {
    /// Makes a compression from MXNet's words: `kind` is `1bit` or `2bit`.
    ///
    /// ```
    /// use mxrs_kvstore::Compression;
    ///
    /// assert_eq!(Compression::new("2bit", 0.25)?, Compression::TwoBit { threshold: 0.25 });
    /// assert_eq!(Compression::new("2bit", 0.25)?.code_bytes(33), 12);
    /// # Ok::<(), mxrs_types::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails for another kind, for a threshold that is not a number, and for two bits also if it is not positive.
    pub fn new(kind: &str, threshold: f64) -> Result<Self> {
        let single = threshold as f32;
        let refused = |expected: &str| Err(Error::invalid("threshold of gradient compression", threshold, expected));
        match kind {
            "1bit" if single.is_finite() => Ok(Self::OneBit { threshold: single }),
            "1bit" => refused("a number"),
            "2bit" if single.is_finite() && single > 0.0 => Ok(Self::TwoBit { threshold: single }),
            "2bit" => refused("a positive number"),
            _ => Err(Error::invalid("type of gradient compression", format!("`{kind}`"), "`1bit` or `2bit`")),
        }
    }

    /// MXNet's word for this kind.
    pub fn kind(self) -> &'static str {
        match self {
            Self::OneBit { .. } => "1bit",
            Self::TwoBit { .. } => "2bit",
        }
    }

    /// The threshold.
    pub fn threshold(self) -> f32 {
        match self {
            Self::OneBit { threshold } | Self::TwoBit { threshold } => threshold,
        }
    }

    /// Number of elements in one byte of code.
    pub(crate) fn per_byte(self) -> usize {
        match self {
            Self::OneBit { .. } => 8,
            Self::TwoBit { .. } => 4,
        }
    }

    /// Number of bytes of the code of `n_elements` elements, a multiple of 4.
    pub fn code_bytes(self, n_elements: usize) -> usize {
        n_elements.div_ceil(4 * self.per_byte()) * 4
    }

    /// Checks the settings and that values of this type can be compressed.
    pub(crate) fn check_dtype(self, dtype: DType) -> Result<()> {
        if dtype == DType::F32 {
            return Ok(());
        }
        Err(Error::invalid("type of values to compress", dtype, DType::F32.name()))
    }
}

impl FromStr for Compression {
    type Err = Error;

    /// Reads `1bit` or `2bit`, with the default threshold.
    ///
    /// # Errors
    /// Fails for any other word.
    fn from_str(kind: &str) -> Result<Self> {
        Self::new(kind, DEFAULT_THRESHOLD)
    }
}

#[cfg(test)]
mod tests;
