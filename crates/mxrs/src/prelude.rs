//! The names that most programs need, for `use mxrs::prelude::*`.
//!
//! ```
//! use mxrs::prelude::*;
//!
//! fn main() -> mxrs::Result<()> {
//!     let nd = Runtime::from_env()?.imperative()?;
//!     let x = nd.array([2, 2], &[1.0_f32, 2.0, 3.0, 4.0])?;
//!     let y = (2.0 * &x - 1.0).tanh()?;
//!     println!("{y}");
//!     assert_eq!(y.shape()?[..], [2, 2]);
//!     Ok(())
//! }
//! ```

pub use crate::{Model, Predictor, Runtime};
pub use mxrs_exec::{Array, Imperative, autograd};
#[cfg(feature = "models")]
pub use mxrs_models::{Initializer, NetBuilder};
pub use mxrs_ops::layers;
pub use mxrs_types::{DType, Device, Shape};

#[cfg(feature = "data")]
pub use mxrs_data::{DataBatch, DataIter};
#[cfg(feature = "train")]
pub use mxrs_optim::{Adam, AdamW, Sgd, Updater};
#[cfg(feature = "train")]
pub use mxrs_train::{BindFor, FitOptions, Module, Trainer, callback::Callbacks, metric};
