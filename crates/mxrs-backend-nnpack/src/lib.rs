//! Kernels for convolutional networks on the CPU with few threads, with the algorithms of NNPACK: in `f32` for inference
//! and training, in `bf16` where Winograd's algorithms apply, and in `bf16`, `i8` and `u8` on matrix units and vector
//! instructions for these types: at inference and, in `bf16` on matrix units, in training.
//!
//! The backend supports two-dimensional convolutions and fully-connected layers, with bias, sum, bounds, and a function
//! such as SiLU, sigmoid or tanh as epilogue. It also supports the operators between them, so that a network needs no
//! vendor library: pooling, batch normalization, local response normalization, and concatenation. For training it
//! supports convolutions, fully-connected layers, pooling, batch normalization and local response normalization, with
//! their gradients. Recurrent layers and their gradients are products of matrices with vectorized cells.
//!
//! Activations are in blocks of 16 channels (`nChw16c`, which vendor libraries also know), so that a product reads its
//! rows in place. Weights are packed once. Windows of 3x3 and a few others with stride 1 use Winograd's algorithms;
//! larger windows may use Fourier transforms of tiles. The first layer of a network, which has few channels, reads
//! row-major data. All algorithms call one small matrix product, which keeps 28 sums of 16 values in registers.
//!
//! The crate knows the operators of `mxrs-ops`. It does not know graphs, arrays, the environment or any other backend.
//!
//! ```
//! use mxrs_backend_nnpack::{Nnpack, NnpackOptions};
//! use mxrs_op::{Attrs, Backend, OpCall, Speed, TensorDesc};
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
//! // The estimated time is below that of a vendor library.
//! let offer = backend.offer(&call)?;
//! assert!(offer.seconds() < Speed::here(1).library(&call));
//! assert_eq!(offer.build()?.output_layouts[0].to_string(), "aBcd16b");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read next: `choose.rs` for the choice of the algorithm, `gemm/mod.rs` for the product, `direct/product.rs` for an
//! algorithm, `blocks/mod.rs` for the operators between convolutions, `low_precision/mod.rs` for types of 16 and 8 bits.
#![allow(unsafe_code)]
// This crate needs unsafe code for two reasons. Kernels use instructions that `mxrs-processor` has detected on this
// processor. They also read and write tensors through pointers; where a loop is split among threads, a SAFETY comment
// says why no two threads write the same part.

mod backend;
pub mod barrier;
mod blocks;
mod candidate;
mod choose;
mod convolve;
mod direct;
mod dispatch;
mod epilogue;
mod estimate;
mod filtering;
mod filters;
pub mod fourier;
mod fully_connected;
mod functions;
pub mod gemm;
mod gradients;
mod kernel;
mod layouts;
mod low_precision;
mod matrix;
mod options;
mod pairs;
mod problem;
mod rates;
mod recurrent;
mod reorder;
mod scaled;
mod strided_output;
mod tiles;
pub mod winograd;

pub use backend::Nnpack;
pub use options::{Accuracy, NnpackOptions, Weights};
