//! Converts failures into a message on stderr and an exit code.

use mxrs::Error;
use mxrs::types::ErrorKind;
use std::fmt;
use std::process::ExitCode;

/// Exit code after Ctrl-C: 128 plus the number of SIGINT, as in shells.
pub const INTERRUPTED: u8 = 130;

/// The reason why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The command line or an environment variable is invalid.
    Usage(String),
    /// A file that was read is missing or malformed.
    Input(Error),
    /// The command failed while running.
    Run(Error),
    /// A worker of a job failed.
    Worker {
        /// Which worker failed, and how.
        message: String,
        /// Its exit code, which becomes that of this program.
        code: u8,
    },
    /// The user interrupted the command.
    Interrupted,
    /// The reader of the output has closed it.
    ReaderGone,
}

/// Result of a command.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// Converts an error that occurred while input was read: to [`Self::Run`] if memory is exhausted, a backend failed
    /// or code panicked, otherwise to [`Self::Input`].
    pub fn input(error: Error) -> Self {
        match error.kind() {
            ErrorKind::OutOfMemory { .. } | ErrorKind::Backend { .. } | ErrorKind::Panicked { .. } => Self::Run(error),
            _ => Self::Input(error),
        }
    }

    /// Converts an error that occurred while a model was bound with the shapes and settings of the flags. Shapes that
    /// do not fit the model are a usage error.
    pub fn binding(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Shape { .. } | ErrorKind::InvalidValue { .. } | ErrorKind::Unresolved { .. } => {
                Self::Usage(error.to_string())
            }
            // Attributes of the symbol file make a tensor larger than any memory.
            ErrorKind::Overflow { .. } => Self::Input(error),
            _ => Self::from(error),
        }
    }

    /// The exit code.
    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Run(_) => 1,
            Self::Usage(_) => 2,
            Self::Input(_) => 3,
            Self::Worker { code, .. } => *code,
            Self::Interrupted => crate::interrupt::exit_code(),
            Self::ReaderGone => 0,
        })
    }

    /// Prints the message on stderr.
    pub fn report(&self) {
        if !matches!(self, Self::ReaderGone) {
            crate::terminal::error(&self.to_string());
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Worker { message: text, .. } => f.write_str(text),
            Self::Input(error) | Self::Run(error) => write!(f, "{error}"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::ReaderGone => f.write_str("the reader of the output has closed it"),
        }
    }
}

/// Converts an error by its kind: invalid environment variables are usage errors, malformed files are input errors, everything
/// else is a failure at run time.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Env { .. } => Self::Usage(error.to_string()),
            ErrorKind::Format { .. } => Self::Input(error),
            _ => Self::Run(error),
        }
    }
}

/// Checks that a file can be written at `path`, before the work whose result the file will hold. An existing file is not
/// changed.
///
/// # Errors
/// Returns [`Failure::Run`] with the path if the path is a folder, or if its folder does not exist or cannot be written.
pub fn expect_writable(path: &std::path::Path) -> Outcome {
    if path.is_dir() {
        return Err(Failure::Run(Error::io(path, &std::io::Error::from(std::io::ErrorKind::IsADirectory))));
    }
    mxrs::format::AtomicFile::create(path).map(drop).map_err(Failure::Run)
}

/// Converts an error of writing output, and adds the path.
pub fn written(path: &std::path::Path) -> impl Fn(std::io::Error) -> Failure {
    let path = path.to_owned();
    move |error| Failure::Run(Error::io(&path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_error_decides() {
        let env = ErrorKind::Env { name: "X".into(), value: "y".into(), expected: "z".into() };
        assert!(matches!(Failure::from(Error::new(env)), Failure::Usage(_)));
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        assert!(matches!(Failure::from(Error::io("out", &missing)), Failure::Run(_)));
        assert!(matches!(Failure::input(Error::io("in", &missing)), Failure::Input(_)));
        assert!(matches!(Failure::binding(Error::shape("op", "data", "(1,)", "(2,)")), Failure::Usage(_)));
        assert_eq!(Failure::Interrupted.code(), ExitCode::from(130));
    }
}
