//! The facade of mxrs: the one crate to depend on, with a [`Runtime`] that combines all others.
//!
//! It converts the environment into settings for the other crates, chooses the backends of this build, and connects
//! checkpoints with executors. It contains no kernels, no algorithms and no global state: several runtimes with different
//! settings can exist in one process.
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
//! Cargo features, all on by default but `grpc` and those of oneDNN:
//!
//! | feature | adds |
//! |---|---|
//! | `data` | iterators over training data, images, record files |
//! | `kvstore` | key-value stores, which sum gradients over devices |
//! | `mpi` | stores of several machines, by an MPI library that is found at run time; needs `kvstore` |
//! | `grpc` | servers that keep and update values, for the store `dist_async`; needs `train` |
//! | `models` | the networks of MXNet's examples, and initial values |
//! | `train` | optimizers, the module and its loop, metrics, checkpoints; needs `data`, `kvstore` and `models` |
//! | `onnx` | ONNX models: from graphs and back, and run with named inputs of any type |
//! | `profiler` | the profiler: traces, tables and reports of where time and memory go |
//! | `quantize` | quantization of trained networks |
//! | `onednn` | kernels of oneDNN, compiled from source by a C++ compiler |
//! | `onednn-dynamic` | the same kernels from a `libdnnl.so.3` that is found at run time, or that `MXRS_ONEDNN_LIB` names |
//!
//! Without oneDNN, float32 inference uses kernels of mxrs. Fully-connected layers in training and products of 8-bit integers
//! then run on the slow reference kernels, and a warning says so.
//!
//! # Requests at the same time
//!
//! For requests at the same time, bind a [`Model`] once per request. The bound models share the model's parameters and
//! packed weights. Each has its own input, outputs and temporary memory, and may be used by one thread at a time. The engine
//! runs as many of them at the same time as it has workers (`MXNET_CPU_WORKER_NTHREADS`). All workers share one team of
//! threads (`OMP_NUM_THREADS`): a worker that finds the team in use computes on its own thread only. So a team of one thread
//! and one worker per core give each request one core; one worker and a large team process one request after the other, each
//! on all cores.
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
//! Read next: [`Runtime`], then the crate for your question: [`exec`] for how a graph runs, [`ops`] for what an operator
//! does, [`mod@env`] for what a variable means.

#[cfg(feature = "kvstore")]
mod asynchronous;
mod backends;
mod capabilities;
mod device;
#[cfg(feature = "kvstore")]
mod distributed;
mod exports;
#[cfg(feature = "data")]
mod image_team;
mod later;
mod model;
#[cfg(feature = "onnx")]
mod onnx_model;
mod partitioning;
mod predictor;
pub mod prelude;
#[cfg(feature = "profiler")]
mod profiling;
#[cfg(feature = "quantize")]
mod quantizing;
mod runtime;
pub mod settings;
#[cfg(feature = "kvstore")]
mod stores;
#[cfg(feature = "train")]
mod training;
mod tuning;
mod typed;

pub use backends::{AbsentBackend, Backends, LoadedBackend};
pub use capabilities::env_page;
pub use device::DevicePlug;
#[cfg(feature = "data")]
pub use exports::data;
#[cfg(feature = "kvstore")]
pub use exports::kvstore;
#[cfg(feature = "models")]
pub use exports::models;
#[cfg(feature = "onnx")]
pub use exports::onnx;
#[cfg(feature = "profiler")]
pub use exports::profiler;
#[cfg(feature = "quantize")]
pub use exports::quantize;
pub use exports::{engine, env, exec, format, graph, ndarray, op, ops, storage, symbol, types};
#[cfg(feature = "train")]
pub use exports::{optim, train};
pub use model::{BoundModel, Model};
#[doc(inline)]
pub use mxrs_ops::layers;
pub use mxrs_types::{Error, Result};
#[cfg(feature = "onnx")]
pub use onnx_model::{BoundOnnxModel, OnnxInput, OnnxModel};
pub use predictor::Predictor;
pub use runtime::{Runtime, RuntimeBuilder};
pub use settings::{Weights, Winograd};
