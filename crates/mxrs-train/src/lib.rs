//! Training: metrics, callbacks, the module and its loop, checkpoints that training resumes from, losses.
//!
//! [`Module`] trains a symbol as MXNet's module does; [`Trainer`] updates arrays of imperative code. Nothing in it waits for
//! what it need not read: batches are copied into place, metrics counted and weights updated by tasks of the engine.
//!
//! This crate does not know where data come from (it is given iterators), how weights are updated (optimizers are given too),
//! nor which backends compute. It does not print: log lines are `tracing` events, worded as MXNet words them.
//!
//! Read next: [`Module::fit`], [`metric`] for how well a network does, [`resume`] for what survives a kill.

pub mod callback;
pub mod loss;
pub mod metric;
pub mod resume;

mod host;
mod module;
mod norm;
mod trainer;

pub use host::Host;
pub use module::{
    BindFor, CheckpointOptions, FitOptions, FitReport, InitOptions, Module, ModuleNames, Outcome, load_initializer,
};
pub use mxrs_optim::{Parameter, Updater};
pub use norm::{clip_global_norm, global_norm};
pub use trainer::Trainer;
