//! oneDNN as a backend: prepares its primitives for the operators it is good at, on the process's own thread team.
//!
//! Weights are asked for in whatever form the primitive likes best (the executor packs constants once), activations keep
//! the layout they arrive in wherever the primitive accepts it. Gradients leave in the layout the primitive makes.
//! One number is not the reference's: relu behind a fused product says NaN of -∞, and 0 of all other negative numbers.
//! Knows operators from `mxrs-ops`, nothing of graphs, arrays or the environment, and no other backend.
//!
//! ```
//! use mxrs_backend_onednn::{OneDnn, OneDnnConfig};
//! use mxrs_op::Backend;
//! use mxrs_sync::Team;
//!
//! match OneDnn::new(OneDnnConfig { team: Team::serial(), cache_entries: None }) {
//!     Ok(backend) => println!("{} runs {}", backend.name(), backend.version()),
//!     Err(reason) => println!("no oneDNN here: {reason}"),
//! }
//! ```
//!
//! Read next: `kernels/convolution.rs`, the model for all others.
#![allow(unsafe_code)]
// Foreign calls: `objects.rs` owns what oneDNN creates, `primitive.rs` executes. Raw tensor memory: loops over elements in
// `kernels/` and parts of scratch memory; the rest is safe code over them.

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
