//! Where tensor bytes come from: device memory behind one trait, and the pools that reuse its blocks.
//!
//! Knows nothing of tensors, operators, the engine or the environment: it is given a [`StorageConfig`] and asked for
//! bytes. A pool is a rounding policy (which size a request gets) × a container of freed blocks × a [`DeviceMemory`]; or,
//! as [`PoolKind::BestFit`], a heap of address ranges over one. `cpu_shared` is memory that other processes can map.
//!
//! ```
//! use mxrs_storage::{Storage, StorageConfig, Tag};
//! use mxrs_types::Device;
//!
//! let storage = Storage::new(StorageConfig::default())?;
//! let block = storage.allocate(Device::cpu(0), 10_000, Tag::new("conv0_weight"))?;
//! assert_eq!((block.len(), block.block_bytes()), (10_000, 12_288)); // whole pages of 4096 bytes
//!
//! let address = block.as_ptr();
//! drop(block); // back into the pool …
//! let again = storage.allocate(Device::cpu(0), 9_000, Tag::default())?;
//! assert_eq!(again.as_ptr(), address); // … and out again, without asking the system
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Read next: [`Storage`] for use, the source of `pool` for the algorithm, [`DeviceMemory`] to add a device,
//! [`SimulatedMemory`] to test against one that fails on command.
//!
//! Unsafe code: a block is raw memory, mapped, handed out and returned by hand. Three places do it: `memory` (asks the
//! system, for memory shared with other processes too), `pool` (calls [`DeviceMemory::free`] exactly once per allocation,
//! and [`GrowableMemory`] for whole units that nobody uses) and the `Send`/`Sync` of [`Block`].
#![allow(unsafe_code)]

mod block;
mod config;
mod memory;
mod pool;
mod shared_block;
mod stats;
mod storage;
mod sync;
mod tag;

pub use block::Block;
pub use config::{PoolConfig, PoolKind, StorageConfig};
pub use memory::{
    DeviceMemory, GrowableMemory, HostMemory, MemoryInfo, SharedHandle, SharedId, SimulatedCall, SimulatedCounters,
    SimulatedMemory,
};
pub use stats::PoolStats;
pub use storage::{Storage, StorageBuilder};
pub use tag::Tag;

/// Every block starts at a multiple of this many bytes, on every device.
pub const ALIGNMENT: usize = 64;
