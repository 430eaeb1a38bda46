//! How a failure ends the program: one message on stderr, one exit code.

use mxrs::Error;
use mxrs::types::ErrorKind;
use std::fmt;
use std::process::ExitCode;

/// Exit code after Ctrl-C, as shells report it.
pub const INTERRUPTED: u8 = 130;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// The command line or a variable of the environment is wrong.
    Usage(String),
    /// A file that was read is missing or not what it should be.
    Input(Error),
    /// It went wrong while running.
    Run(Error),
    /// The user interrupted it.
    Interrupted,
    /// Whoever reads the output has gone away.
    ReaderGone,
}

/// What commands return.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// For errors of reading input: every one of them is the file's fault, except for a lack of memory.
    pub fn input(error: Error) -> Self {
        match error.kind() {
            ErrorKind::OutOfMemory { .. } | ErrorKind::Backend { .. } | ErrorKind::Panicked { .. } => Self::Run(error),
            _ => Self::Input(error),
        }
    }

    /// For errors of fitting flags to a model: shapes that do not go together are bad usage.
    pub fn binding(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Shape { .. } | ErrorKind::InvalidValue { .. } | ErrorKind::Unresolved { .. } => {
                Self::Usage(error.to_string())
            }
            // Attributes of the symbol file made a tensor larger than any memory.
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
            Self::Usage(text) => f.write_str(text),
            Self::Input(error) | Self::Run(error) => write!(f, "{error}"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::ReaderGone => f.write_str("nobody reads the output any more"),
        }
    }
}

/// By what went wrong: bad variables are bad usage, malformed files bad input, anything else a failure at run time.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Env { .. } => Self::Usage(error.to_string()),
            ErrorKind::Format { .. } => Self::Input(error),
            _ => Self::Run(error),
        }
    }
}

/// Checks that a file can be written under `path`, before the work whose result it gets. A file that is there already stays as it is.
///
/// # Errors
/// [`Failure::Run`] with the path if it is a folder, or if its folder is not there or cannot be written.
pub fn expect_writable(path: &std::path::Path) -> Outcome {
    if path.is_dir() {
        return Err(Failure::Run(Error::io(path, &std::io::Error::from(std::io::ErrorKind::IsADirectory))));
    }
    mxrs::format::AtomicFile::create(path).map(drop).map_err(Failure::Run)
}

/// An error of writing output.
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
