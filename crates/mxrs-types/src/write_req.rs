//! What a kernel does with an output buffer.

/// The request for an output of an operator call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum WriteReq {
    /// The output is not read: write nothing.
    Null,
    /// Overwrite; the old content of the buffer is unspecified.
    #[default]
    Write,
    /// Overwrite; the buffer is also the declared in-place input.
    Inplace,
    /// Add to the buffer's content.
    Add,
}
