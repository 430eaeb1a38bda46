//! The one error type that crosses crate borders.

use crate::{Device, FormatErrorKind};
use std::fmt;
use std::path::PathBuf;

/// `Result` with mxrs's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something failed. One word wide; [`Error::kind`] has the fields, the chain says where it happened.
///
/// Cloning is cheap enough for a deferred error to be kept by the engine and handed to a waiter.
#[derive(Clone, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq)]
struct Inner {
    kind: ErrorKind,
    /// "while …" frames, innermost first.
    chain: Vec<String>,
}

/// What went wrong, by category.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument of an operator has the wrong shape.
    Shape {
        /// Operator.
        op: String,
        /// Argument.
        arg: String,
        /// What would have been right.
        expected: String,
        /// What came.
        got: String,
    },
    /// An argument of an operator has the wrong element type.
    DType {
        /// Operator.
        op: String,
        /// Argument.
        arg: String,
        /// What would have been right.
        expected: String,
        /// What came.
        got: String,
    },
    /// An operator attribute is missing, unknown or unreadable.
    Attribute {
        /// Operator.
        op: String,
        /// Attribute.
        name: String,
        /// What would have been right.
        expected: String,
        /// What came.
        got: String,
    },
    /// A value given by the caller is out of range.
    InvalidValue {
        /// Which value.
        what: String,
        /// What came.
        got: String,
        /// What would have been right.
        expected: String,
    },
    /// No operator of this name is known.
    UnknownOperator {
        /// The name asked for.
        name: String,
        /// Nearest known names.
        nearest: Vec<String>,
    },
    /// The operator exists in MXNet but is not built here, or not for these arguments.
    NotBuilt {
        /// Operator or feature.
        what: String,
        /// Why, and what to do.
        reason: String,
    },
    /// Shapes or types could not all be inferred.
    Unresolved {
        /// The inputs or nodes that stay unknown, by name.
        names: Vec<String>,
        /// `shape` or `dtype`.
        what: &'static str,
    },
    /// The device has no room.
    OutOfMemory {
        /// Device asked.
        device: Device,
        /// Bytes asked for.
        requested: u64,
        /// Bytes in live blocks.
        live: u64,
        /// Bytes in cached blocks.
        cached: u64,
        /// Largest free cached block.
        largest_cached: u64,
        /// What to change.
        hint: String,
    },
    /// Size arithmetic does not fit.
    Overflow {
        /// What was computed.
        what: String,
    },
    /// An environment variable has an unusable value.
    Env {
        /// Variable.
        name: String,
        /// Value found.
        value: String,
        /// Values accepted.
        expected: String,
    },
    /// A file or buffer does not have the form it should.
    Format {
        /// File, when it came from one.
        path: Option<PathBuf>,
        /// Byte offset (or line, for text) where it was noticed.
        offset: Option<u64>,
        /// Category.
        kind: FormatErrorKind,
        /// What was found and expected.
        context: String,
    },
    /// The operating system refused.
    Io {
        /// File or resource.
        path: Option<PathBuf>,
        /// Its message.
        message: String,
        /// Its category.
        kind: std::io::ErrorKind,
    },
    /// A vendor library failed.
    Backend {
        /// Backend.
        backend: &'static str,
        /// Its message.
        message: String,
    },
    /// An operator panicked; its message.
    Panicked {
        /// Operator or task.
        what: String,
        /// Panic message.
        message: String,
    },
    /// The engine was used in a way its protocol forbids.
    Engine {
        /// Which rule, and what to do.
        message: String,
    },
}

impl Error {
    /// An error of this kind with an empty chain.
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, chain: Vec::new() }))
    }

    /// Shorthand for [`ErrorKind::InvalidValue`].
    pub fn invalid(what: impl Into<String>, got: impl ToString, expected: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidValue { what: what.into(), got: got.to_string(), expected: expected.into() })
    }

    /// Shorthand for [`ErrorKind::Shape`].
    pub fn shape(
        op: impl Into<String>,
        arg: impl Into<String>,
        expected: impl Into<String>,
        got: impl ToString,
    ) -> Self {
        Self::new(ErrorKind::Shape { op: op.into(), arg: arg.into(), expected: expected.into(), got: got.to_string() })
    }

    /// Shorthand for [`ErrorKind::DType`].
    pub fn dtype(
        op: impl Into<String>,
        arg: impl Into<String>,
        expected: impl Into<String>,
        got: impl ToString,
    ) -> Self {
        Self::new(ErrorKind::DType { op: op.into(), arg: arg.into(), expected: expected.into(), got: got.to_string() })
    }

    /// Shorthand for [`ErrorKind::NotBuilt`].
    pub fn not_built(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotBuilt { what: what.into(), reason: reason.into() })
    }

    /// Shorthand for [`ErrorKind::OutOfMemory`] where there is no pool whose blocks could be told of.
    pub fn out_of_memory(device: Device, requested: u64, hint: impl Into<String>) -> Self {
        let (live, cached, largest_cached) = (0, 0, 0);
        Self::new(ErrorKind::OutOfMemory { device, requested, live, cached, largest_cached, hint: hint.into() })
    }

    /// From an I/O error on `path`.
    pub fn io(path: impl Into<PathBuf>, error: &std::io::Error) -> Self {
        Self::new(ErrorKind::Io { path: Some(path.into()), message: error.to_string(), kind: error.kind() })
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// What went wrong, to be completed by an outer layer (a file name, say).
    pub fn kind_mut(&mut self) -> &mut ErrorKind {
        &mut self.0.kind
    }

    /// "while …" frames, innermost first.
    pub fn chain(&self) -> &[String] {
        &self.0.chain
    }

    /// Adds a frame, such as ``binding `conv0` `` (printed as "while binding `conv0`").
    #[must_use]
    pub fn context(mut self, doing: impl Into<String>) -> Self {
        self.0.chain.push(doing.into());
        self
    }

    /// Names the file of a [`ErrorKind::Format`] or [`ErrorKind::Io`] error that has none yet.
    #[must_use]
    pub fn with_path(mut self, file: impl Into<PathBuf>) -> Self {
        if let ErrorKind::Format { path: path @ None, .. } | ErrorKind::Io { path: path @ None, .. } = &mut self.0.kind
        {
            *path = Some(file.into());
        }
        self
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape { op, arg, expected, got } => {
                write!(f, "{op}: shape of `{arg}`: got {got}, expected {expected}")
            }
            Self::DType { op, arg, expected, got } => {
                write!(f, "{op}: dtype of `{arg}`: got {got}, expected {expected}")
            }
            Self::Attribute { op, name, expected, got } => {
                write!(f, "{op}: attribute `{name}`: got {got}, expected {expected}")
            }
            Self::InvalidValue { what, got, expected } => write!(f, "{what}: got {got}, expected {expected}"),
            Self::UnknownOperator { name, nearest } => {
                write!(f, "unknown operator `{name}`")?;
                if !nearest.is_empty() {
                    write!(f, " (nearest: {})", nearest.join(", "))?;
                }
                Ok(())
            }
            Self::NotBuilt { what, reason } => write!(f, "{what} is not built: {reason}"),
            Self::Unresolved { names, what } => {
                write!(f, "cannot infer the {what} of: {}; give them when binding", names.join(", "))
            }
            Self::OutOfMemory { device, requested, live, cached, largest_cached, hint } => write!(
                f,
                "memory allocation failed: {device}: requested {requested} bytes with {live} live and {cached} cached \
                 (largest cached block {largest_cached}); {hint}"
            ),
            Self::Overflow { what } => write!(f, "{what} is too large: it does not fit in memory addresses"),
            Self::Env { name, value, expected } => write!(f, "{name}: invalid value \"{value}\": expected {expected}"),
            Self::Format { path, offset, kind, context } => {
                match (path, offset) {
                    (Some(p), Some(o)) => write!(f, "{} at offset {o}: ", p.display())?,
                    (Some(p), None) => write!(f, "{}: ", p.display())?,
                    (None, Some(o)) => write!(f, "at offset {o}: ")?,
                    (None, None) => {}
                }
                write!(f, "{kind}: {context}")
            }
            Self::Io { path, message, .. } => match path {
                Some(p) => write!(f, "{}: {message}", p.display()),
                None => f.write_str(message),
            },
            Self::Backend { backend, message } => write!(f, "{backend}: {message}"),
            Self::Panicked { what, message } => write!(f, "{what} panicked: {message}"),
            Self::Engine { message } => write!(f, "engine: {message}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.kind)?;
        for frame in &self.0.chain {
            write!(f, "\n  while {frame}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

/// Adds "while …" frames to a `Result`.
pub trait ResultExt<T> {
    /// Adds the frame computed by `doing` to an error.
    ///
    /// # Errors
    /// The error it was called on.
    fn context<S: Into<String>>(self, doing: impl FnOnce() -> S) -> Result<T>;
}

impl<T> ResultExt<T> for Result<T> {
    fn context<S: Into<String>>(self, doing: impl FnOnce() -> S) -> Result<T> {
        self.map_err(|e| e.context(doing()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_wide() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

    #[test]
    fn message_has_kind_then_chain() {
        let e = Error::shape("Convolution", "weight", "(8, 3, 3, 3)", "(8, 4, 3, 3)").context("binding `conv0`");
        assert_eq!(
            e.to_string(),
            "Convolution: shape of `weight`: got (8, 4, 3, 3), expected (8, 3, 3, 3)\n  while binding `conv0`"
        );
    }

    #[test]
    fn no_room_without_a_pool_has_no_blocks() {
        let error = Error::out_of_memory(Device::cpu(0), 64, "the system refused");
        assert!(matches!(error.kind(), ErrorKind::OutOfMemory { requested: 64, live: 0, cached: 0, .. }), "{error}");
        assert!(error.to_string().ends_with("; the system refused"), "{error}");
    }

    #[test]
    fn env_message_is_the_documented_one() {
        let e = Error::new(ErrorKind::Env {
            name: "MXNET_CPU_WORKER_NTHREADS".into(),
            value: "two".into(),
            expected: "an integer >= 1".into(),
        });
        assert_eq!(e.to_string(), "MXNET_CPU_WORKER_NTHREADS: invalid value \"two\": expected an integer >= 1");
    }
}
