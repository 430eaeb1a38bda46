//! CPU kernels of this project: loops over slices, compiled for AVX-512, for AVX2 and for any processor, split over the
//! team.
//!
//! The backend runs what vendor libraries do not offer for a training step or for imperative code: elementwise
//! functions and chains of them, operators that broadcast, reductions, operators that move, choose or sort elements,
//! dropout, softmax and its losses, gradients of pooling, normalizations, and updates of weights. Results do not depend on
//! the number of threads or on the instruction set: the loops fix every rounding, and sums have a fixed order.
//!
//! The crate uses the operators of `mxrs-ops`. It does not depend on graphs, arrays, the environment or another backend.
//!
//! ```
//! use mxrs_backend_cpu::CpuBackend;
//! use mxrs_op::{Attrs, Backend, OpCall, TensorDesc};
//! use mxrs_sync::Team;
//! use mxrs_types::DType;
//!
//! let backend = CpuBackend::new(&Team::serial());
//! let ops = mxrs_ops::catalog();
//! let exp = ops.get("exp")?;
//! let tensor = [TensorDesc::dense([4, 1000], DType::F32)];
//! let params = exp.parse(&Attrs::new())?;
//! let call =
//!     OpCall { op: exp, params: &params, inputs: &tensor, outputs: &tensor, is_constant: &[false], is_train: false };
//! let offer = backend.offer(&call)?;
//! assert!(offer.seconds() < 1e-3);
//! assert_eq!(offer.build()?.kernel.name(), "cpu:exp");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read next: `pointwise/program.rs` for how elementwise functions run tile by tile, `kernels/reduce.rs` for a kernel
//! with its own loops.
#![allow(unsafe_code)]
// This crate needs unsafe code for three reasons. `level.rs` calls loops compiled for instructions that
// `mxrs-processor` has detected on this processor. `tensors.rs` makes slices of raw tensor memory; the SAFETY comment
// of each caller says why no other thread writes them. `stream.rs` uses instructions for which Rust has no other form.

mod backend;
mod chunks;
mod kernels;
mod level;
mod math;
mod number;
mod plan;
mod pointwise;
mod split;
mod stream;
mod tensors;
mod walk;

pub use backend::CpuBackend;
pub use level::Level;
