//! Elementwise operators of a tensor and a scalar parameter.

pub mod div_scalar;
pub mod maximum_scalar;
pub mod minimum_scalar;
pub mod minus_scalar;
pub mod mul_scalar;
pub mod plus_scalar;
pub mod power_scalar;
pub mod rdiv_scalar;
pub mod rminus_scalar;
