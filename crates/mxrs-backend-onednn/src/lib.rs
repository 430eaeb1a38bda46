//! oneDNN as a backend: prepares oneDNN's primitives for the operators that they run well, on the thread team of the
//! process.
//!
//! Weights are packed in the layout that the primitive prefers; the executor packs constants once. Activations keep
//! their layout if the primitive accepts it. Gradients have the layout that the primitive writes. One result differs
//! from the reference: ReLU after a fused product maps -∞ to NaN, and all other negative numbers to 0.
//!
//! The crate uses the operators of `mxrs-ops`. It does not depend on graphs, arrays, the environment or another backend.
//!
//! ```
//! use mxrs_backend_onednn::{OneDnn, OneDnnConfig};
//! use mxrs_op::Backend;
//! use mxrs_sync::Team;
//!
//! match OneDnn::new(OneDnnConfig { team: Team::serial(), cache_entries: None, row_major_weights: false }) {
//!     Ok(backend) => println!("{} runs {}", backend.name(), backend.version()),
//!     Err(reason) => println!("no oneDNN here: {reason}"),
//! }
//! ```
//!
//! The feature `static` compiles and links oneDNN, `dynamic` loads it at run time. Without one of them, the default,
//! [`OneDnn::new`] returns the reason.
//!
//! Read next: `kernels/convolution/mod.rs`, the pattern for all other kernels.
#![allow(unsafe_code)]
// This crate needs unsafe code for two reasons. It calls oneDNN's C functions: `objects.rs` owns the objects that
// oneDNN creates, `primitive.rs` executes primitives. And it accesses raw tensor memory: in loops over elements in
// `kernels/`, and in parts of scratch memory. All other code is safe.

mod accumulate;
mod backend;
mod cache;
mod epilogue;
mod kernels;
mod library;
mod objects;
mod primitive;
mod registry;
mod scratch;
mod sequence;

pub use backend::{OneDnn, OneDnnConfig};
pub use cache::CacheCounters;
pub use library::load_library;
