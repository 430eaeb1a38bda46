//! The operators here that each operator of ONNX becomes.

pub(super) mod elementwise;
pub(super) mod layers;
pub(super) mod pooling;
pub(super) mod reduce;
pub(super) mod shape;
