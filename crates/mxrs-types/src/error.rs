//! The error type of all mxrs crates.

use crate::{Device, FormatErrorKind};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// `Result` with mxrs's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: its kind with fields, a chain of the operations that were in progress, and the error that caused it, if there
/// is one.
///
/// An error has the size of one pointer. Cloning is cheap enough for the engine to keep the error of a failed task and
/// return it to several waiting threads. Two errors are equal if their kinds and chains are equal; sources are not compared.
///
/// `Display` is for users: the message of the kind, the message of the source, and one line for each operation of the
/// chain. `Debug` is for developers: the fields of the error with their names. [`source`](std::error::Error::source)
/// returns the error that caused this error, with its own type.
///
/// ```
/// use mxrs_types::{Error, ErrorKind};
/// use std::error::Error as _;
/// use std::io;
///
/// let missing = io::Error::from(io::ErrorKind::NotFound);
/// let error = Error::io("lenet-0010.params", &missing).context("loading the model");
/// match error.kind() {
///     ErrorKind::Io { kind: io::ErrorKind::NotFound, path, .. } => assert!(path.is_some()),
///     other => panic!("{other}"),
/// }
/// assert!(error.source().unwrap().is::<io::Error>());
/// assert!(format!("{error}").ends_with("\n  while loading the model"));
/// assert!(format!("{error:?}").starts_with("Error { kind: Io { path: Some("));
/// ```
#[derive(Clone, PartialEq)]
pub struct Error(Box<Inner>);

/// An error of another crate, shared by the clones of the [`Error`] that it caused.
type Source = Arc<dyn std::error::Error + Send + Sync>;

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    /// The operations that were in progress, innermost first; each is printed after "while".
    chain: Vec<String>,
    source: Option<Source>,
}

impl PartialEq for Inner {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.chain == other.chain
    }
}

/// The category of an error, with its details.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument of an operator has the wrong shape.
    Shape {
        /// Name of the operator.
        op: String,
        /// Name of the argument.
        arg: String,
        /// What was expected.
        expected: String,
        /// What was given.
        got: String,
    },
    /// An argument of an operator has the wrong element type.
    DType {
        /// Name of the operator.
        op: String,
        /// Name of the argument.
        arg: String,
        /// What was expected.
        expected: String,
        /// What was given.
        got: String,
    },
    /// An operator attribute is missing, unknown or unreadable.
    Attribute {
        /// Name of the operator.
        op: String,
        /// Name of the attribute.
        name: String,
        /// What was expected.
        expected: String,
        /// What was given.
        got: String,
    },
    /// A value given by the caller is not valid.
    InvalidValue {
        /// Name of the value.
        what: String,
        /// What was given.
        got: String,
        /// What was expected.
        expected: String,
    },
    /// No operator of this name is known.
    UnknownOperator {
        /// The requested name.
        name: String,
        /// Nearest known names.
        nearest: Vec<String>,
    },
    /// The operator or feature exists in MXNet but not in this build, or not for these arguments.
    NotBuilt {
        /// Name of the operator or feature.
        what: String,
        /// The reason, and what the user can do.
        reason: String,
    },
    /// Shapes or types could not all be inferred.
    Unresolved {
        /// The inputs or nodes that stay unknown, by name.
        names: Vec<String>,
        /// `shape` or `dtype`.
        what: &'static str,
    },
    /// The device does not have enough free memory.
    OutOfMemory {
        /// The device of the request.
        device: Device,
        /// Bytes of the request.
        requested: u64,
        /// Bytes of the blocks that are in use.
        live: u64,
        /// Bytes of the blocks that the pool keeps for reuse.
        cached: u64,
        /// Bytes of the largest free cached block.
        largest_cached: u64,
        /// What the user can change.
        hint: String,
    },
    /// A computed size is too large.
    Overflow {
        /// Name of the size that was computed.
        what: String,
    },
    /// An environment variable has an unusable value.
    Env {
        /// Name of the variable.
        name: String,
        /// Value of the variable.
        value: String,
        /// Values accepted.
        expected: String,
    },
    /// A file or buffer is malformed.
    Format {
        /// The file, if the data came from one.
        path: Option<PathBuf>,
        /// Byte offset (or line, for text) of the problem.
        offset: Option<u64>,
        /// Category of the problem.
        kind: FormatErrorKind,
        /// What was found and expected.
        context: String,
    },
    /// An operation of the operating system failed.
    Io {
        /// The file or resource, if it is known.
        path: Option<PathBuf>,
        /// Message of the operating system.
        message: String,
        /// Category of the failure.
        kind: std::io::ErrorKind,
    },
    /// A vendor library failed.
    Backend {
        /// Name of the backend.
        backend: &'static str,
        /// Message of the library.
        message: String,
    },
    /// An operator or task panicked.
    Panicked {
        /// Name of the operator or task.
        what: String,
        /// Panic message.
        message: String,
    },
    /// A call violated a rule of the engine.
    Engine {
        /// The violated rule, and what the caller has to do.
        message: String,
    },
}

impl Error {
    /// An error of this kind with an empty chain and no source.
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, chain: Vec::new(), source: None }))
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

    /// Shorthand for [`ErrorKind::OutOfMemory`] of a request that did not go to a pool. The numbers of bytes in blocks are
    /// then 0.
    pub fn out_of_memory(device: Device, requested: u64, hint: impl Into<String>) -> Self {
        let (live, cached, largest_cached) = (0, 0, 0);
        Self::new(ErrorKind::OutOfMemory { device, requested, live, cached, largest_cached, hint: hint.into() })
    }

    /// Makes an error from an I/O error on `path`. The I/O error becomes the [source](std::error::Error::source).
    pub fn io(path: impl Into<PathBuf>, error: &io::Error) -> Self {
        Self::from_io(error).with_path(path)
    }

    /// Makes an error from an I/O error if the file is not known. The I/O error becomes the source. [`Self::with_path`]
    /// adds the file.
    pub fn from_io(error: &io::Error) -> Self {
        let (kind, message) = (error.kind(), error.to_string());
        // An I/O error cannot be cloned. If it has an error number of the system, the source is a new I/O error with this
        // number. Otherwise the source is a new I/O error with the same kind and message.
        let source = match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(kind, message.clone()),
        };
        Self::new(ErrorKind::Io { path: None, message, kind }).with_source(source)
    }

    /// The kind of the error.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The kind of the error, mutable, so that an outer layer can complete it (with a file name, say).
    pub fn kind_mut(&mut self) -> &mut ErrorKind {
        &mut self.0.kind
    }

    /// The operations that were in progress, innermost first; each is printed after "while".
    pub fn chain(&self) -> &[String] {
        &self.0.chain
    }

    /// Adds an operation that was in progress, such as ``binding `conv0` `` (printed as "while binding `conv0`").
    #[must_use]
    pub fn context(mut self, doing: impl Into<String>) -> Self {
        self.0.chain.push(doing.into());
        self
    }

    /// Keeps the error that caused this one, for [`source`](std::error::Error::source) to return.
    #[must_use]
    pub fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Sets the file of an [`ErrorKind::Format`] or [`ErrorKind::Io`] error that has none yet.
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
        let Inner { kind, chain, source } = &*self.0;
        f.debug_struct("Error").field("kind", kind).field("chain", chain).field("source", source).finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// Adds operations that were in progress to the error of a `Result`.
pub trait ResultExt<T> {
    /// Adds the operation that `doing` returns to an error.
    ///
    /// # Errors
    /// Returns the error of `self`, with the operation added.
    fn context<S: Into<String>>(self, doing: impl FnOnce() -> S) -> Result<T>;
}

impl<T> ResultExt<T> for Result<T> {
    fn context<S: Into<String>>(self, doing: impl FnOnce() -> S) -> Result<T> {
        self.map_err(|e| e.context(doing()))
    }
}

#[cfg(test)]
mod tests;
