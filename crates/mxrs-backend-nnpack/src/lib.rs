//! Convolutional networks in `f32`, at inference and in training, and in `bf16` what Winograd's algorithms do, after NNPACK, written
//! for few threads and activations in blocks of channels.
//!
//! It takes two-dimensional convolutions, with a bias, a sum, and ReLU or bounds behind them; fully-connected layers; and, so that
//! a network needs no vendor library, what lies between: pooling, normalization by batch statistics and across channels, joining. Of
//! training it takes convolutions, their gradients, and batch normalization with relu.
//! Activations are in blocks of 16 channels (`nChw16c`, which vendor libraries know too), so that a row of a product is read where
//! it lies; weights are packed once. Windows of 3x3 and a few others with stride 1 are Winograd's, larger ones are multiplied as Fourier
//! transforms of tiles. The first layer of a network, of few channels, reads its data row by row. Each algorithm
//! is a set of calls of one small product, which keeps 28 sums of 16 numbers in registers. Knows operators from `mxrs-ops`; nothing of
//! graphs, arrays, the environment or another backend.
//!
//! ```
//! use mxrs_backend_nnpack::{Nnpack, NnpackOptions};
//! use mxrs_op::{Attrs, Backend, OpCall, Support, TensorDesc};
//! use mxrs_sync::Team;
//! use mxrs_types::DType;
//!
//! let backend = Nnpack::new(&Team::serial(), NnpackOptions::default());
//! let ops = mxrs_ops::catalog();
//! let convolution = ops.get("Convolution")?;
//! let params = convolution.parse(&Attrs::from([
//!     ("kernel", "(1, 1)"),
//!     ("num_filter", "64"),
//!     ("no_bias", "True"),
//! ]))?;
//! let dense = |sizes: [usize; 4]| TensorDesc::dense(sizes, DType::F32);
//! let call = OpCall {
//!     op: convolution,
//!     params: &params,
//!     inputs: &[dense([1, 256, 56, 56]), dense([64, 256, 1, 1])],
//!     outputs: &[dense([1, 64, 56, 56])],
//!     is_constant: &[false, true],
//!     is_train: false,
//! };
//! // Below 1, the cost of a vendor library.
//! assert!(matches!(backend.supports(&call), Support::Yes { cost } if cost < 1.0));
//! assert_eq!(backend.plan(&call)?.output_layouts[0].to_string(), "aBcd16b");
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Read next: `choose.rs` for which algorithm runs what, `gemm/mod.rs` for the product, `direct/product.rs` for an algorithm,
//! `blocks/mod.rs` for operators between convolutions.
#![allow(unsafe_code)]
// Two reasons: kernels are written for instructions that `isa.rs` has found on this processor; and they read and write tensor
// memory through pointers, where whoever splits a loop says why no two threads write the same part.

mod apart;
mod backend;
pub mod barrier;
mod blocks;
mod choose;
mod convolve;
mod direct;
mod epilogue;
mod estimate;
mod filtering;
mod filters;
pub mod fourier;
pub mod gemm;
mod gradients;
mod isa;
mod kernel;
mod layouts;
mod options;
mod peak;
mod problem;
mod processor;
mod rates;
mod reorder;
mod tiles;
mod way;
pub mod winograd;

pub use backend::Nnpack;
pub use isa::Isa;
pub use options::{Accuracy, NnpackOptions, Weights};
pub use peak::{peak_flops, peak_ops};
pub use processor::Processor;
