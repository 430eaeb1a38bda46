//! Inference, gradients and reference kernels that operators of one kind share. No file of this folder declares an operator
//! of MXNet.
//!
//! An operator that belongs to a family needs only a few lines: see `elemwise/grad_add.rs` and `families/unary.rs`.

pub(crate) mod along;
pub(crate) mod amp_scale_gradient;
pub(crate) mod backward;
pub(crate) mod bilinear;
pub(crate) mod broadcast;
pub(crate) mod broadcast_back;
pub(crate) mod columns;
pub(crate) mod diagonals;
pub(crate) mod dots;
pub(crate) mod draws;
pub(crate) mod extremes;
pub(crate) mod filled;
pub(crate) mod folded;
pub(crate) mod formula;
pub(crate) mod fused_product;
pub mod fused_quantized;
pub(crate) mod gradients;
pub(crate) mod indexing;
pub(crate) mod indices;
pub(crate) mod matrices;
pub(crate) mod moved;
pub(crate) mod nameless;
pub(crate) mod normalized;
pub(crate) mod np_reduced;
pub(crate) mod pairwise;
pub(crate) mod products;
pub(crate) mod promoted;
pub(crate) mod quantized;
pub(crate) mod quantized_product;
pub(crate) mod random;
pub(crate) mod ranges;
pub(crate) mod reduction;
pub(crate) mod regression;
pub(crate) mod reshape_back;
pub(crate) mod sequences;
pub(crate) mod sorted;
pub(crate) mod stretch;
pub(crate) mod twins;
pub(crate) mod unary;
pub(crate) mod updates;
pub mod window;
pub(crate) mod with_scalar;
