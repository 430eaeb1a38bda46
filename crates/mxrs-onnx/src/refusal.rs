//! Why an operator has no counterpart on the other side.

use mxrs_types::Error;

/// Why there is none.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The other side cannot say it.
    Inexpressible(String),
    /// Something is wrong.
    Failed(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// What the other side cannot say.
pub(crate) fn refuse<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Inexpressible(reason.into()))
}
