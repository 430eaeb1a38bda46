//! The nodes of each family of operators.
//!
//! One function per operator takes the call and returns the name of its output value. Shapes and parameters are
//! documented where the operator is declared, in `mxrs-ops`; the comments here state what differs in ONNX.

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
