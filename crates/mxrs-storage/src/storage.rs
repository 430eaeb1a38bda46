//! The storage: one handle for all devices. Each device has a pool, which is made at its first use.

use crate::config::device_word;
use crate::memory::{DeviceMemory, HostMemory, SharedHandle, SharedMemory};
use crate::pool::{Pool, RecordRef, WaitBy};
use crate::pressure::{Pressure, PressureGuard, PressureHooks};
use crate::{Block, ForkGuard, PoolStats, StorageConfig, Tag, TagStats, records};
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_sync::{Arc, BriefGuard, BriefLock, OnceLock, Rank};
use mxrs_types::PoolKind;
use mxrs_types::{Device, DeviceEvent, DeviceKind, DeviceStream, Error, Result};

/// The memory of all devices of a process. A clone is another handle to the same pools.
///
/// `cpu` and `cpu_shared` have one pool for all ids; `gpu` and `cpu_pinned` have one for each id.
#[derive(Clone)]
pub struct Storage {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    config: StorageConfig,
    /// One slot for each pool, sorted by device: `cpu(0)`, which always exists, comes first. The list never changes, so
    /// finding a pool takes no lock.
    slots: Vec<Slot>,
    /// Whether the kind of pool of each kind of device has been logged; indexed by [`announcement_index`].
    announced: [AtomicBool; 4],
    /// Whether plain host memory replaces every `cpu_pinned` id, because no page-locked memory was registered.
    plain_pinned: bool,
    /// Memory that other processes can map, if no memory of `cpu_shared` was registered.
    segments: Option<Arc<SharedMemory>>,
    /// What runs if memory is short; shared by all pools.
    hooks: Arc<PressureHooks>,
    /// Held while a pool is put into its slot, and across a fork.
    opening: BriefLock<()>,
}

struct Slot {
    device: Device,
    memory: Arc<dyn DeviceMemory>,
    pool: OnceLock<Arc<Pool>>,
}

/// Builds a [`Storage`] from the memory of its devices.
pub struct StorageBuilder {
    config: StorageConfig,
    memories: Vec<Arc<dyn DeviceMemory>>,
}

impl StorageBuilder {
    /// Adds the memory of one device, which is [`DeviceMemory::device`]. If a device is added twice, the last memory is
    /// used.
    #[must_use]
    pub fn device(mut self, memory: Arc<dyn DeviceMemory>) -> Self {
        self.memories.push(memory);
        self
    }

    /// Builds the storage. If no memory of `cpu` was added, it uses the host's memory. If none of `cpu_pinned` was added, it
    /// uses plain host memory with the settings of `cpu_pinned`. If none of `cpu_shared` was added, it uses memory that
    /// other processes can map (on Linux; on other systems an allocation returns an error).
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
            hooks: Arc::new(PressureHooks::default()),
            // This lock is taken before the locks of the pools' lists of threads. Those have the same rank but higher
            // numbers: the ids of their pools, which start at 1.
            opening: BriefLock::new(Rank::StorageThreads, 0, ()),
        };
        Ok(Storage { shared: Arc::new(shared) })
    }
}

impl Storage {
    /// Makes a storage for a process without accelerators: host memory only.
    ///
    /// # Errors
    /// [`ErrorKind::Env`](mxrs_types::ErrorKind::Env) if a setting is out of range, see [`StorageConfig::validate`].
    pub fn new(config: StorageConfig) -> Result<Self> {
        Self::builder(config).build()
    }

    /// Starts to build a storage with devices chosen by the caller.
    pub fn builder(config: StorageConfig) -> StorageBuilder {
        StorageBuilder { config, memories: Vec::new() }
    }

    /// The settings of the pools.
    pub fn config(&self) -> &StorageConfig {
        &self.shared.config
    }

    /// The devices of this storage, each in the form that identifies its pool (`cpu(0)` for every `cpu` id).
    pub fn devices(&self) -> impl Iterator<Item = Device> + '_ {
        self.shared.slots.iter().map(|slot| slot.device)
    }

    /// Allocates at least `size_bytes` bytes on `device`, for use by the host or by any stream: if earlier owners left
    /// unfinished work on the memory, the calling thread waits for that work. Size 0 returns an empty block and uses no
    /// pool.
    ///
    /// A thread gets the block of this size class that it freed last, unless another thread took that block. If it has no
    /// such block, it gets a block that another thread freed. Under [`PoolKind::BestFit`] this order holds only for blocks
    /// that have not been joined with their neighbors.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](mxrs_types::ErrorKind::OutOfMemory) if the device has not enough memory, even after
    /// all cached blocks were returned to it; [`ErrorKind::NotBuilt`](mxrs_types::ErrorKind::NotBuilt) if no memory of
    /// this device was registered; otherwise the device's error.
    #[inline]
    pub fn allocate(&self, device: Device, size_bytes: usize, tag: Tag) -> Result<Block> {
        self.hand_out(device, size_bytes, tag, WaitBy::Host)
    }

    /// [`allocate`](Self::allocate) for work on `stream`. The stream waits, on the device, for unfinished work of other
    /// streams on the memory; the calling thread does not wait.
    ///
    /// # Errors
    /// The same as for [`allocate`](Self::allocate).
    pub fn allocate_on(&self, device: Device, size_bytes: usize, tag: Tag, stream: &dyn DeviceStream) -> Result<Block> {
        self.hand_out(device, size_bytes, tag, WaitBy::Stream(stream))
    }

    /// [`allocate`](Self::allocate) that waits for nothing: also returns the events of earlier owners' unfinished work on
    /// the memory. The caller must not use the memory, and no stream may, before these events are finished.
    ///
    /// # Errors
    /// The same as for [`allocate`](Self::allocate).
    pub fn allocate_with_events(
        &self,
        device: Device,
        size_bytes: usize,
        tag: Tag,
    ) -> Result<(Block, Vec<Arc<dyn DeviceEvent>>)> {
        let mut events = Vec::new();
        let block = self.hand_out(device, size_bytes, tag, WaitBy::Owner(&mut events))?;
        Ok((block, events))
    }

    #[inline]
    fn hand_out(&self, device: Device, size_bytes: usize, tag: Tag, wait_by: WaitBy<'_>) -> Result<Block> {
        if size_bytes == 0 {
            return Ok(Block::empty(device, tag));
        }
        let pool = self.shared.pool_of(device)?;
        Ok(self.hand_over(pool.allocate(device, size_bytes, tag, wait_by)?))
    }

    /// Opens a shared block; see [`open_shared`](Self::open_shared).
    pub(crate) fn map_shared(&self, handle: SharedHandle, tag: Tag) -> Result<Block> {
        let device = Device::cpu_shared(0);
        let Some(segments) = &self.shared.segments else {
            return Err(Error::not_built("opening shared memory", "cpu_shared was given a memory of its own"));
        };
        let pool = self.shared.pool_of(device)?;
        let (ptr, bytes) = segments.open(handle)?;
        Ok(self.hand_over(pool.adopt(ptr, bytes, device, tag)))
    }

    /// Makes the block of a record that has just become live.
    #[inline]
    fn hand_over(&self, record: RecordRef) -> Block {
        // SAFETY: the record is live, and this is the only block made from it.
        let block = unsafe { Block::new(record) };
        if records::are_on() {
            records::allocated(&block);
        }
        block
    }

    /// Gives all cached blocks of the device's pool back to the device ("empty cache"). Returns the number of their bytes.
    /// Live blocks stay. A device that was never used has no cached blocks.
    pub fn release_all(&self, device: Device) -> u64 {
        self.shared.pool(device).map_or(0, |pool| pool.release_all())
    }

    /// Counters of the device's pool; all 0 if the device was never used.
    pub fn stats(&self, device: Device) -> PoolStats {
        self.shared.pool(device).map_or_else(PoolStats::default, |pool| pool.stats())
    }

    /// Live memory of the device's pool by tag, most bytes first. The bytes add up to [`PoolStats::live_blocks_bytes`]
    /// at the same moment.
    pub fn tags(&self, device: Device) -> Vec<(Tag, TagStats)> {
        self.shared.pool(device).map_or_else(Vec::new, |pool| pool.tags())
    }

    /// Each pool that was used: the device that identifies it, and its counters.
    pub fn stats_all(&self) -> Vec<(Device, PoolStats)> {
        let used = |slot: &Slot| slot.pool.get().map(|pool| (slot.device, pool.stats()));
        self.shared.slots.iter().filter_map(used).collect()
    }

    /// Resets the peaks of the device's pool to the current values.
    pub fn reset_peaks(&self, device: Device) {
        if let Some(pool) = self.shared.pool(device) {
            pool.reset_peaks();
        }
    }

    /// Runs `hook` if a device refuses a request although all cached blocks were returned to it, so that dispensable memory
    /// can be released; then the request is repeated one last time. Hooks run on the thread that requests memory, in the
    /// order in which they were added, while no lock of the storage is held. A hook may allocate memory; if such an
    /// allocation fails, no hooks run for it.
    ///
    /// The hook stays registered until the guard is dropped. If it owns a handle to this storage, it keeps the storage
    /// alive.
    pub fn on_pressure(&self, hook: impl Fn(&Pressure) + Send + Sync + 'static) -> PressureGuard {
        self.shared.hooks.add(Arc::new(hook))
    }

    /// A guard that keeps the pools consistent while the process forks.
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

    /// The pool of a device; makes the pool if this is the first use of the device.
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

    /// The memory of `cpu_shared`, if other processes can map it.
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

    /// Keeps pools from being opened while the guard exists.
    pub(crate) fn lock_opening(&self) -> BriefGuard<'_, ()> {
        self.opening.lock()
    }

    /// The pools that have been opened.
    pub(crate) fn open_pools(&self) -> Vec<Arc<Pool>> {
        self.slots.iter().filter_map(|slot| slot.pool.get().cloned()).collect()
    }

    /// Makes the pool of a slot. This happens outside `get_or_init`, because the pool queries the device, and no lock may be
    /// held meanwhile. If two threads make a pool for the same slot, one of the pools is stored, and the other, still empty,
    /// is dropped.
    #[cold]
    fn open<'a>(&self, slot: &'a Slot) -> &'a Arc<Pool> {
        let kind = slot.device.kind;
        let mut config = self.config.pool(kind);
        if self.config.naive_storage_manager {
            config.kind = PoolKind::Unpooled;
        }
        let mut fresh = Pool::new(slot.device, Arc::clone(&slot.memory), &config, Arc::clone(&self.hooks));
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
        // If another thread stored its pool first, this thread's pool is dropped here, after the lock is released, and
        // unreserves its addresses.
        drop(fresh);
        // Shared memory is never pooled, so there is no kind of pool to log.
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
    /// Orphans the pools when the last handle is dropped: from then on each live block keeps its pool alive.
    fn drop(&mut self) {
        self.slots.iter().filter_map(|slot| slot.pool.get()).for_each(Pool::orphan);
    }
}

/// The device whose pool serves `device`: all ids of `cpu` share one pool, as do all ids of `cpu_shared`.
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
