//! The vocabulary of all mxrs crates: [`Shape`], [`DType`], [`Device`], [`Layout`], [`WriteReq`], [`Error`].
//!
//! This crate does not know threads, files, the environment or the memory of tensors, and contains no unsafe code.
//!
//! ```
//! use mxrs_types::{DType, Device, Shape};
//!
//! let images = Shape::from([32, 3, 224, 224]);
//! assert_eq!(images.n_elements(), 32 * 3 * 224 * 224);
//! assert_eq!(DType::F16.size_of(), 2);
//! assert_eq!(Device::cpu(0).to_string(), "cpu(0)");
//! ```
//!
//! Read next: `mxrs-op`, which uses these types to define operators and backends.

pub mod bfloat16;
mod device;
mod dtype;
mod error;
mod format_error;
mod layout;
mod partial_shape;
mod shape;
mod storage_type;
mod stream;
pub mod two_bit;
mod words;
mod write_req;

pub use device::{Device, DeviceKind};
pub use dtype::{DType, Float};
pub use error::{Error, ErrorKind, Result, ResultExt};
pub use format_error::FormatErrorKind;
pub use layout::Layout;
pub use partial_shape::PartialShape;
pub use shape::Shape;
pub use storage_type::StorageType;
pub use stream::{DeviceEvent, DeviceStream, StreamId};
pub use words::{EngineKind, EngineType, GpuSync, PoolKind};
pub use write_req::WriteReq;
