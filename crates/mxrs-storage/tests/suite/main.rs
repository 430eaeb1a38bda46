//! Tests the pools through the public interface, on simulated devices: documented settings, invariants, failures, threads.
//!
//! Unsafe code: the tests write through blocks to check that no two share a byte, and one implements a faulty device.
#![allow(unsafe_code)]

mod best_fit;
mod best_fit_cases;
mod best_fit_front;
mod best_fit_streams;
mod concurrency;
mod env_rows;
mod every_nth;
mod failures;
mod fork;
mod invariants;
mod log_capture;
mod properties;
mod records;
mod reports;
mod streams;
mod threads;

use mxrs_simulated_gpu::SimulatedMemory;
use mxrs_storage::{Block, PoolConfig, PoolKind, Storage, StorageConfig, Tag};
use mxrs_types::Device;
use std::sync::Arc;

const MIB: u64 = 1 << 20;

/// The three kinds of device that have pool settings.
const DEVICES: [Device; 3] = [Device::cpu(0), Device::gpu(0), Device::cpu_pinned(0)];

/// The kinds of pool that MXNet has; the `best_fit` modules test the fourth.
const MANUAL: [PoolKind; 3] = [PoolKind::Naive, PoolKind::Round, PoolKind::Unpooled];

/// Simulated memory of any device, with nothing behind its addresses.
fn addresses_only(device: Device, total_bytes: u64) -> SimulatedMemory {
    // SAFETY: the tests that use this memory only count blocks and compare addresses; tests that write use other memory.
    unsafe { SimulatedMemory::new(device, total_bytes).unbacked_host() }
}

/// A storage on simulated devices.
struct Bench {
    storage: Storage,
    memories: Vec<Arc<SimulatedMemory>>,
}

impl Bench {
    /// Makes a storage with all three devices, each with `total_bytes` bytes whose addresses have no memory behind them.
    fn new(config: StorageConfig, total_bytes: u64) -> Self {
        Self::of(config, DEVICES.map(|device| addresses_only(device, total_bytes)))
    }

    /// Calls [`Bench::new`] with the settings `pool` for every device.
    fn uniform(pool: PoolConfig, total_bytes: u64) -> Self {
        Self::new(StorageConfig::uniform(pool), total_bytes)
    }

    fn of(config: StorageConfig, memories: impl IntoIterator<Item = SimulatedMemory>) -> Self {
        let memories: Vec<_> = memories.into_iter().map(Arc::new).collect();
        let builder = memories.iter().cloned().fold(Storage::builder(config), |builder, memory| builder.device(memory));
        Self { storage: builder.build().unwrap(), memories }
    }

    fn memory(&self, device: Device) -> &SimulatedMemory {
        use mxrs_storage::DeviceMemory;
        self.memories.iter().find(|memory| memory.device() == device).unwrap()
    }

    fn allocate(&self, device: Device, size_bytes: usize) -> Block {
        self.storage.allocate(device, size_bytes, Tag::new("test")).unwrap()
    }
}

/// The default settings, except that `device` has the settings `pool`.
fn only(device: Device, pool: PoolConfig) -> StorageConfig {
    let mut config = StorageConfig::default();
    match device {
        Device { kind: mxrs_types::DeviceKind::Gpu, .. } => config.gpu = pool,
        Device { kind: mxrs_types::DeviceKind::CpuPinned, .. } => config.cpu_pinned = pool,
        _ => config.cpu = pool,
    }
    config
}
