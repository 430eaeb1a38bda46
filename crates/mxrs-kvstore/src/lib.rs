//! Key-value stores: arrays by key that are summed over devices, as gradients are in training.
//!
//! A program pushes the values of all devices for a key. The store sums them, in an order that is fixed by the devices and
//! not by which value is ready first. It then replaces its value by the sum, or updates its value by an [`Updater`]. A pull
//! copies the value to the devices. The names of stores, the verbs and every rounding are those of MXNet's kvstore.
//!
//! This crate does not know networks, optimizers, operators, executors, files or the environment: it is given arrays, an
//! updater and [`KvStoreOptions`].
//!
//! ```
//! use mxrs_engine::{Engine, EngineConfig};
//! use mxrs_kvstore::{KvStoreOptions, StoreRegistry, Value};
//! use mxrs_ndarray::{ArrayContext, NdArray};
//! use mxrs_storage::{Storage, StorageConfig};
//! use mxrs_types::{DType, Device};
//!
//! # fn main() -> mxrs_types::Result<()> {
//! let context = ArrayContext::new(Engine::new(EngineConfig::default())?, Storage::new(StorageConfig::default())?);
//! let store = StoreRegistry::new().create("device", &context, &KvStoreOptions::default())?;
//! store.init(&[("weight".into(), NdArray::zeros(&context, [2], DType::F32)?)])?;
//!
//! let on = |id| NdArray::empty(&context, [2], DType::F32, Device::cpu(id), "gradient");
//! let gradients = [on(0)?, on(1)?];
//! gradients[0].copy_from(&[1.0f32, 2.0])?;
//! gradients[1].copy_from(&[10.0f32, 20.0])?;
//! store.push(&gradients.each_ref().map(|gradient| ("weight".into(), Value::from(gradient))), 0)?;
//! store.pull(&gradients.each_ref().map(|gradient| ("weight".into(), gradient.clone())), 0)?;
//! assert_eq!(gradients[1].to_vec::<f32>()?, [11.0, 22.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Read next: [`KvStore`] for the verbs, [`StoreType`] for the names, [`Order`] for the order of additions, [`tree`] for
//! sums that follow the links between GPUs.

// Unsafe code is needed because arrays return raw pointers. `reduce` makes slices of arrays inside engine tasks that hold
// the arrays' variables, and `sum` adds the elements behind the pointers that such a task passes on. `dist` and
// `served` read and write arrays from tasks, and from the thread that completes such a task.
#![allow(unsafe_code)]

pub mod bandwidth;
mod compression;
pub mod dist;
mod in_process;
mod key;
mod name;
mod options;
mod reduce;
mod registry;
pub mod served;
mod store;
mod sum;
pub mod tree;
mod updater;
mod value;

pub use compression::{Compression, DEFAULT_THRESHOLD};
pub use key::Key;
pub use name::{Family, NAMES, StoreType};
pub use options::{KvStoreOptions, LinkSource, SumWatch};
pub use registry::{Constructor, StoreRegistry};
pub use store::{KvStore, Residual, RowPull};
pub use sum::{Order, SUMMED, SumThreads, is_summed};
pub use updater::{MakeUpdater, ReadStates, ServedValue, ServerUpdater, Update, Updater, UpdaterSettings};
pub use value::{RowSparse, Value};
