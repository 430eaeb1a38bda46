//! The door: one handle for all devices, one pool for each, made at its first use.

use crate::config::{PoolKind, device_word};
use crate::memory::{DeviceMemory, HostMemory};
use crate::pool::AnyPool;
use crate::sync::{Arc, AtomicBool, OnceLock, Ordering};
use crate::{Block, PoolStats, StorageConfig, Tag};
use mxrs_types::{Device, DeviceKind, Error, Result};

/// Memory of every device of a process. A clone is another handle to the same pools.
///
/// `cpu` and `cpu_shared` have one pool whatever the id; `gpu` and `cpu_pinned` have one for each id.
#[derive(Clone)]
pub struct Storage {
    shared: Arc<Shared>,
}

struct Shared {
    config: StorageConfig,
    /// Sorted by device, so `cpu(0)`, which is always there, comes first. Fixed once built: no lock to find a pool.
    slots: Vec<Slot>,
    /// Whether the manager of a kind of device has been announced, by [`announcement_index`].
    announced: [AtomicBool; 4],
    /// No page-locked memory was registered: plain host memory stands in for every `cpu_pinned` id.
    plain_pinned: bool,
    /// No memory of `cpu_shared` was registered: it is memory that other processes can map.
    maps_shared: bool,
}

struct Slot {
    device: Device,
    memory: Arc<dyn DeviceMemory>,
    pool: OnceLock<AnyPool>,
}

/// Collects the devices of a [`Storage`].
pub struct StorageBuilder {
    config: StorageConfig,
    memories: Vec<Arc<dyn DeviceMemory>>,
}

impl StorageBuilder {
    /// Adds the memory of one device, [`DeviceMemory::device`]; the last one given for a device counts.
    #[must_use]
    pub fn device(mut self, memory: Arc<dyn DeviceMemory>) -> Self {
        self.memories.push(memory);
        self
    }

    /// The storage. Where no memory of `cpu` was given it is the host's; where none of `cpu_pinned` was given, plain
    /// host memory stands in for it, still with the settings of `cpu_pinned`; where none of `cpu_shared` was given, it is
    /// memory that other processes can map (on Linux; elsewhere an allocation says that it is not built).
    ///
    /// # Errors
    /// [`ErrorKind::Env`](mxrs_types::ErrorKind::Env) if a setting is out of range, see [`StorageConfig::validate`].
    pub fn build(self) -> Result<Storage> {
        self.config.validate()?;
        let mut slots: Vec<Slot> = Vec::new();
        let given = |kind| self.memories.iter().any(|memory| memory.device().kind == kind);
        let plain_pinned = !given(DeviceKind::CpuPinned);
        let host: Option<Arc<dyn DeviceMemory>> =
            (!given(DeviceKind::Cpu)).then(|| Arc::new(HostMemory::new(Device::cpu(0))) as _);
        let pinned: Option<Arc<dyn DeviceMemory>> =
            plain_pinned.then(|| Arc::new(HostMemory::new(Device::cpu_pinned(0))) as _);
        let maps_shared = !given(DeviceKind::CpuShared);
        let shared: Option<Arc<dyn DeviceMemory>> =
            maps_shared.then(|| Arc::new(HostMemory::new(Device::cpu_shared(0))) as _);
        for memory in self.memories.into_iter().chain(host).chain(pinned).chain(shared) {
            let slot = Slot { device: pool_device(memory.device()), memory, pool: OnceLock::new() };
            match slots.iter_mut().find(|other| other.device == slot.device) {
                Some(other) => *other = slot,
                None => slots.push(slot),
            }
        }
        slots.sort_by_key(|slot| slot.device);
        let shared = Shared { config: self.config, slots, announced: Default::default(), plain_pinned, maps_shared };
        Ok(Storage { shared: Arc::new(shared) })
    }
}

impl Storage {
    /// Storage of a process without accelerators: host memory only.
    ///
    /// # Errors
    /// [`ErrorKind::Env`](mxrs_types::ErrorKind::Env) if a setting is out of range, see [`StorageConfig::validate`].
    pub fn new(config: StorageConfig) -> Result<Self> {
        Self::builder(config).build()
    }

    /// Storage with devices of the caller's choice.
    pub fn builder(config: StorageConfig) -> StorageBuilder {
        StorageBuilder { config, memories: Vec::new() }
    }

    /// The settings.
    pub fn config(&self) -> &StorageConfig {
        &self.shared.config
    }

    /// The devices that have memory here, each in the form its pool goes by.
    pub fn devices(&self) -> impl Iterator<Item = Device> + '_ {
        self.shared.slots.iter().map(|slot| slot.device)
    }

    /// A block of at least `size_bytes` bytes on `device`. Size 0 gives an empty block and touches no pool.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](mxrs_types::ErrorKind::OutOfMemory) if the device has no room, also after all cached
    /// blocks were returned to it; [`ErrorKind::NotBuilt`](mxrs_types::ErrorKind::NotBuilt) if no memory of this device
    /// was registered; otherwise what the device reports.
    pub fn allocate(&self, device: Device, size_bytes: usize, tag: Tag) -> Result<Block> {
        if size_bytes == 0 {
            return Ok(Block::empty(device, tag));
        }
        self.pool_of(device)?.allocate(device, size_bytes, tag)
    }

    /// The pool of a device, made at its first use.
    pub(crate) fn pool_of(&self, device: Device) -> Result<&AnyPool> {
        let Some(slot) = self.shared.slot(device) else {
            let known: Vec<_> = self.devices().map(|device| device.to_string()).collect();
            let reason = format!("no such device is registered (known: {})", known.join(", "));
            return Err(Error::not_built(format!("memory of {device}"), reason));
        };
        Ok(slot.pool.get().unwrap_or_else(|| self.shared.open(slot)))
    }

    /// Returns all cached blocks of the device's pool to the device ("empty cache") and answers how many bytes that
    /// were. Live blocks stay. A device that was never used has nothing to return.
    pub fn release_all(&self, device: Device) -> u64 {
        self.shared.pool(device).map_or(0, AnyPool::release_all)
    }

    /// Counters of the device's pool; all 0 if the device was never used.
    pub fn stats(&self, device: Device) -> PoolStats {
        self.shared.pool(device).map_or_else(PoolStats::default, AnyPool::stats)
    }

    /// Counters of every pool that was used, by the device it goes by.
    pub fn stats_all(&self) -> Vec<(Device, PoolStats)> {
        let used = |slot: &Slot| slot.pool.get().map(|pool| (slot.device, pool.stats()));
        self.shared.slots.iter().filter_map(used).collect()
    }

    /// Makes the peaks of the device's pool start again from the present figures.
    pub fn reset_peaks(&self, device: Device) {
        if let Some(pool) = self.shared.pool(device) {
            pool.reset_peaks();
        }
    }
}

impl Shared {
    fn slot(&self, device: Device) -> Option<&Slot> {
        let mut device = pool_device(device);
        if device.kind == DeviceKind::Cpu {
            return self.slots.first();
        }
        if device.kind == DeviceKind::CpuPinned && self.plain_pinned {
            device.id = 0;
        }
        self.slots.binary_search_by_key(&device, |slot| slot.device).ok().map(|at| &self.slots[at])
    }

    /// The pool of a device, if it has been used.
    fn pool(&self, device: Device) -> Option<&AnyPool> {
        self.slot(device)?.pool.get()
    }

    /// Makes the pool of a slot. It is made outside `get_or_init` because it asks the device for its size, and no lock
    /// may be held meanwhile; of two threads one pool wins and the other, still empty, is dropped.
    #[cold]
    fn open<'a>(&self, slot: &'a Slot) -> &'a AnyPool {
        let kind = slot.device.kind;
        let mut config = self.config.pool(kind);
        if self.config.naive_storage_manager {
            config.kind = PoolKind::Unpooled;
        }
        let fresh = match kind {
            DeviceKind::CpuShared if self.maps_shared => AnyPool::new_shared(Arc::clone(&slot.memory)),
            _ => AnyPool::new(slot.device, Arc::clone(&slot.memory), &config),
        };
        let pool = slot.pool.get_or_init(|| fresh);
        // Shared memory is never pooled, so there is nothing to choose and nothing to announce.
        let first = !self.announced[announcement_index(kind)].swap(true, Ordering::Relaxed);
        if first && kind != DeviceKind::CpuShared {
            let manager = match config.kind {
                _ if self.config.naive_storage_manager => "Naive".to_owned(),
                PoolKind::Unpooled => "Unpooled".to_owned(),
                pooled => format!("Pooled ({pooled})"),
            };
            tracing::info!(target: "mxrs_storage", "Using {manager} StorageManager for {}", device_word(kind));
        }
        pool
    }
}

/// The device whose pool serves `device`: ids of plain host memory do not matter.
const fn pool_device(device: Device) -> Device {
    match device.kind {
        DeviceKind::Cpu | DeviceKind::CpuShared => Device { kind: device.kind, id: 0 },
        DeviceKind::Gpu | DeviceKind::CpuPinned => device,
    }
}

const fn announcement_index(kind: DeviceKind) -> usize {
    match kind {
        DeviceKind::Cpu => 0,
        DeviceKind::Gpu => 1,
        DeviceKind::CpuPinned => 2,
        DeviceKind::CpuShared => 3,
    }
}
