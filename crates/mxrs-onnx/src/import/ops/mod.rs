//! The operators that each ONNX operator becomes.

pub(super) mod elementwise;
pub(super) mod layers;
pub(super) mod pooling;
pub(super) mod reduce;
pub(super) mod shape;
