//! Normalizations whose statistics are those of the batch in every mode.

pub mod activations;
pub mod group_norm;
pub mod instance_norm;
pub mod l2_normalization;
pub mod layer_norm;
