//! The memory of `cpu_shared`: each block is a segment of its own, which any number of processes may map.
//!
//! The pool's statistics count a block of another process, once this process has opened it, like a block that this process
//! created. So they count mappings.

use super::segment::SharedSegment;
use super::{SharedHandle, SharedId};
use crate::memory::{DeviceMemory, HostMemory, MemoryInfo, refused};
use mxrs_sync::{BriefGuard, BriefLock, Rank};
use mxrs_types::{Device, Result};
use rustc_hash::FxHashMap;
use std::ptr::NonNull;

/// The memory of `cpu_shared`; the head of this module explains it.
pub(crate) struct SharedMemory {
    /// Host memory, used only for its free and total bytes.
    machine: HostMemory,
    /// The mappings. In the order of locks this lock comes last: a thread that forks already holds the locks of all pools
    /// when it takes this one.
    mapped: BriefLock<Mapped>,
}

/// Mappings by the address of their data.
type Mapped = FxHashMap<usize, SharedSegment>;

/// The list of mappings, held across a fork.
pub(crate) type HeldSegments = BriefGuard<'static, Mapped>;

impl SharedMemory {
    pub(crate) fn new() -> Self {
        let machine = HostMemory::new(Device::cpu_shared(0));
        Self { machine, mapped: BriefLock::new(Rank::Storage, u64::MAX, Mapped::default()) }
    }

    /// Maps the segment of `handle`, which another owner has created; returns the address and the length of its data.
    /// [`DeviceMemory::free`] ends the mapping.
    pub(crate) fn open(&self, handle: SharedHandle) -> Result<(NonNull<u8>, usize)> {
        SharedSegment::open(handle).map(|segment| self.enter(segment))
    }

    fn enter(&self, segment: SharedSegment) -> (NonNull<u8>, usize) {
        let (ptr, bytes) = (segment.data(), segment.len());
        self.mapped.lock().insert(ptr.addr().get(), segment);
        (ptr, bytes)
    }

    /// Calls `ask` with the mapping that starts at `ptr`.
    fn with<T>(&self, ptr: NonNull<u8>, ask: impl FnOnce(&SharedSegment) -> T) -> Option<T> {
        self.mapped.lock().get(&ptr.addr().get()).map(ask)
    }

    pub(crate) fn id(&self, ptr: NonNull<u8>) -> Option<SharedId> {
        self.with(ptr, SharedSegment::id)
    }

    pub(crate) fn handle(&self, ptr: NonNull<u8>) -> Option<Result<SharedHandle>> {
        self.with(ptr, SharedSegment::handle)
    }

    pub(crate) fn mappings(&self, ptr: NonNull<u8>) -> Option<u32> {
        self.with(ptr, SharedSegment::count)
    }

    /// Keeps mappings from being added or removed while the guard exists.
    pub(crate) fn hold(&self) -> BriefGuard<'_, Mapped> {
        self.mapped.lock()
    }
}

// SAFETY: every segment is a mapping of its own, whose data starts 64 bytes after the start of a page. It stays valid
// until `free` removes it from the list, and belongs to the process and not to a thread.
unsafe impl DeviceMemory for SharedMemory {
    fn device(&self) -> Device {
        Device::cpu_shared(0)
    }

    fn allocate(&self, size_bytes: usize) -> Result<NonNull<u8>> {
        // The system allocates the memory of a segment immediately, and kills processes if there is too little memory. So a
        // size above the total memory is refused here.
        let fits = size_bytes as u64 <= self.info().total;
        match if fits { SharedSegment::create(size_bytes)? } else { None } {
            Some(segment) => Ok(self.enter(segment).0),
            None => Err(refused(self.device(), size_bytes)),
        }
    }

    unsafe fn free(&self, ptr: NonNull<u8>, _size_bytes: usize) {
        let segment = self.mapped.lock().remove(&ptr.addr().get());
        debug_assert!(segment.is_some(), "{ptr:p} is not a shared block");
        // The segment is unmapped after the lock is released.
        drop(segment);
    }

    fn info(&self) -> MemoryInfo {
        self.machine.info()
    }
}
