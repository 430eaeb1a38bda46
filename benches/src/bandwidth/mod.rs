//! Measures operators that do little arithmetic per element, against the bandwidth of memory.
//!
//! Optimizer updates, reductions, softmax and normalization should take as long as reading their inputs and writing their
//! outputs. [`cases`] lists the calls. [`call`] prepares one call with the kernel that the executor would choose for
//! row-major tensors, and times it.
//!
//! How the bytes of a call are counted: each tensor that is read counts once, and each tensor that is written counts once,
//! so a tensor that is updated in place counts twice. Some kernels must read a tensor twice, because each output element
//! depends on the whole tensor. They cannot reach the bandwidth of memory.

pub mod call;
pub mod cases;
pub mod memory;

pub use call::{Arena, Bound};
pub use cases::all;
pub use memory::Probe;

use mxrs_types::DType;

/// A call: an operator with parameters and shapes.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the operator.
    pub op: String,
    /// What distinguishes the call from others of the operator.
    pub what: String,
    /// Parameters.
    pub attrs: Vec<(String, String)>,
    /// Shape of each input.
    pub shapes: Vec<Vec<usize>>,
    /// Type of the first input.
    pub dtype: DType,
    /// The input that holds labels from 0 to 9.
    pub labels: Option<usize>,
    /// Whether the call updates weights, and so runs in place.
    pub is_update: bool,
    /// Whether the call runs in training mode.
    pub is_train: bool,
}
