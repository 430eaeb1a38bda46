//! Runs graphs: chooses a kernel for each node, passes the layouts of tensors from kernel to kernel, plans memory, and
//! executes the result.
//!
//! [`Executor::bind`] turns a graph and arrays into one static program: it decides on the backends, the layouts, the
//! packing of constants and the buffer addresses. [`Executor::forward`] pushes the program to the engine as one task, or as
//! one task per operator if bulk execution is off. Several executors may share memory ([`MemoryPool`],
//! [`BucketingExecutor`]). [`Imperative`] calls single operators on arrays, records the calls for gradients ([`autograd`]),
//! and runs graphs as functions ([`CachedOp`]).
//!
//! A graph runs on one device ([`BindOptions::device`]), or on several ([`BindOptions::groups`]). A call uses the backends
//! that run on its device. On a device with streams, tasks enqueue the steps on their streams and wait for nothing.
//!
//! The reference kernels are the only backend that this crate knows by name. Few operators are known by name: those that sum
//! gradients of recorded calls, and the common operators for which [`Imperative`] has a method. What binding has to know of
//! additions, concatenations and products, it reads from the definitions of these operators.
//!
//! ```
//! use mxrs_engine::{Engine, EngineConfig};
//! use mxrs_exec::{BindOptions, Executor};
//! use mxrs_graph::{NameManager, Symbol, SymbolCall};
//! use mxrs_ndarray::ArrayContext;
//! use mxrs_op::{OpDef, ReferenceBackend};
//! use mxrs_storage::{Storage, StorageConfig};
//! use std::sync::Arc;
//!
//! # fn main() -> mxrs_types::Result<()> {
//! let mut double = OpDef::new("double");
//! double.reference = Some(|_, inputs, outputs, _| {
//!     for (y, x) in outputs[0].bytes.chunks_exact_mut(4).zip(inputs[0].bytes.chunks_exact(4)) {
//!         let x = f32::from_ne_bytes([x[0], x[1], x[2], x[3]]);
//!         y.copy_from_slice(&(2.0 * x).to_ne_bytes());
//!     }
//!     Ok(())
//! });
//! let y = SymbolCall::new(&Arc::new(double)).input(&Symbol::variable("x")).build(&mut NameManager::new())?;
//!
//! let context = ArrayContext::new(Engine::new(EngineConfig::default())?, Storage::new(StorageConfig::default())?);
//! let options = BindOptions::new(vec![Arc::new(ReferenceBackend)]);
//! let executor = Executor::simple_bind(&y.graph()?, &context, &[("x", [2, 2].into())], &options)?;
//! executor.argument("x")?.copy_from(&[1.0f32, 2.0, 3.0, 4.0])?;
//! executor.forward()?;
//! assert_eq!(executor.outputs()[0].to_vec::<f32>()?, [2.0, 4.0, 6.0, 8.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Read next: `pipeline/mod.rs` for the order of the passes, `lower.rs` for how a graph becomes steps, `executor.rs` for
//! how steps run, `imperative/mod.rs` for calls without a graph.
#![allow(unsafe_code)]
// Unsafe code: the program's tensors are raw ranges of an arena, of bound arrays and of packed constants; `ready/mod.rs`
// argues why kernels, and the copy functions of a device, may use them. `imperative/cached/plan.rs` copies an arena inside a
// task that holds the engine variable of the arena. `program_passes/copy_images.rs` is a kernel that copies a part of a
// concatenation. `tune/bench.rs` views cache lines as bytes.

mod aliases;
pub mod array;
mod bind;
mod buckets;
mod choose;
mod constants;
mod costly;
mod device;
mod dry;
mod executor;
mod freeze;
mod gradients;
mod graph_passes;
mod imperative;
mod lower;
mod monitor;
mod options;
mod packed;
mod pipeline;
mod pool;
mod program;
mod program_passes;
mod ready;
mod report;
mod reshape;
mod reused;
mod run;
mod run_random;
mod runner;
mod segment;
mod store;
mod tap;
mod timing;
mod training;
mod tune;

pub use array::{Array, Axes};
pub use buckets::{Bucket, BucketingExecutor};
pub use choose::{Choice, Refusal, choose, choose_reorder};
pub use costly::Warned;
pub use dry::{DryGraph, PlannedGraph, PlannedTensor, TensorKind, plan_graph};
pub use executor::Executor;
pub use gradients::{BoundGradient, GradReq, GradRequests};
pub use imperative::{
    BackwardOptions, CachedOp, CachedOpFlags, CachedOpStats, Function, FunctionCall, Imperative, ImperativeOptions,
    autograd,
};
pub use monitor::Monitored;
pub use options::{BindOptions, Recompute};
pub use pipeline::{Outcome, PassReport, optional_pass_names, pass_names};
pub use pool::MemoryPool;
pub use report::{DeviceBytes, ExecutorReport, FusedReport, StepReport};
pub use reshape::ReshapeOptions;
pub use store::PackedStore;
pub use timing::StepTimes;
pub use tune::{ChosenBy, KnownKernel, KnownKernels, Search, TunedCall, Tuning};
