//! The nodes of each family of operators.
//!
//! A function per operator takes the call and answers the name of the value that is its output. What is said of shapes
//! and parameters is said where the operator is declared, in `mxrs-ops`; here is only what differs in ONNX.

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
