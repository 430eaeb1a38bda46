//! NNPACK's algorithms in Rust: float32 convolutions by Winograd transforms and by implicit matrix products.
//!
//! Activations are in blocks of 16 channels (`nChw16c`), weights in packed forms of its own.
#![allow(unsafe_code)]
// Two reasons: `gemm` and `winograd` call kernels compiled for instructions that `isa.rs` has found on this processor, which
// read and write through raw addresses; several threads write parts of one tensor.

pub mod barrier;
pub mod gemm;
pub mod isa;
pub mod winograd;

pub use isa::Isa;
