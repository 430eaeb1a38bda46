//! Normalizations whose statistics are those of the batch in every mode.

pub mod group_norm;
pub mod instance_norm;
pub mod layer_norm;
