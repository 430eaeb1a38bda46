//! Products of matrices that are not layers, and Fourier transforms.

pub mod batch_dot;
pub mod dot;
pub mod fourier;
pub mod khatri_rao;
