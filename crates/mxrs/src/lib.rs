//! The door: one crate to depend on, with a [`Runtime`] assembled from all the others.
//!
//! Thin on purpose: it turns the environment into settings and hands them down, chooses the backends of this build, and
//! brings checkpoint and executor together. It does not know how anything works, holds no kernel and no algorithm, and
//! it keeps no global state: two runtimes with different settings live side by side.
//!
//! ```
//! use mxrs::{Model, Runtime};
//!
//! # let prefix = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/digits/lenet");
//! let runtime = Runtime::from_env()?;
//! // `<prefix>-symbol.json` and `<prefix>-0010.params`, as MXNet wrote them.
//! let model = Model::load(&runtime, prefix, 10)?;
//! let predictor = model.predictor(2, &[1, 28, 28])?;
//!
//! let images = vec![0.5_f32; 2 * 28 * 28];
//! let probabilities = predictor.predict(&images)?;
//! assert_eq!(probabilities.len(), 2 * 10);
//! assert!((probabilities[..10].iter().sum::<f32>() - 1.0).abs() < 1e-5);
//! # Ok::<(), mxrs::Error>(())
//! ```
//!
//! Cargo features: `onednn` (default) compiles oneDNN and links it; `onednn-dynamic` loads `libdnnl.so.3` at run time
//! instead. Without either, inference in float32 has kernels of mxrs' own; fully-connected layers in training and products of 8-bit
//! integers run on the reference kernels, slowly, and a warning says so.
//!
//! # Requests at the same time
//!
//! A [`Model`] is bound once for each request that may be under way: what it is bound to shares its parameters and packed
//! weights, and has an input, outputs and temporaries of its own, for one thread at a time. As many run at once as the engine has
//! workers (`MXNET_CPU_WORKER_NTHREADS`). They have one team of threads (`OMP_NUM_THREADS`): who finds it taken computes alone.
//! So a team of one and a worker for each core give each request a core; one worker and a large team give one request after the
//! other all of them.
//!
//! ```
//! use mxrs::env::MapSource;
//! use mxrs::{Model, Runtime};
//!
//! # let prefix = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/digits/lenet");
//! let a_core_each = MapSource::new([("OMP_NUM_THREADS", "1"), ("MXNET_CPU_WORKER_NTHREADS", "2")]);
//! let runtime = Runtime::builder().env(&a_core_each).build()?;
//! let model = Model::load(&runtime, prefix, 10)?;
//! let predictors = [model.predictor(1, &[1, 28, 28])?, model.predictor(1, &[1, 28, 28])?];
//!
//! let image = [0.5_f32; 28 * 28];
//! let [one, other] = std::thread::scope(|scope| {
//!     let requests = predictors.each_ref().map(|predictor| scope.spawn(move || predictor.predict(&image)));
//!     requests.map(|request| request.join().expect("no panic"))
//! });
//! assert_eq!(one?, other?);
//! # Ok::<(), mxrs::Error>(())
//! ```
//!
//! Read next: [`Runtime`], then the layer of your question: [`exec`] for how a graph runs, [`ops`] for what an operator
//! does, [`mod@env`] for what a variable means.

pub use mxrs_data as data;
pub use mxrs_engine as engine;
pub use mxrs_env as env;
pub use mxrs_exec as exec;
pub use mxrs_format as format;
pub use mxrs_graph as graph;
pub use mxrs_models as models;
pub use mxrs_ndarray as ndarray;
pub use mxrs_onnx as onnx;
pub use mxrs_op as op;
pub use mxrs_ops as ops;
pub use mxrs_optim as optim;
pub use mxrs_quantize as quantize;
pub use mxrs_storage as storage;
pub use mxrs_symbol as symbol;
pub use mxrs_sync as sync;
pub use mxrs_train as train;
pub use mxrs_types as types;

mod backends;
mod capabilities;
mod image_team;
mod later;
mod model;
mod partitioning;
mod predictor;
pub mod prelude;
mod runtime;
pub mod settings;
mod tuning;

pub use backends::{AbsentBackend, Backends, LoadedBackend};
pub use capabilities::env_page;
pub use model::{BoundModel, Model};
pub use mxrs_backend_nnpack::Weights;
#[doc(inline)]
pub use mxrs_ops::layers;
pub use mxrs_types::{Error, Result};
pub use predictor::Predictor;
pub use runtime::{Runtime, RuntimeBuilder};
pub use settings::Winograd;
