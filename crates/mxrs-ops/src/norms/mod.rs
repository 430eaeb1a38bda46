//! Normalizations that use the statistics of their input in training and at inference alike, and no moving statistics.

pub mod activations;
pub mod group_norm;
pub mod instance_norm;
pub mod l2_normalization;
pub mod layer_norm;
