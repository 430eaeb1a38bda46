//! Convolutions for inference in `f32`, after NNPACK, written for few threads and activations in blocks of channels.
#![allow(unsafe_code)]
// Two reasons: kernels are compiled for instructions that `isa.rs` has found on this processor; and they read and write
// tensor memory through pointers, where whoever splits a loop says why no two threads write the same part.

mod epilogue;
mod layouts;
mod problem;

pub use problem::ConvProblem;
