//! Memory whose addresses fault when the host touches them.
//!
//! There are two mappings of the same length. The first has no pages and no access: its addresses are the device's. The
//! second has the bytes: the byte of the device address `start + n` is the byte `n` of the second mapping. Copies and
//! launches use the second mapping, which [`HiddenMemory::reach`] finds; code that takes a device address for memory of the
//! host gets a fault.

use mxrs_storage::{DeviceMemory, GrowableMemory, MemoryInfo};
use mxrs_sync::Mutex;
use mxrs_types::{Device, Error, Result};
use std::collections::BTreeMap;
use std::ptr::NonNull;

/// Allocations begin at multiples of this many bytes.
const PAGE_BYTES: usize = 4096;

/// Units of reserved ranges have this many bytes, as those of host memory.
const UNIT_BYTES: usize = 2 << 20;

const PRIVATE: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

/// Memory of one device.
pub(super) struct HiddenMemory {
    device: Device,
    total_bytes: u64,
    /// The mapping without access.
    addresses: NonNull<u8>,
    /// The mapping with the bytes.
    bytes: NonNull<u8>,
    /// The length of both mappings.
    len: usize,
    /// Lengths of free pieces, by offset. No two of them touch.
    free: Mutex<BTreeMap<usize, usize>>,
}

// SAFETY: the mappings belong to the process, and only the owner of this value unmaps them, once. Their lengths and
// addresses never change.
unsafe impl Send for HiddenMemory {}
// SAFETY: a shared reference gives access to constants and to the list of free pieces, which has a lock.
unsafe impl Sync for HiddenMemory {}

impl HiddenMemory {
    /// Maps memory for `device`, with twice as many addresses as bytes, so that an allocation finds a long enough range of
    /// addresses even if the free ranges are fragmented.
    ///
    /// # Errors
    /// Fails if the system refuses the addresses.
    pub(super) fn new(device: Device, total_bytes: u64) -> Result<Self> {
        let refused = || Error::out_of_memory(device, total_bytes, "the system refuses to reserve the addresses");
        let bytes = usize::try_from(total_bytes).ok().and_then(|bytes| bytes.checked_mul(2)).ok_or_else(refused)?;
        let len = bytes.checked_next_multiple_of(UNIT_BYTES).and_then(|len| len.checked_add(UNIT_BYTES));
        let len = len.ok_or_else(refused)?;
        let addresses = map(len, libc::PROT_NONE).ok_or_else(refused)?;
        let Some(bytes) = map(len, libc::PROT_READ | libc::PROT_WRITE) else {
            // SAFETY: the mapping was just made with this length, and nothing has its address.
            unsafe { libc::munmap(addresses.as_ptr().cast(), len) };
            return Err(refused());
        };
        Ok(Self { device, total_bytes, addresses, bytes, len, free: Mutex::new(BTreeMap::from([(0, len)])) })
    }

    /// The address in the second mapping at which the byte of a device address is; `None` for an address of other memory.
    pub(super) fn reach(&self, address: *mut u8) -> Option<*mut u8> {
        let offset = address.addr().checked_sub(self.addresses.addr().get())?;
        (offset < self.len).then(|| self.bytes.as_ptr().wrapping_add(offset))
    }

    /// Takes the first free piece that is long enough; its device address is a multiple of `align`.
    fn take(&self, size_bytes: usize, align: usize) -> Option<NonNull<u8>> {
        let size = size_bytes.checked_next_multiple_of(PAGE_BYTES)?;
        let mut free = self.free.lock();
        let base = self.addresses.addr().get();
        let (start, len, at) = free.iter().find_map(|(&start, &len)| {
            let at = (base + start).checked_next_multiple_of(align)? - base;
            (at.checked_add(size)? <= start + len).then_some((start, len, at))
        })?;
        free.remove(&start);
        if at > start {
            free.insert(start, at - start);
        }
        if at + size < start + len {
            free.insert(at + size, start + len - at - size);
        }
        drop(free);
        // SAFETY: `at + size <= start + len <= self.len`, so the offset is inside the mapping.
        Some(unsafe { self.addresses.add(at) })
    }

    /// Puts a piece of [`take`](Self::take) back, and joins it with free neighbors.
    fn put(&self, ptr: NonNull<u8>, size_bytes: usize) {
        self.drop_pages(ptr, size_bytes);
        let mut free = self.free.lock();
        let mut start = ptr.addr().get() - self.addresses.addr().get();
        let mut len = size_bytes.next_multiple_of(PAGE_BYTES);
        if let Some((&before, &n)) = free.range(..start).next_back()
            && before + n == start
        {
            free.remove(&before);
            (start, len) = (before, n + len);
        }
        if let Some(after) = free.remove(&(start + len)) {
            len += after;
        }
        free.insert(start, len);
    }

    /// Returns the pages behind device addresses to the system; the next access finds zeros.
    fn drop_pages(&self, ptr: NonNull<u8>, size_bytes: usize) {
        if let Some(bytes) = self.reach(ptr.as_ptr()) {
            let len = size_bytes.next_multiple_of(PAGE_BYTES);
            // SAFETY: the pages are inside the second mapping, because the piece was taken from the first, and the caller
            // has been promised that nothing uses them.
            unsafe { libc::madvise(bytes.cast(), len, libc::MADV_DONTNEED) };
        }
    }
}

/// Maps `len` bytes of new memory.
fn map(len: usize, access: libc::c_int) -> Option<NonNull<u8>> {
    // SAFETY: a new mapping at an address that the system chooses affects no other memory.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), len, access, PRIVATE, -1, 0) };
    if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
}

impl Drop for HiddenMemory {
    fn drop(&mut self) {
        // SAFETY: `new` mapped both with this length, and this value is their only owner. Memory that was handed out is used
        // only while this value exists.
        unsafe {
            libc::munmap(self.addresses.as_ptr().cast(), self.len);
            libc::munmap(self.bytes.as_ptr().cast(), self.len);
        }
    }
}

// SAFETY: `take` hands out pieces at multiples of a page that do not overlap, until `put` gets them back. The host cannot
// access them, which is allowed because `SimulatedMemory::hidden` accepts only devices that are not host devices.
unsafe impl DeviceMemory for HiddenMemory {
    fn device(&self) -> Device {
        self.device
    }

    fn allocate(&self, size_bytes: usize) -> Result<NonNull<u8>> {
        let refused =
            || Error::out_of_memory(self.device, size_bytes as u64, "no free range of addresses is long enough");
        self.take(size_bytes, PAGE_BYTES).ok_or_else(refused)
    }

    unsafe fn free(&self, ptr: NonNull<u8>, size_bytes: usize) {
        self.put(ptr, size_bytes);
    }

    fn info(&self) -> MemoryInfo {
        MemoryInfo { free: self.total_bytes, total: self.total_bytes }
    }

    fn growable(&self) -> Option<&dyn GrowableMemory> {
        Some(self)
    }
}

/// The system gives a page memory when it is first used, so committing does nothing.
impl GrowableMemory for HiddenMemory {
    fn unit_bytes(&self) -> usize {
        UNIT_BYTES
    }

    fn reserve(&self, size_bytes: usize) -> Option<NonNull<u8>> {
        self.take(size_bytes, UNIT_BYTES)
    }

    unsafe fn commit(&self, _ptr: NonNull<u8>, _size_bytes: usize) -> Result<()> {
        Ok(())
    }

    unsafe fn decommit(&self, ptr: NonNull<u8>, size_bytes: usize) {
        self.drop_pages(ptr, size_bytes);
    }

    unsafe fn unreserve(&self, ptr: NonNull<u8>, size_bytes: usize) {
        self.put(ptr, size_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> HiddenMemory {
        HiddenMemory::new(Device::gpu(0), 8 << 20).unwrap()
    }

    #[test]
    fn pieces_do_not_overlap_and_join_again() {
        let memory = memory();
        let pieces: Vec<_> = [1, 5000, 4096, 100_000].map(|n| (memory.allocate(n).unwrap(), n)).into();
        for (i, (a, n)) in pieces.iter().enumerate() {
            assert!(a.addr().get().is_multiple_of(PAGE_BYTES));
            let others = pieces[i + 1..].iter().map(|(b, m)| (b.addr().get(), *m));
            assert!(others.into_iter().all(|(b, m)| a.addr().get() + n <= b || b + m <= a.addr().get()));
        }
        let range = memory.reserve(UNIT_BYTES).unwrap();
        assert!(range.addr().get().is_multiple_of(UNIT_BYTES));
        for index in [2, 0, 3, 1] {
            let (ptr, n) = pieces[index];
            // SAFETY: allocated above with this size and not used.
            unsafe { memory.free(ptr, n) };
        }
        // SAFETY: reserved above with this size and not used.
        unsafe { memory.unreserve(range, UNIT_BYTES) };
        assert_eq!(*memory.free.lock(), BTreeMap::from([(0, memory.len)]));
        assert!(memory.allocate(memory.len + 1).is_err() && memory.allocate(usize::MAX).is_err());
    }

    #[test]
    fn bytes_are_in_the_second_mapping() {
        let memory = memory();
        let ptr = memory.allocate(10_000).unwrap();
        let bytes = memory.reach(ptr.as_ptr()).unwrap();
        assert_ne!(bytes, ptr.as_ptr());
        // SAFETY: the allocation has 10 000 bytes, which start at `bytes` in the second mapping.
        unsafe {
            bytes.add(9999).write(7);
            assert_eq!(memory.reach(ptr.as_ptr().wrapping_add(9999)).unwrap().read(), 7);
            memory.free(ptr, 10_000);
        }
        let mut local = 0u8;
        assert_eq!(memory.reach(&raw mut local), None);
    }
}
