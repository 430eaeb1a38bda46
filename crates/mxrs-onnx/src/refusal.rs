//! The reason why an operator has no counterpart on the other side.

use mxrs_types::Error;

/// The reason why there is no counterpart.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The other side cannot express it.
    Inexpressible(String),
    /// An error in the graph, the model or its data.
    Failed(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Refuses an operator that the other side cannot express.
pub(crate) fn refuse<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Inexpressible(reason.into()))
}
