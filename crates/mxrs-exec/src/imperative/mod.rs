//! Calls operators on arrays, one at a time, and records the calls if a gradient is to be computed.
//!
//! [`Imperative::invoke`] prepares a call once per signature (operator, attributes, shapes, types, mode) and pushes each
//! call as one engine task, without waiting for it. Within [`autograd::record`], calls on tracked arrays are recorded on a
//! tape. [`Imperative::backward`] and [`Imperative::grad`] compute gradients along the tape, by calling operators in the
//! same manner. A [`CachedOp`] runs a whole graph as one call.
//!
//! ```
//! use mxrs_engine::{Engine, EngineConfig};
//! use mxrs_exec::{BackwardOptions, BindOptions, GradReq, Imperative, autograd};
//! use mxrs_ndarray::{ArrayContext, NdArray};
//! use mxrs_op::{Attrs, ReferenceBackend};
//! use mxrs_storage::{Storage, StorageConfig};
//! use std::sync::Arc;
//!
//! # fn main() -> mxrs_types::Result<()> {
//! let context = ArrayContext::new(Engine::new(EngineConfig::default())?, Storage::new(StorageConfig::default())?);
//! let mut options = BindOptions::new(vec![Arc::new(ReferenceBackend)]);
//! options.ops = mxrs_ops::catalog();
//! let nd = Imperative::new(&context, &options)?;
//!
//! let x = NdArray::from_slice(&context, [1, 2], &[1.0f32, 2.0])?;
//! let w = NdArray::from_slice(&context, [1, 2], &[3.0f32, 5.0])?;
//! nd.attach_grad(&x, GradReq::Write)?;
//! let y = {
//!     let _record = autograd::record();
//!     nd.fully_connected(&x, &w, None, 1)?
//! };
//! nd.backward(&[&y], &[], BackwardOptions::default())?;
//! assert_eq!(y.to_vec::<f32>()?, [13.0]);
//! assert_eq!(autograd::grad_of(&x).unwrap().to_vec::<f32>()?, [3.0, 5.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Read next: `invoke.rs` for a call, `tape.rs` for what is recorded, `walk.rs` for gradients.

mod backward;
mod by_name;
mod cached;
mod flags;
mod function;
mod gradient_of;
mod into;
mod invoke;
mod lru;
mod mark;
mod named;
mod prepared;
mod probe;
mod resolve;
mod scope;
mod signature;
mod tape;
mod views;
mod walk;

pub use backward::BackwardOptions;
pub use cached::{CachedOp, CachedOpFlags, CachedOpStats};
pub use function::{Function, FunctionCall};
pub use invoke::{Imperative, ImperativeOptions};

/// Records calls for gradients: which arrays gradients are wanted for, and whether the calling thread records and trains.
pub mod autograd {
    pub use super::flags::{FlagScope, is_recording, is_training, pause, predict_mode, record, set, train_mode};
    pub use super::mark::{drop_grads, grad_of, is_tracked, mark};
}
