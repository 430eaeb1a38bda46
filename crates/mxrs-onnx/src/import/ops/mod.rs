//! Import functions for each family of ONNX operators.

pub(super) mod activation;
pub(super) mod compare;
pub(super) mod create;
pub(super) mod elementwise;
pub(super) mod gather;
pub(super) mod index;
pub(super) mod layers;
pub(super) mod normalize;
pub(super) mod pooling;
pub(super) mod recurrent;
pub(super) mod reduce;
pub(super) mod shape;
