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
//! # Devices
//! An array lives on one device: host memory of some kind, or a device that is registered with the
//! [context](ArrayContext::builder), whose memory the host cannot access. This crate does not know which devices exist: it
//! copies by the interface [`DeviceCopies`]. Copies between any two devices are engine tasks on the copy workers, through
//! pinned memory where needed, and are ordered by events of the devices. The host waits for a device in two cases only: a
//! caller that reads a value waits, and so does the task that copies a value to host memory that is not pinned.
//!
//! Memory can also come from another process ([`NdArray::open_shared`]), from other code ([`NdArray::from_foreign`]), or
//! from a library that supports DLPack ([`NdArray::from_dlpack`]).
//!
//! Read next: `mxrs-exec`, which runs graphs over these arrays.
#![allow(unsafe_code)]
// Unsafe code is needed because storage returns raw blocks of memory. `array` and `later.rs` make slices of a block only in
// two cases: inside an engine task that reads or writes the array's variable, or for an array that was just made and has no
// other handle. `array/copies.rs` gives addresses to the copies of a device, in tasks that use the variables of both arrays.
// `array/foreign.rs` uses memory of other code; `dlpack.rs` and `array/dlpack.rs` use structures of C. `memory.rs` makes
// slices of a block that does not belong to an array yet. `writes.rs` keeps a `&'static Location` in an atomic pointer.

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
