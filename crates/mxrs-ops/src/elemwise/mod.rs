//! Elementwise operators of one, two or more tensors.

pub mod abs;
pub mod add_n;
pub mod amp_cast;
pub mod amp_multicast;
pub mod broadcast_add;
pub mod broadcast_div;
pub mod broadcast_mul;
pub mod broadcast_sub;
pub mod cast;
pub mod clip;
pub mod copy;
pub mod elemwise_add;
pub mod elemwise_div;
pub mod elemwise_mul;
pub mod elemwise_sub;
pub mod exp;
pub mod grad_add;
pub mod log;
pub mod negative;
pub mod ones_like;
pub mod relu;
pub mod sigmoid;
pub mod sqrt;
pub mod square;
pub mod tanh;
pub mod zeros_like;
