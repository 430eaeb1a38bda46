//! Arrays: a block of storage, an engine variable that orders its readers and writers, a shape and a dtype.
//!
//! This crate does not know operators or graphs. A handle is cheap to clone; a view ([`NdArray::slice`],
//! [`NdArray::reshape`]) is a new handle to the same storage, and writes through it are visible in the array. Reading
//! on the host waits for pending writes, and returns the deferred error of the operator that failed to produce the
//! value.
//!
//! ```
//! use mxrs_engine::{Engine, EngineConfig};
//! use mxrs_ndarray::{ArrayContext, NdArray};
//! use mxrs_storage::{Storage, StorageConfig};
//!
//! # fn main() -> mxrs_types::Result<()> {
//! let context = ArrayContext::new(Engine::new(EngineConfig::default())?, Storage::new(StorageConfig::default())?);
//! let a = NdArray::from_slice(&context, [2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let row = a.slice(1, 2)?;
//! row.copy_from(&[7.0f32, 8.0, 9.0])?;
//! assert_eq!(a.to_vec::<f32>()?, [1.0, 2.0, 3.0, 7.0, 8.0, 9.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Read next: `mxrs-exec`, which runs graphs over these arrays.
#![allow(unsafe_code)]
// Unsafe code is needed because storage returns raw blocks of memory. `array.rs` and `later.rs` make slices of a block
// only in two cases: inside an engine task that reads or writes the array's variable, or for an array that was just
// made and has no other handle. `memory.rs` makes slices of a block that does not belong to an array yet. `writes.rs`
// keeps a `&'static Location` in an atomic pointer.

mod array;
mod context;
mod device;
mod dlpack;
mod element;
mod invoke;
mod later;
mod memory;
mod random;
mod recorded;
mod temp_space;
mod writes;

pub use array::NdArray;
pub use context::{ArrayContext, ArrayContextBuilder, ResourceCounts};
pub use dlpack::{DlDataType, DlDevice, DlManagedTensor, DlTensor, Dlpack};
pub use element::Element;
pub use invoke::Invoke;
pub use later::Reading;
pub use memory::ArrayMemory;
pub use mxrs_storage::DeviceCopies;
pub use random::{RandomCalls, RandomCopies, RandomSource, RandomState};
pub use recorded::{Recorded, ViewOf};
pub use temp_space::{TempSpace, TempSpaceCounts, TempSpaces};
