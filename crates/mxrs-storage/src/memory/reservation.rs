//! Reserved addresses on Linux: mappings without access, in which whole units of 2 MiB are made accessible.
//!
//! The system does not count a mapping without access as used memory, so only the address space limits its length.
//! Making a part writable does count, and the overcommit policy may refuse it like a new mapping.

use super::mapping::page_bytes;
use std::ptr::NonNull;

const PRIVATE: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;

/// Reserves `size_bytes` of addresses, a multiple of 2 MiB, at a multiple of 2 MiB.
pub(super) fn reserve(size_bytes: usize) -> Option<NonNull<u8>> {
    super::mapping::map_aligned(size_bytes, libc::PROT_NONE)
}

/// Makes a part of a reservation readable and writable, zeroed, with huge pages if the system grants them.
///
/// # Safety
/// The range consists of whole units of one reservation, none of which is accessible.
pub(super) unsafe fn commit(ptr: NonNull<u8>, size_bytes: usize) -> bool {
    debug_assert!(ptr.addr().get().is_multiple_of(page_bytes()) && size_bytes.is_multiple_of(page_bytes()));
    let start = ptr.as_ptr().cast();
    // SAFETY: the pages are mapped and belong to the caller; making them accessible does not affect other memory.
    let status = unsafe { libc::mprotect(start, size_bytes, libc::PROT_READ | libc::PROT_WRITE) };
    if status == 0 {
        // SAFETY: the pages belong to the caller. A system without huge pages ignores the advice.
        unsafe { libc::madvise(start, size_bytes, libc::MADV_HUGEPAGE) };
    }
    status == 0
}

/// Drops the pages of a part of a reservation and makes the part inaccessible again.
///
/// # Safety
/// The range consists of whole units of one reservation, all accessible, and nothing uses them.
pub(super) unsafe fn decommit(ptr: NonNull<u8>, size_bytes: usize) {
    let start = ptr.as_ptr().cast();
    // Maps the range again instead of calling `madvise` and `mprotect`, because only replacing a mapping reduces the
    // memory that the system counts as used.
    // SAFETY: the pages belong to the caller, who guarantees that nothing uses them.
    let placed = unsafe { libc::mmap(start, size_bytes, libc::PROT_NONE, PRIVATE | libc::MAP_FIXED, -1, 0) };
    if placed == libc::MAP_FAILED {
        // The system refuses to replace the mapping if the process has too many mappings. The pages can be dropped
        // nevertheless.
        // SAFETY: the pages belong to the caller, who guarantees that nothing uses them.
        unsafe { libc::madvise(start, size_bytes, libc::MADV_DONTNEED) };
    }
}

/// Removes a reservation.
///
/// # Safety
/// `ptr` came from `reserve(size_bytes)` with the same size, is removed once, and nothing uses it.
pub(super) unsafe fn unreserve(ptr: NonNull<u8>, size_bytes: usize) {
    // SAFETY: the caller guarantees that these pages are one reservation that nothing uses.
    let status = unsafe { libc::munmap(ptr.as_ptr().cast(), size_bytes) };
    debug_assert_eq!(status, 0, "munmap of {size_bytes} bytes at {ptr:p}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::host::LARGE_BYTES;

    /// The resident memory of this process in a range of addresses, in KiB.
    fn resident_kib(start: usize, len: usize) -> u64 {
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let (mut inside, mut sum) = (false, 0);
        for line in smaps.lines() {
            if let Some((range, _)) = line.split_once(' ').filter(|(word, _)| word.contains('-')) {
                let (from, to) = range.split_once('-').unwrap();
                let at = |text| usize::from_str_radix(text, 16).unwrap();
                inside = at(from) < start + len && at(to) > start;
            } else if let Some(rest) = line.strip_prefix("Rss:").filter(|_| inside) {
                sum += rest.trim().trim_end_matches(" kB").parse::<u64>().unwrap();
            }
        }
        sum
    }

    #[test]
    fn units_come_and_go_within_a_long_range() {
        let len = 1 << 36;
        let start = reserve(len).unwrap();
        assert!(start.addr().get().is_multiple_of(LARGE_BYTES));
        let address = start.addr().get();
        assert_eq!(resident_kib(address, len), 0);
        // SAFETY: units of the reservation, each committed before it is used and decommitted once; no other code has their
        // addresses.
        unsafe {
            let second = start.add(LARGE_BYTES);
            assert!(commit(second, 3 * LARGE_BYTES));
            second.write_bytes(7, 3 * LARGE_BYTES);
            assert!(resident_kib(address, len) >= 3 << 11);
            decommit(second.add(LARGE_BYTES), LARGE_BYTES);
            let resident = resident_kib(address, len);
            assert!((2 << 11..3 << 11).contains(&resident), "{resident} KiB");
            assert_eq!((second.read(), second.add(2 * LARGE_BYTES).read()), (7, 7), "the neighbors stay");
            assert!(commit(second.add(LARGE_BYTES), LARGE_BYTES));
            assert_eq!(second.add(LARGE_BYTES).read(), 0, "memory that is committed again is zeroed");
            unreserve(start, len);
        }
        assert_eq!(resident_kib(address, len), 0);
    }

    #[test]
    fn impossible_lengths_are_refused() {
        for len in [1 << 60, usize::MAX - (4 << 20) + 1, isize::MAX as usize & !(LARGE_BYTES - 1)] {
            assert_eq!(reserve(len), None, "{len}");
        }
    }
}
