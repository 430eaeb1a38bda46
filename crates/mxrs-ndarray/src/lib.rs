//! Arrays: a block of storage, an engine variable that orders its readers and writers, a shape and a dtype.
//!
//! Knows no operator and no graph. A handle is cheap to clone; a view ([`NdArray::slice`], [`NdArray::reshape`]) is a
//! new handle on the same storage and writes go through. Reading from the host waits for pending writes and delivers
//! the deferred error of the operator that failed to produce the value.
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
// Storage hands out raw blocks. `array.rs` turns them into slices only inside an engine task that holds the variable,
// or after waiting while holding the only path that could push another writer; `later.rs` does so too. `memory.rs` has a block that no
// array has yet. `writes.rs` keeps a `&'static Location` in
// an atomic pointer.

mod array;
mod context;
mod element;
mod later;
mod memory;
mod random;
mod recorded;
mod temp_space;
mod writes;

pub use array::NdArray;
pub use context::{ArrayContext, ResourceCounts};
pub use element::Element;
pub use later::Reading;
pub use memory::ArrayMemory;
pub use random::{RandomCalls, RandomCopies, RandomSource, RandomState};
pub use recorded::{Recorded, ViewOf};
pub use temp_space::{TempSpace, TempSpaceCounts, TempSpaces};
