//! Fused calls, each of which replaces several calls when a graph is partitioned for inference; and, for training, a fused
//! batch normalization with ReLU.
//!
//! Each fused operator is a companion of the first operator that it replaces, so that only graph passes create calls of it.
//! Its reference kernel computes what the replaced calls compute, and rounds once. The calls for inference have no gradient.

pub mod bn_relu;
pub mod bn_relu_quantize;
pub mod bn_relu_training;
pub mod conv_depthwise;
pub mod convolution;
mod epilogue;
pub mod fold_bias;
pub mod fold_weight;
pub mod fully_connected;
mod gates;
mod normalized_patterns;
mod pair_patterns;
mod patterns;
mod quantized_patterns;
pub(crate) mod quantized_samples;
pub mod scaled_convolution;
mod scaled_patterns;

pub use epilogue::{Epilogue, FusedAct, WithEpilogue};
pub use patterns::{Fusions, patterns};
