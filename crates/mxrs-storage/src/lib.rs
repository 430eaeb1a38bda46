//! Where tensor bytes come from: device memory behind one trait, and the pools that reuse its blocks.
//!
//! Knows nothing of tensors, operators, the engine or the environment: it is given a [`StorageConfig`] and asked for
//! bytes. A pool is a rounding policy (which size a request gets) × a container of freed blocks × a [`DeviceMemory`], with
//! a cache for each thread in front, so that a hit shares nothing with other threads. [`PoolKind::BestFit`] is the container
//! that cuts blocks out of longer ranges and joins them again; `cpu_shared` is memory that other processes can map.
//!
//! What a pool promises (S1 to S13 are the numbers the tests quote):
//! - S1, S2: blocks start at a multiple of [`ALIGNMENT`] and do not overlap.
//! - S3: `reserved` is live plus cached bytes, and what the device says; everything goes back in the end.
//! - S4, S5: a request is rounded to its class, and gets the block of that class that its thread freed last; one that
//!   another thread has is found before the device is asked.
//! - S6, S7: [`Storage::release_all`] returns every cached block, on whatever thread it is, and no live one;
//!   [`Block::free_directly`] bypasses the cache.
//! - S8: the pool grows into its reserve only when nothing is cached.
//! - S9: a block that a stream may still use ([`Block::used_by`]) is waited for, by the next stream on the device, by the
//!   host where there is none.
//! - S10: no lock is held while a device, an event, a hook or an observer is called.
//! - S11: a failed allocation is a value, with the figures one needs, and changes nothing.
//! - S13: an observer ([`StorageBuilder::observer`]) sees as many frees as allocations.
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
//! Read next: [`Storage`] for use, the source of `pool` for the steps and the rules of the protocol, [`DeviceMemory`] to add
//! a device, [`SimulatedMemory`] to test against one that fails on command; `docs/design/0004-cache-layout.md` for why it is
//! built this way.
//!
//! Unsafe code: a block is raw memory, mapped, handed out and returned by hand. `memory` asks the system, for
//! memory shared with other processes too; `pool` calls [`DeviceMemory::free`] exactly once per allocation and
//! [`GrowableMemory`] for whole units that nobody uses, shares the records of blocks between threads under its locks, and
//! counts the references to a pool itself; `fork_guard` keeps locks held over the end of a function; [`Block`] is `Send` and
//! `Sync`.
#![allow(unsafe_code)]

mod block;
mod config;
mod fork_guard;
mod memory;
mod observer;
mod pool;
mod pressure;
mod shared_block;
mod stats;
mod storage;
mod tag;

pub use block::Block;
pub use config::{PoolConfig, PoolKind, StorageConfig};
pub use fork_guard::ForkGuard;
pub use memory::{
    DeviceMemory, GrowableMemory, HostMemory, MemoryInfo, SharedHandle, SharedId, SimulatedCall, SimulatedCounters,
    SimulatedMemory, return_freed_heap,
};
pub use observer::{PoolEvent, PoolObserver};
pub use pressure::{Pressure, PressureGuard};
pub use stats::{PoolStats, TagStats};
pub use storage::{Storage, StorageBuilder};
pub use tag::Tag;

/// Every block starts at a multiple of this many bytes, on every device.
pub const ALIGNMENT: usize = 64;
