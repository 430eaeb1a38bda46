//! The request for an output: what a kernel does with the output's memory.

/// The request for an output of an operator call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum WriteReq {
    /// Write nothing, because the output is not read.
    Null,
    /// Overwrite the memory, whose old content is unspecified.
    #[default]
    Write,
    /// Overwrite the memory, which the output shares with an input, as the operator declares to be possible.
    Inplace,
    /// Add the result to the content of the memory.
    Add,
}
