//! What a kernel does with an output buffer.

/// Request attached to each output of an operator call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum WriteReq {
    /// Nobody reads this output: do nothing.
    Null,
    /// Overwrite; the buffer's old content is undefined.
    #[default]
    Write,
    /// Overwrite; the buffer is also the declared in-place input.
    Inplace,
    /// Add to the buffer's content.
    Add,
}
