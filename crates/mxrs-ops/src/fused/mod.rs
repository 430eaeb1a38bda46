//! Calls that several others become when a graph is partitioned for inference; and in training, batch normalization with relu.
//!
//! Each is declared beside the operator it begins with, as a companion of it, so that only passes make calls of it; the
//! reference kernel computes what the replaced calls compute, and rounds once. None has a gradient.

pub mod bn_relu;
pub mod bn_relu_quantize;
pub mod bn_relu_training;
pub mod convolution;
mod epilogue;
pub mod fold_bias;
pub mod fold_weight;
pub mod fully_connected;
mod normalized_patterns;
mod patterns;
mod quantized_patterns;
pub(crate) mod quantized_samples;

pub use epilogue::{Epilogue, FusedAct, WithEpilogue};
pub use patterns::{Fusions, patterns};
