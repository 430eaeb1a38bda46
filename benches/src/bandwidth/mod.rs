//! Measures operators that do little arithmetic per element, against the bandwidth of memory.
//!
//! Optimizer updates, reductions, softmax and normalization should take as long as reading their inputs and writing their
//! outputs. [`cases`] lists the calls. [`call`] prepares one call with the kernel that the executor would choose for
//! row-major tensors, and times it.
//!
//! Bytes of a call: each tensor that is read counts once, and each tensor that is written counts once, so a tensor that is
//! updated in place counts twice. A kernel that must read a tensor twice, because the whole tensor decides about each
//! element, therefore cannot reach the bandwidth of memory.

pub mod call;
pub mod cases;

pub use call::{Arena, Bound};
pub use cases::{Case, all};
