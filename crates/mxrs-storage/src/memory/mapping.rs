//! Anonymous mappings on Linux, placed so that huge pages fit.

use super::host::LARGE_BYTES;
use std::ptr::NonNull;

/// The processor's page size in bytes. Every page size in use, up to 64 KiB, divides [`LARGE_BYTES`].
pub(super) fn page_bytes() -> usize {
    // SAFETY: reads a constant of the system.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// A private, zeroed mapping of at least `size_bytes` bytes, of which `used_bytes` were requested, at a multiple of
/// [`LARGE_BYTES`].
pub(super) fn map(size_bytes: usize, used_bytes: usize) -> Option<NonNull<u8>> {
    let len = size_bytes.checked_next_multiple_of(page_bytes())?;
    let start = map_aligned(len, libc::PROT_READ | libc::PROT_WRITE)?;
    let advised = advised_bytes(len, used_bytes);
    // SAFETY: the mapping was made above with at least this length. A system without huge pages ignores the advice.
    unsafe { libc::madvise(start.as_ptr().cast(), advised, libc::MADV_HUGEPAGE) };
    Some(start)
}

/// The number of bytes of a mapping of `len` bytes that are advised to use huge pages. The last huge page is left out
/// if much of it was not requested but added by a pool's rounding. That part of the mapping then has small pages, and
/// the system never allocates those that are not written.
fn advised_bytes(len: usize, used_bytes: usize) -> usize {
    let is_rounded = len.saturating_sub(used_bytes) > LARGE_BYTES / 16;
    if len > LARGE_BYTES && len.is_multiple_of(LARGE_BYTES) && is_rounded { len - LARGE_BYTES } else { len }
}

/// A private mapping of `len` bytes (whole pages) with this access, at a multiple of [`LARGE_BYTES`].
pub(super) fn map_aligned(len: usize, access: libc::c_int) -> Option<NonNull<u8>> {
    // A range of this length contains an aligned range of `len` bytes, wherever it starts.
    let reach = len.checked_add(LARGE_BYTES - page_bytes())?;
    // SAFETY: a new anonymous mapping at an address chosen by the system does not affect existing memory.
    let start =
        unsafe { libc::mmap(std::ptr::null_mut(), reach, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let start = start.cast::<u8>();
    let head = start.addr().next_multiple_of(LARGE_BYTES) - start.addr();
    let tail = reach - head - len;
    // SAFETY: head and tail are whole pages inside the mapping made above and outside the part that is kept. If the
    // system refuses to unmap them, the mapping is only larger than needed.
    unsafe {
        let kept = start.add(head);
        if head > 0 {
            libc::munmap(start.cast(), head);
        }
        if tail > 0 {
            libc::munmap(kept.add(len).cast(), tail);
        }
        NonNull::new(kept)
    }
}

/// Removes a mapping.
///
/// # Safety
/// `ptr` came from [`map`] with the same `size_bytes` and is unmapped once.
pub(super) unsafe fn unmap(ptr: NonNull<u8>, size_bytes: usize) {
    let len = size_bytes.next_multiple_of(page_bytes());
    // SAFETY: the caller guarantees a mapping of this size, which covers exactly these pages.
    let status = unsafe { libc::munmap(ptr.as_ptr().cast(), len) };
    debug_assert_eq!(status, 0, "munmap of {len} bytes at {ptr:p}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pages_are_for_what_rounding_added() {
        let mib = 1 << 20;
        for (len, used, advised) in [
            (2 * mib, mib, 2 * mib),
            (4 * mib, 4 * mib, 4 * mib),
            (4 * mib, 4 * mib - (100 << 10), 4 * mib),
            (4 * mib, 3 * mib, 2 * mib),
            (10 * mib, 9 * mib, 8 * mib),
            (5 * mib, 4 * mib, 5 * mib),
        ] {
            assert_eq!(advised_bytes(len, used), advised, "{used} of {len}");
        }
    }
}
