//! Products of matrices that are not layers.

pub mod batch_dot;
pub mod dot;
pub mod khatri_rao;
