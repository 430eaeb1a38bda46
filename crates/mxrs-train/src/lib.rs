//! Training: metrics, callbacks, the module and its loop, checkpoints that training resumes from, losses.
//!
//! [`Module`] trains a symbol as MXNet's module does; [`Trainer`] updates the arrays of imperative code. Engine tasks copy
//! batches into their arrays, update metrics and update weights, so the training loop waits only for values that it reads.
//! Both train on several devices, whose gradients a key-value store sums.
//!
//! This crate does not load data (callers pass iterators), does not define optimizers (callers pass them too) and does not
//! choose backends. It does not print: log lines are `tracing` events, worded as MXNet words them.
//!
//! Read next: [`Module::fit`], [`metric`] for how predictions are judged, [`resume`] for what survives a killed process.

pub mod callback;
pub mod loss;
pub mod metric;
pub mod resume;

mod exchange;
mod host;
mod loss_scaler;
mod module;
mod norm;
mod split;
mod trainer;

pub use exchange::{KvStoreChoice, StoreOptions, server_updater};
pub use host::Host;
pub use loss_scaler::LossScaler;
pub use module::{
    BindFor, CheckpointOptions, FitOptions, FitReport, InitOptions, Module, ModuleNames, Outcome, load_initializer,
};
pub use mxrs_kvstore::{Compression, KvStore};
pub use mxrs_optim::{Parameter, Updater};
pub use norm::{clip_global_norm, global_norm};
pub use split::{split_and_load, split_data};
pub use trainer::Trainer;
