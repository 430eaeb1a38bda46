//! MXNet's optimizers, which compute new weights from gradients.
//!
//! An [`Optimizer`] has a formula and its settings, an [`Updater`] keeps the states of all parameters by name, and a
//! [`schedule::LrScheduler`] gives the learning rate of each update. The arithmetic is done by operators
//! (`sgd_mom_update`, …), called through [`mxrs_ndarray::Invoke`].
//!
//! This crate does not depend on networks, data, checkpoint files or kernels of operators.
//!
//! ```
//! use mxrs_engine::{Engine, EngineConfig};
//! use mxrs_exec::{BindOptions, Imperative};
//! use mxrs_ndarray::{ArrayContext, NdArray};
//! use mxrs_op::ReferenceBackend;
//! use mxrs_optim::{Parameter, Updater, optimizers::Sgd};
//! use mxrs_storage::{Storage, StorageConfig};
//! use std::sync::Arc;
//!
//! # fn main() -> mxrs_types::Result<()> {
//! let context = ArrayContext::new(Engine::new(EngineConfig::default())?, Storage::new(StorageConfig::default())?);
//! let mut options = BindOptions::new(vec![Arc::new(ReferenceBackend)]);
//! options.ops = mxrs_ops::catalog();
//! let nd = Imperative::new(&context, &options)?;
//!
//! let weight = NdArray::from_slice(&context, [2], &[1.0f32, -1.0])?;
//! let grad = NdArray::from_slice(&context, [2], &[0.5f32, 0.25])?;
//! let fc_weight = Parameter { name: "fc_weight".into(), weight, grad };
//! let mut updater = Updater::new(Sgd { lr: 0.1, momentum: 0.9, ..Sgd::default() });
//! updater.update_all(&nd, &[fc_weight.clone()])?;
//! assert_eq!(fc_weight.weight.to_vec::<f32>()?, [0.95, -1.025]);
//! # Ok(())
//! # }
//! ```
//!
//! Read next: [`optimizers`] for the formulas, `updater.rs` for states, [`schedule`] for learning rates.

mod call;
mod common;
mod compression;
mod config;
mod copies;
mod create;
mod described;
mod mult;
mod optimizer;
pub mod optimizers;
mod pickled;
pub mod schedule;
mod settings;
mod state;
mod states_file;
mod updater;

pub use common::Common;
pub use compression::TwoBit;
pub use create::{NAMES, create};
pub use mult::Multipliers;
pub use optimizer::Optimizer;
#[doc(no_inline)]
pub use optimizers::{Adam, AdamW, Sgd};
pub use settings::{Range, Settings, Value};
pub use state::{Param, State};
pub use states_file::{SavedStates, StatesReading};
pub use updater::{Parameter, Updater};
