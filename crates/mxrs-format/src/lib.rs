//! MXNet's file formats: parameter lists (`.params`), npy and npz, RecordIO with `.idx` and `.lst`; also ONNX models,
//! safetensors, and results of kernel tuning. Symbol files are in `mxrs-symbol`, which has graphs.
//!
//! Every reader is bounded: it makes sure that bytes exist before it allocates memory for them, checks all arithmetic on
//! sizes, and reports broken input as an [`mxrs_types::Error`] with an offset and a category. Every writer is exact: a file
//! of MXNet that is read and written again is equal byte for byte, and a crash never leaves a partial file ([`AtomicFile`]).
//!
//! The crate contains no graphs, operators, devices or computation: arrays are plain host memory ([`Tensor`]), and images
//! are encoded bytes.
//!
//! ```
//! use mxrs_format::{ArrayFile, Arrays, Options, Tensor};
//!
//! let list = ArrayFile::named([("arg:w".to_string(), Tensor::from_slice([2, 2], &[1.0f32, 2.0, 3.0, 4.0])?)]);
//! let bytes = list.to_params_bytes()?;
//! let back = ArrayFile::from_bytes(&bytes, &Options::default())?.value;
//! let Arrays::Named(tensors) = back.arrays else { unreachable!("it was written with names") };
//! assert_eq!(tensors["arg:w"].as_slice::<f32>()?, &[1.0, 2.0, 3.0, 4.0]);
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Read next: [`params`] for the most common file, [`reader`] for the rules of all readers.

mod array_file;
mod atomic_write;
mod byte_order;
mod bytes;
mod leftovers;
mod options;
mod read_file;
mod tensor;

pub mod fault;
pub mod npy;
pub mod npz;
#[cfg(feature = "onnx")]
pub mod onnx;
pub mod params;
pub mod pickle;
pub mod reader;
pub mod recordio;
pub mod safetensors;
pub mod tuning;

pub use array_file::{ArrayFile, Arrays, FileKind};
pub use atomic_write::{AtomicFile, write_atomically};
pub use bytes::{AlignedBytes, Lender, Lent};
pub use leftovers::remove_leftovers;
pub use options::{Limits, Loaded, Options, Warnings};
pub use params::Checkpoint;
pub use read_file::read_file;
pub use tensor::{Csr, Dense, Element, RowSparse, Tensor};
