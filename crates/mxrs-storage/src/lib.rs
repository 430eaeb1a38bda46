//! Memory for tensors: device memory behind one trait, and pools that reuse its blocks.
//!
//! This crate does not know tensors, operators, the engine or the environment: it gets a [`StorageConfig`] and requests
//! for bytes. A pool is a rounding policy (the size that a request gets) × a container of freed blocks × a
//! [`DeviceMemory`], with a cache per thread in front, so that a hit shares no data with other threads.
//! [`PoolKind::BestFit`] has a container that cuts blocks out of longer ranges and joins them again; `cpu_shared` is
//! memory that other processes can map.
//!
//! Guarantees of a pool; tests cite the numbers S1 to S13:
//! - S1, S2: blocks start at a multiple of [`ALIGNMENT`] and do not overlap.
//! - S3: `reserved` is the sum of live and cached bytes and agrees with the device; in the end all memory is returned.
//! - S4, S5: a request is rounded to its size class, and gets the block of that class that its thread freed last. A
//!   block that another thread has cached is found before the device is asked.
//! - S6, S7: [`Storage::release_all`] returns the cached blocks of all threads, and no live block;
//!   [`Block::free_directly`] bypasses the cache.
//! - S8: the pool uses the part of the device's memory that it should leave free (the *reserve*) only if nothing is
//!   cached.
//! - S9: before a block that a stream may still use ([`Block::used_by`]) is reused, the next stream waits for that work
//!   on the device; if there is no next stream, the host waits, or the new owner gets the events
//!   ([`Storage::allocate_with_events`]).
//! - S10: no lock is held while a device, an event or a hook is called, or a record is made.
//! - S11: a failed allocation returns an error with the figures that explain it, and changes nothing.
//! - S12: memory of `cpu_shared` is freed exactly once, by the process that made it, whatever other processes do.
//! - S13: while memory is recorded (`mxrs_trace::Kinds::MEMORY`), each block is recorded when an owner gets it and when it
//!   is freed, and so is the memory that a pool gets and returns.
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
//! a device; the crate `mxrs-simulated-gpu` for a device that fails on command; `docs/design/0004-cache-layout.md` for why
//! it is built this way.
//!
//! Unsafe code: a block is raw memory that is mapped, handed out and returned by hand. `memory` asks the system for
//! memory, including memory shared with other processes. `pool` calls [`DeviceMemory::free`] exactly once per
//! allocation and [`GrowableMemory`] for whole unused units, shares the records of blocks between threads under its
//! locks, and counts the references to a pool itself. `fork_guard` holds locks beyond the end of a function. [`Block`]
//! is `Send` and `Sync`.
#![allow(unsafe_code)]

mod block;
mod config;
mod fork_guard;
mod memory;
mod pool;
mod pressure;
mod records;
mod shared_block;
mod stats;
mod storage;
mod tag;

pub use block::Block;
pub use config::{PoolConfig, StorageConfig};
pub use fork_guard::ForkGuard;
pub use memory::{
    DeviceCopies, DeviceMemory, GrowableMemory, HostMemory, MemoryInfo, SharedHandle, SharedId, return_freed_heap,
};
pub use mxrs_types::PoolKind;
pub use pressure::{Pressure, PressureGuard};
pub use stats::{PoolStats, TagStats};
pub use storage::{Storage, StorageBuilder};
pub use tag::Tag;

/// Every block starts at a multiple of this many bytes, on every device.
pub const ALIGNMENT: usize = 64;
