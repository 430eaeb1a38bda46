//! Our own CPU kernels: loops over slices, compiled for AVX-512, for AVX2 and for any processor, split over the team.
//!
//! They run what no vendor library runs in a training step and what imperative code calls: elementwise functions and chains
//! of them, operators that broadcast, reductions, copies and permutations of axes, dropout, softmax and its losses. Results
//! do not depend on the number of threads, nor on the instructions: every rounding is written down in the loops, sums have
//! a fixed order. Knows operators from `mxrs-ops`; nothing of graphs, arrays, the environment or another backend.
//!
//! ```
//! use mxrs_backend_cpu::CpuBackend;
//! use mxrs_op::{Attrs, Backend, OpCall, Support, TensorDesc};
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
//! assert_eq!(backend.supports(&call), Support::Yes { cost: CpuBackend::COST });
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Read next: `pointwise/program.rs` for how elementwise functions run tile by tile, `kernels/reduce.rs` for a kernel with
//! its own loops.
#![allow(unsafe_code)]
// Two reasons: `level.rs` calls loops compiled for instructions that it has found on this processor; `tensors.rs` makes
// slices of raw tensor memory, and whoever calls it says why no other thread writes them.

mod backend;
mod kernels;
mod level;
mod math;
mod number;
mod plan;
mod pointwise;
mod split;
mod tensors;
mod walk;

pub use backend::CpuBackend;
pub use level::Level;
