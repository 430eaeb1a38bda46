//! The door: one handle for all devices, one pool for each, made at its first use.

use crate::config::{PoolKind, device_word};
use crate::memory::{DeviceMemory, HostMemory, SharedHandle, SharedMemory};
use crate::observer::Watch;
use crate::pool::{Pool, RecordRef, Surroundings};
use crate::pressure::{Pressure, PressureGuard, PressureHooks};
use crate::{Block, ForkGuard, PoolObserver, PoolStats, StorageConfig, Tag, TagStats};
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_sync::{Arc, BriefGuard, BriefLock, OnceLock, Rank};
use mxrs_types::{Device, DeviceKind, DeviceStream, Error, Result};

/// Memory of every device of a process. A clone is another handle to the same pools.
///
/// `cpu` and `cpu_shared` have one pool whatever the id; `gpu` and `cpu_pinned` have one for each id.
#[derive(Clone)]
pub struct Storage {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    config: StorageConfig,
    /// Sorted by device, so `cpu(0)`, which is always there, comes first. Fixed once built: no lock to find a pool.
    slots: Vec<Slot>,
    /// Whether the manager of a kind of device has been announced, by [`announcement_index`].
    announced: [AtomicBool; 4],
    /// No page-locked memory was registered: plain host memory stands in for every `cpu_pinned` id.
    plain_pinned: bool,
    /// No memory of `cpu_shared` was registered: it is memory that other processes can map.
    segments: Option<Arc<SharedMemory>>,
    around: Surroundings,
    /// Held while a pool is put into its slot, and across a fork.
    opening: BriefLock<()>,
}

struct Slot {
    device: Device,
    memory: Arc<dyn DeviceMemory>,
    pool: OnceLock<Arc<Pool>>,
}

/// Collects the devices of a [`Storage`].
pub struct StorageBuilder {
    config: StorageConfig,
    memories: Vec<Arc<dyn DeviceMemory>>,
    observer: Option<Arc<dyn PoolObserver>>,
}

impl StorageBuilder {
    /// Adds the memory of one device, [`DeviceMemory::device`]; the last one given for a device counts.
    #[must_use]
    pub fn device(mut self, memory: Arc<dyn DeviceMemory>) -> Self {
        self.memories.push(memory);
        self
    }

    /// Reports every block to `observer`, from the start until [`Storage::set_observing`] says otherwise.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn PoolObserver>) -> Self {
        self.observer = Some(observer);
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
        let segments = (!given(DeviceKind::CpuShared)).then(|| Arc::new(SharedMemory::new()));
        let shared = segments.clone().map(|segments| segments as Arc<dyn DeviceMemory>);
        for memory in self.memories.into_iter().chain(host).chain(pinned).chain(shared) {
            let slot = Slot { device: pool_device(memory.device()), memory, pool: OnceLock::new() };
            match slots.iter_mut().find(|other| other.device == slot.device) {
                Some(other) => *other = slot,
                None => slots.push(slot),
            }
        }
        slots.sort_by_key(|slot| slot.device);
        let shared = Shared {
            config: self.config,
            slots,
            announced: [(); 4].map(|()| AtomicBool::new(false)),
            plain_pinned,
            segments,
            around: Surroundings {
                watch: Arc::new(Watch::new(self.observer)),
                hooks: Arc::new(PressureHooks::default()),
            },
            // Before the lists of threads of all pools, which are in the order of their ids from 1.
            opening: BriefLock::new(Rank::StorageThreads, 0, ()),
        };
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
        StorageBuilder { config, memories: Vec::new(), observer: None }
    }

    /// The settings.
    pub fn config(&self) -> &StorageConfig {
        &self.shared.config
    }

    /// The devices that have memory here, each in the form its pool goes by.
    pub fn devices(&self) -> impl Iterator<Item = Device> + '_ {
        self.shared.slots.iter().map(|slot| slot.device)
    }

    /// A block of at least `size_bytes` bytes on `device`, for the host or for a stream that knows of nothing before it:
    /// if earlier owners left unfinished work on the memory, the calling thread waits for it. Size 0 gives an empty block
    /// and touches no pool.
    ///
    /// A thread gets back the block of this size class that it freed last, unless another thread had nothing else to take;
    /// after its own come those that were freed elsewhere. Under [`PoolKind::BestFit`] the same, as long as it has not been
    /// joined with its neighbors.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](mxrs_types::ErrorKind::OutOfMemory) if the device has no room, also after all cached
    /// blocks were returned to it; [`ErrorKind::NotBuilt`](mxrs_types::ErrorKind::NotBuilt) if no memory of this device
    /// was registered; otherwise what the device reports.
    #[inline]
    pub fn allocate(&self, device: Device, size_bytes: usize, tag: Tag) -> Result<Block> {
        self.hand_out(device, size_bytes, tag, None)
    }

    /// As [`allocate`](Self::allocate), for work on `stream`: it is made to wait, on the device, for unfinished work of
    /// other streams on the memory; the calling thread does not wait.
    ///
    /// # Errors
    /// As for [`allocate`](Self::allocate).
    pub fn allocate_on(&self, device: Device, size_bytes: usize, tag: Tag, stream: &dyn DeviceStream) -> Result<Block> {
        self.hand_out(device, size_bytes, tag, Some(stream))
    }

    #[inline]
    fn hand_out(
        &self,
        device: Device,
        size_bytes: usize,
        tag: Tag,
        stream: Option<&dyn DeviceStream>,
    ) -> Result<Block> {
        if size_bytes == 0 {
            return Ok(Block::empty(device, tag));
        }
        let pool = self.shared.pool_of(device)?;
        Ok(self.hand_over(pool.allocate(device, size_bytes, tag, stream)?))
    }

    /// See [`open_shared`](Self::open_shared).
    pub(crate) fn map_shared(&self, handle: SharedHandle, tag: Tag) -> Result<Block> {
        let device = Device::cpu_shared(0);
        let Some(segments) = &self.shared.segments else {
            return Err(Error::not_built("opening shared memory", "cpu_shared was given a memory of its own"));
        };
        let pool = self.shared.pool_of(device)?;
        let (ptr, bytes) = segments.open(handle)?;
        Ok(self.hand_over(pool.adopt(ptr, bytes, device, tag)))
    }

    /// The block of a record that has just become live.
    #[inline]
    fn hand_over(&self, record: RecordRef) -> Block {
        // SAFETY: the record is live, and this is its one block.
        let block = unsafe { Block::new(record) };
        if self.shared.around.watch.is_on() {
            self.shared.around.watch.allocated(&block);
        }
        block
    }

    /// Returns all cached blocks of the device's pool to the device ("empty cache") and answers how many bytes that
    /// were. Live blocks stay. A device that was never used has nothing to return.
    pub fn release_all(&self, device: Device) -> u64 {
        self.shared.pool(device).map_or(0, |pool| pool.release_all())
    }

    /// Counters of the device's pool; all 0 if the device was never used.
    pub fn stats(&self, device: Device) -> PoolStats {
        self.shared.pool(device).map_or_else(PoolStats::default, |pool| pool.stats())
    }

    /// What is live on the device's pool, by tag, most bytes first. The bytes add up to
    /// [`PoolStats::live_blocks_bytes`] of the same moment.
    pub fn tags(&self, device: Device) -> Vec<(Tag, TagStats)> {
        self.shared.pool(device).map_or_else(Vec::new, |pool| pool.tags())
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

    /// Runs `hook` when a device refuses a request although all cached blocks were returned to it, so that those who can
    /// do without some memory let go of it; the request is then repeated for the last time. Hooks run on the thread that
    /// asks for memory, in the order they were added, while no lock of the storage is held. A hook may allocate; if that
    /// fails no hook runs again.
    ///
    /// The hook stays until the guard is dropped. If it owns a handle to this storage, that keeps the storage alive.
    pub fn on_pressure(&self, hook: impl Fn(&Pressure) + Send + Sync + 'static) -> PressureGuard {
        self.shared.around.hooks.add(Arc::new(hook))
    }

    /// Whether blocks are reported to the observer given to [`StorageBuilder::observer`]; without one nothing is.
    pub fn set_observing(&self, on: bool) {
        self.shared.around.watch.switch(on);
    }

    /// What keeps the pools whole when the process forks.
    pub fn fork_guard(&self) -> ForkGuard {
        ForkGuard::new(&self.shared)
    }
}

impl Shared {
    #[inline]
    fn slot(&self, device: Device) -> Option<&Slot> {
        if device.kind == DeviceKind::Cpu {
            return self.slots.first();
        }
        let mut device = pool_device(device);
        if device.kind == DeviceKind::CpuPinned && self.plain_pinned {
            device.id = 0;
        }
        self.slots.binary_search_by_key(&device, |slot| slot.device).ok().map(|at| &self.slots[at])
    }

    /// The pool of a device, made at its first use.
    #[inline]
    fn pool_of(&self, device: Device) -> Result<&Arc<Pool>> {
        match self.slot(device) {
            Some(slot) => Ok(match slot.pool.get() {
                Some(pool) => pool,
                None => self.open(slot),
            }),
            None => Err(self.unknown(device)),
        }
    }

    /// The memory behind `cpu_shared`, where other processes can map it.
    pub(crate) fn segments(&self) -> Option<&SharedMemory> {
        self.segments.as_deref()
    }

    /// The pool of a device, if it has been used.
    fn pool(&self, device: Device) -> Option<&Arc<Pool>> {
        self.slot(device)?.pool.get()
    }

    #[cold]
    fn unknown(&self, device: Device) -> Error {
        let known: Vec<_> = self.slots.iter().map(|slot| slot.device.to_string()).collect();
        let reason = format!("no such device is registered (known: {})", known.join(", "));
        Error::not_built(format!("memory of {device}"), reason)
    }

    /// No pool is opened while the guard exists.
    pub(crate) fn lock_opening(&self) -> BriefGuard<'_, ()> {
        self.opening.lock()
    }

    /// The pools in use.
    pub(crate) fn open_pools(&self) -> Vec<Arc<Pool>> {
        self.slots.iter().filter_map(|slot| slot.pool.get().cloned()).collect()
    }

    /// Makes the pool of a slot. It is made outside `get_or_init` because it asks the device for its size, and no lock
    /// may be held meanwhile; of two threads one pool wins and the other, still empty, is dropped.
    #[cold]
    fn open<'a>(&self, slot: &'a Slot) -> &'a Arc<Pool> {
        let kind = slot.device.kind;
        let mut config = self.config.pool(kind);
        if self.config.naive_storage_manager {
            config.kind = PoolKind::Unpooled;
        }
        let mut fresh = Pool::new(slot.device, Arc::clone(&slot.memory), &config, self.around.clone());
        if let (DeviceKind::CpuShared, Some(segments)) = (kind, &self.segments) {
            fresh = fresh.with_segments(Arc::clone(segments));
        }
        let mut fresh = Some(Arc::new(fresh));
        let opening = self.opening.lock();
        let pool = slot.pool.get_or_init(|| match fresh.take() {
            Some(fresh) => fresh,
            None => unreachable!("the pool was put in its place twice"),
        });
        drop(opening);
        // If another one was put there, this one ends now, and gives addresses up: not before, under the lock.
        drop(fresh);
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

impl Drop for Shared {
    /// The last handle goes: from here on each block looks after its pool.
    fn drop(&mut self) {
        self.slots.iter().filter_map(|slot| slot.pool.get()).for_each(Pool::orphan);
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
