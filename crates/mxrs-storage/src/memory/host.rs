//! Host memory: small requests from the process's allocator, large ones as separate mappings with huge pages.

use super::system_probe::SystemProbe;
use super::{DeviceMemory, GrowableMemory, MemoryInfo, refused};
use crate::ALIGNMENT;
use mxrs_sync::atomic::{AtomicU64, Ordering};
use mxrs_types::{Device, Result};
use std::alloc::Layout;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// Requests of at least this many bytes get a mapping of their own, aligned to this size and advised to use huge pages.
/// The last huge page of a longer mapping is excluded from the advice if more than a 16th of it was not requested but
/// added by the pool's rounding.
pub(super) const LARGE_BYTES: usize = 2 << 20;

/// Requests of at least this many bytes, below [`LARGE_BYTES`], are allocated zeroed with only the alignment that the
/// process's allocator guarantees. The allocator then takes fresh memory from the system, which is zero already. With a
/// larger alignment it would write the zeros itself.
const UNTOUCHED_BYTES: usize = 128 << 10;

/// The alignment that the process's allocator guarantees by itself.
const HEAP_ALIGNMENT: usize = 16;

/// The system's figures of free memory are used for this long before they are read again.
const INFO_INTERVAL: Duration = Duration::from_millis(100);

/// The memory of this machine, or the part of it that the process's control group may use.
///
/// Free memory is what could be used without swapping, so page cache that can be dropped counts as free. The system's
/// figures are read at most every 100 ms; in between, memory that this object allocates and frees is taken into
/// account.
pub struct HostMemory {
    device: Device,
    probe: SystemProbe,
    started: Instant,
    /// The time at which the figures should be read again, in milliseconds after `started`.
    probe_due_ms: AtomicU64,
    total: AtomicU64,
    /// Free bytes at the last reading, plus the bytes that this object had allocated at that time. The free bytes now are
    /// this number minus `granted`.
    ceiling: AtomicU64,
    /// Bytes that this object has allocated and not yet freed.
    granted: AtomicU64,
}

impl HostMemory {
    /// Host memory that reports `device` as its device: `cpu(0)`, or another one if plain memory replaces page-locked
    /// memory.
    pub fn new(device: Device) -> Self {
        Self::with_probe(device, SystemProbe::default())
    }

    fn with_probe(device: Device, probe: SystemProbe) -> Self {
        let info = probe.read();
        Self {
            device,
            probe,
            started: Instant::now(),
            probe_due_ms: AtomicU64::new(INFO_INTERVAL.as_millis() as u64),
            total: AtomicU64::new(info.total),
            ceiling: AtomicU64::new(info.free),
            granted: AtomicU64::new(0),
        }
    }
}

impl Default for HostMemory {
    /// The memory of `cpu(0)`.
    fn default() -> Self {
        Self::new(Device::cpu(0))
    }
}

// SAFETY: memory comes from the process's allocator, aligned to `ALIGNMENT` by its layout or by `align_within`, or from
// a separate mapping. Allocations are disjoint, stay valid until freed, and are not tied to a thread.
unsafe impl DeviceMemory for HostMemory {
    fn device(&self) -> Device {
        self.device
    }

    fn allocate(&self, size_bytes: usize) -> Result<NonNull<u8>> {
        self.allocate_for(size_bytes, size_bytes)
    }

    fn allocate_for(&self, size_bytes: usize, used_bytes: usize) -> Result<NonNull<u8>> {
        let ptr = host_allocate(size_bytes, used_bytes).ok_or_else(|| refused(self.device, size_bytes))?;
        self.granted.fetch_add(size_bytes as u64, Ordering::Relaxed);
        Ok(ptr)
    }

    unsafe fn free(&self, ptr: NonNull<u8>, size_bytes: usize) {
        self.granted.fetch_sub(size_bytes as u64, Ordering::Relaxed);
        // SAFETY: the caller promises that `ptr` came from `allocate(size_bytes)`, which is `host_allocate`.
        unsafe { host_free(ptr, size_bytes) };
    }

    fn info(&self) -> MemoryInfo {
        let now_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let due_ms = self.probe_due_ms.load(Ordering::Relaxed);
        let next_ms = now_ms.saturating_add(INFO_INTERVAL.as_millis() as u64);
        // Only the thread that sets the next due time reads the system's figures; other threads continue with the old
        // figures.
        if now_ms >= due_ms
            && self.probe_due_ms.compare_exchange(due_ms, next_ms, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        {
            let granted = self.granted.load(Ordering::Relaxed);
            let info = self.probe.read();
            self.total.store(info.total, Ordering::Relaxed);
            self.ceiling.store(info.free.saturating_add(granted), Ordering::Relaxed);
        }
        let total = self.total.load(Ordering::Relaxed);
        let granted = self.granted.load(Ordering::Relaxed);
        MemoryInfo { free: self.ceiling.load(Ordering::Relaxed).saturating_sub(granted).min(total), total }
    }

    fn growable(&self) -> Option<&dyn GrowableMemory> {
        #[cfg(all(target_os = "linux", not(miri)))]
        return Some(self);
        #[cfg(not(all(target_os = "linux", not(miri))))]
        None
    }
}

/// A unit has the size of a huge page, which the system is advised to use.
#[cfg(all(target_os = "linux", not(miri)))]
impl GrowableMemory for HostMemory {
    fn unit_bytes(&self) -> usize {
        LARGE_BYTES
    }

    fn reserve(&self, size_bytes: usize) -> Option<NonNull<u8>> {
        super::reservation::reserve(size_bytes)
    }

    unsafe fn commit(&self, ptr: NonNull<u8>, size_bytes: usize) -> Result<()> {
        // SAFETY: the caller guarantees whole units of a reservation that have no memory.
        if !unsafe { super::reservation::commit(ptr, size_bytes) } {
            return Err(refused(self.device, size_bytes));
        }
        self.granted.fetch_add(size_bytes as u64, Ordering::Relaxed);
        Ok(())
    }

    unsafe fn decommit(&self, ptr: NonNull<u8>, size_bytes: usize) {
        self.granted.fetch_sub(size_bytes as u64, Ordering::Relaxed);
        // SAFETY: the caller guarantees whole units of a reservation that nothing uses.
        unsafe { super::reservation::decommit(ptr, size_bytes) };
    }

    unsafe fn unreserve(&self, ptr: NonNull<u8>, size_bytes: usize) {
        // SAFETY: the caller guarantees a reservation of this length that nothing uses.
        unsafe { super::reservation::unreserve(ptr, size_bytes) };
    }
}

/// Allocates zeroed host memory of at least `size_bytes` bytes, of which `used_bytes` were requested, at a multiple of
/// [`ALIGNMENT`]; `None` if there is not enough.
pub(super) fn host_allocate(size_bytes: usize, used_bytes: usize) -> Option<NonNull<u8>> {
    #[cfg(all(target_os = "linux", not(miri)))]
    if size_bytes >= LARGE_BYTES {
        return super::mapping::map(size_bytes, used_bytes);
    }
    let _ = used_bytes;
    let layout = host_layout(size_bytes)?;
    // Zeroed, so that a fresh array is readable memory even before it is written; a recycled block was written by an
    // earlier owner.
    // SAFETY: the layout has a size of at least 1.
    let start = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) })?;
    Some(if layout.align() == HEAP_ALIGNMENT { align_within(start) } else { start })
}

/// The first multiple of [`ALIGNMENT`] after the start of an allocation of [`host_layout`] that has only the heap's
/// alignment. The distance from the start is stored in the word before the returned address.
fn align_within(start: NonNull<u8>) -> NonNull<u8> {
    let ahead = ALIGNMENT - start.addr().get() % ALIGNMENT;
    // SAFETY: the allocation is `ALIGNMENT` bytes longer than requested, and `HEAP_ALIGNMENT <= ahead <= ALIGNMENT`
    // because `start` is a multiple of `HEAP_ALIGNMENT`. So the word fits between `start` and the returned address, and
    // the requested bytes fit after it.
    unsafe {
        let memory = start.add(ahead);
        memory.cast::<usize>().sub(1).write(ahead);
        memory
    }
}

/// Frees memory of [`host_allocate`].
///
/// # Safety
/// `ptr` came from `host_allocate(size_bytes, …)` with the same size and is freed once.
pub(super) unsafe fn host_free(ptr: NonNull<u8>, size_bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    if size_bytes >= LARGE_BYTES {
        // SAFETY: `host_allocate` maps requests of this size; the caller guarantees the same size and a single call.
        return unsafe { super::mapping::unmap(ptr, size_bytes) };
    }
    if let Some(layout) = host_layout(size_bytes) {
        // SAFETY: `host_allocate` computed the same layout from the same size for this pointer. If that layout has only
        // the heap's alignment, `align_within` stored the distance from the start in the word before `ptr`.
        unsafe {
            let ahead = if layout.align() == HEAP_ALIGNMENT { ptr.cast::<usize>().sub(1).read() } else { 0 };
            std::alloc::dealloc(ptr.sub(ahead).as_ptr(), layout);
        }
    }
}

/// The layout to request from the process's allocator. Its alignment is less than [`ALIGNMENT`] if [`align_within`]
/// aligns the memory afterwards.
fn host_layout(size_bytes: usize) -> Option<Layout> {
    if (UNTOUCHED_BYTES..LARGE_BYTES).contains(&size_bytes) {
        return Layout::from_size_align(size_bytes + ALIGNMENT, HEAP_ALIGNMENT).ok();
    }
    let align = if size_bytes >= LARGE_BYTES { 4096 } else { ALIGNMENT };
    Layout::from_size_align(size_bytes.max(1), align).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn memory_is_aligned_and_can_be_written() {
        let memory = HostMemory::default();
        for size in [
            1,
            63,
            4096,
            UNTOUCHED_BYTES - 1,
            UNTOUCHED_BYTES,
            1 << 20,
            LARGE_BYTES - 1,
            LARGE_BYTES,
            LARGE_BYTES + 1,
            5_000_000,
        ] {
            let ptr = memory.allocate(size).unwrap();
            let expected = if size >= LARGE_BYTES { 4096 } else { ALIGNMENT };
            assert!(ptr.addr().get().is_multiple_of(expected), "{size}");
            // SAFETY: the allocation has `size` bytes, and no other code has its address.
            unsafe {
                ptr.write_bytes(0x5a, size);
                assert_eq!(ptr.add(size - 1).read(), 0x5a);
                memory.free(ptr, size);
            }
        }
        assert_eq!(memory.granted.load(Ordering::Relaxed), 0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri takes memory of its own for every allocation, and ends where there is none")]
    fn impossible_sizes_are_errors() {
        let memory = HostMemory::default();
        for size in [usize::MAX, usize::MAX - LARGE_BYTES, isize::MAX as usize, 1 << 60] {
            assert!(memory.allocate(size).is_err(), "{size}");
        }
    }

    #[test]
    fn figures_are_kept_between_readings_and_grants_are_reckoned_in() {
        let dir = tempfile::tempdir().unwrap();
        let meminfo = dir.path().join("meminfo");
        fs::write(&meminfo, "MemTotal: 1000000 kB\nMemAvailable: 800000 kB\n").unwrap();
        let memory = HostMemory::with_probe(Device::cpu(0), SystemProbe::at(dir.path(), dir.path()));
        // A due time far in the future simulates "less than 100 ms have passed", even on a slow machine.
        memory.probe_due_ms.store(u64::MAX, Ordering::Relaxed);
        fs::write(&meminfo, "MemTotal: 1000000 kB\nMemAvailable: 300000 kB\n").unwrap();
        assert_eq!(memory.info(), MemoryInfo { free: 800_000 << 10, total: 1_000_000 << 10 });

        let ptr = memory.allocate(1 << 20).unwrap();
        assert_eq!(memory.info().free, (800_000 << 10) - (1 << 20));
        memory.probe_due_ms.store(0, Ordering::Relaxed);
        assert_eq!(memory.info().free, 300_000 << 10);
        // SAFETY: allocated above with this size, and not used.
        unsafe { memory.free(ptr, 1 << 20) };
        assert!(memory.probe_due_ms.load(Ordering::Relaxed) >= 100);
    }
}
