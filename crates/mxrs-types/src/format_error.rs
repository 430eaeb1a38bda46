//! Errors of malformed files.

use std::fmt;

/// Category of a malformed file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatErrorKind {
    /// Input ends inside a field, or a length points beyond the end.
    Truncated {
        /// Bytes needed.
        need: u64,
        /// Bytes left.
        have: u64,
    },
    /// The first word is unknown.
    BadMagic {
        /// What was found.
        found: u64,
    },
    /// Known format, unknown version.
    UnsupportedVersion,
    /// Known format, variant not supported.
    UnsupportedFeature,
    /// A size does not fit.
    Overflow,
    /// A limit of the reader was exceeded.
    LimitExceeded {
        /// Value found.
        value: u64,
        /// Largest accepted.
        max: u64,
    },
    /// A field has an impossible value.
    InvalidValue,
    /// Two fields contradict each other.
    Inconsistent,
    /// The same name twice.
    Duplicate,
    /// Bytes after the end.
    TrailingData {
        /// The number of bytes.
        bytes: u64,
    },
    /// Text that is not the expected syntax (JSON, `.idx`, `.lst`).
    Syntax,
    /// An unregistered operator.
    UnknownOperator,
    /// An attribute the operator does not have.
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
