//! The reason why a node cannot be exported or imported.

use mxrs_types::Error;

/// The reason why a node cannot be converted.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The target, ONNX or mxrs, cannot express the node.
    Inexpressible(String),
    /// The graph, the model or its data have an error.
    Failed(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Refuses a node that the target, ONNX or mxrs, cannot express.
pub(crate) fn refuse<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Inexpressible(reason.into()))
}
