//! Export functions for each family of operators.
//!
//! Each operator has one function, which takes the call and returns the name of its output value. Shapes and parameters are
//! documented where the operator is declared, in `mxrs-ops`; the comments in this module state only what differs in ONNX.

pub(super) mod activation;
pub(super) mod constants;
pub(super) mod convolution;
pub(super) mod dense;
pub(super) mod elementwise;
mod layout;
pub(super) mod normalization;
pub(super) mod pooling;
pub(super) mod reduce;
pub(super) mod shape;
pub(super) mod softmax;
