//! Elementwise operators of one, two or more tensors.

pub mod add_n;
pub mod allclose;
pub mod amp_cast;
pub mod amp_multicast;
pub mod cast;
pub mod cast_storage;
pub mod clip;
pub mod copy;
pub mod copyto;
pub mod cross_device_copy;
pub mod formulas;
pub mod grad_add;
pub mod leaky_relu;
pub mod ones_like;
pub mod zeros_like;
