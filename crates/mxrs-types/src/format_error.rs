//! Errors of malformed files.

use std::fmt;

/// The category of a problem with a malformed file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatErrorKind {
    /// The input ends inside a field, or a length exceeds the rest of the input.
    Truncated {
        /// Bytes that the field needs.
        need: u64,
        /// Bytes left in the input.
        have: u64,
    },
    /// The file does not begin with the magic number of a known format.
    BadMagic {
        /// The first word of the file.
        found: u64,
    },
    /// The format is known, but not this version of it.
    UnsupportedVersion,
    /// The format is known, but this variant of it is not supported.
    UnsupportedFeature,
    /// A size is too large.
    Overflow,
    /// A limit of the reader was exceeded.
    LimitExceeded {
        /// Value found.
        value: u64,
        /// Largest accepted value.
        max: u64,
    },
    /// A field has an impossible value.
    InvalidValue,
    /// Two fields contradict each other.
    Inconsistent,
    /// A name occurs twice.
    Duplicate,
    /// Bytes follow after the end of the data.
    TrailingData {
        /// The number of bytes.
        bytes: u64,
    },
    /// A text does not have the expected syntax (JSON, `.idx`, `.lst`).
    Syntax,
    /// No operator of this name is known.
    UnknownOperator,
    /// The operator has no attribute of this name.
    BadAttribute,
}

impl fmt::Display for FormatErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { need, have } => write!(f, "truncated (needs {need} bytes, {have} left)"),
            Self::BadMagic { found } => write!(f, "not this format (starts with {found:#x})"),
            Self::UnsupportedVersion => f.write_str("unsupported version"),
            Self::UnsupportedFeature => f.write_str("unsupported feature"),
            Self::Overflow => f.write_str("size overflow"),
            Self::LimitExceeded { value, max } => write!(f, "limit exceeded ({value} > {max})"),
            Self::InvalidValue => f.write_str("invalid value"),
            Self::Inconsistent => f.write_str("inconsistent"),
            Self::Duplicate => f.write_str("duplicate"),
            Self::TrailingData { bytes } => write!(f, "{bytes} bytes after the end"),
            Self::Syntax => f.write_str("syntax error"),
            Self::UnknownOperator => f.write_str("unknown operator"),
            Self::BadAttribute => f.write_str("bad attribute"),
        }
    }
}
