//! Import functions for each family of ONNX operators.

pub(super) mod elementwise;
pub(super) mod layers;
pub(super) mod pooling;
pub(super) mod reduce;
pub(super) mod shape;
