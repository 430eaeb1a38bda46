//! Copies to memory that bypass the caches, and prefetching.
//!
//! An ordinary store first reads the cache line that it changes. A streaming store does not, if the whole line is written.
//! This saves a third of the traffic of a kernel that reads one tensor and writes another. The lines are then in no cache,
//! so it pays only for tensors that are too large to be found in a cache later.

use mxrs_processor::Caches;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Outputs of fewer bytes are never written around the caches.
const SMALLEST: usize = 16 << 20;
/// Outputs of at least this many bytes are written around the caches of a processor that does not report the sizes of its
/// caches.
const USUAL: usize = 32 << 20;

/// Whether an output of this size should be written around the caches. An output of less than a quarter of the last-level
/// cache should not: it fits into the cache together with the tensors of the next call, so it is written and read faster
/// through the cache.
pub fn pays(len_bytes: usize) -> bool {
    let from = match Caches::here().l3 {
        0 => USUAL,
        l3 => (l3 / 4).max(SMALLEST),
    };
    len_bytes >= from
}

/// Whether the memory begins at a multiple of the size of a cache line, and is whole lines.
#[inline(always)]
pub fn is_aligned<T, const N: usize>(to: &[T; N]) -> bool {
    size_of::<[T; N]>().is_multiple_of(LINE) && (to as *const [T; N]).addr().is_multiple_of(LINE)
}

/// The number of elements from an address on before the next multiple of the size of a cache line.
#[inline(always)]
pub fn before_line<T>(at: *const T) -> usize {
    at.addr().wrapping_neg() % LINE / size_of::<T>().max(1)
}

/// Stores elements by streaming stores. Their memory [`is_aligned`]. [`fence`] must run on the same thread before other
/// threads read it.
#[inline(always)]
pub fn store<T: bytemuck::Pod, const N: usize>(to: &mut [T; N], from: &[T; N]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        debug_assert!(is_aligned(to));
        let (from, to) = (from.as_ptr().cast::<__m128i>(), to.as_mut_ptr().cast::<__m128i>());
        for i in 0..size_of::<[T; N]>() / size_of::<__m128i>() {
            // SAFETY: both arrays have `size_of::<[T; N]>()` bytes, and `to` is aligned to 64 bytes. Every processor with
            // this architecture has these instructions.
            unsafe { _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i))) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    to.copy_from_slice(from);
}

/// Copies `from` to `to`, which has the same length, by streaming stores. [`fence`] must run on the same thread before
/// other threads read `to`.
#[cfg(target_arch = "x86_64")]
pub fn copy<T: bytemuck::Pod>(from: &[T], to: &mut [T]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    let (from, to): (&[u8], &mut [u8]) = (bytemuck::cast_slice(from), bytemuck::cast_slice_mut(to));
    let n = from.len().min(to.len());
    let head = to.as_ptr().align_offset(LINE).min(n);
    let end = head + (n - head) / LINE * LINE;
    to[..head].copy_from_slice(&from[..head]);
    for (from, to) in from[head..end].chunks_exact(LINE).zip(to[head..end].chunks_exact_mut(LINE)) {
        let (from, to) = (from.as_ptr().cast::<__m128i>(), to.as_mut_ptr().cast::<__m128i>());
        for i in 0..LINE / size_of::<__m128i>() {
            // SAFETY: both chunks have `LINE` bytes, and `to` is aligned to `LINE`, because `head` is. Every processor with
            // this architecture has these instructions.
            unsafe { _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i))) };
        }
    }
    to[end..n].copy_from_slice(&from[end..n]);
}

/// Copies `from` to `to`, which has the same length.
#[cfg(not(target_arch = "x86_64"))]
pub fn copy<T: bytemuck::Pod>(from: &[T], to: &mut [T]) {
    to.copy_from_slice(from);
}

/// Prefetches a slice that is read soon. This is for rows that are far apart, because the processor itself prefetches only
/// elements that follow each other.
#[inline(always)]
pub fn prefetch<T>(soon: &[T]) {
    for at in (0..size_of_val(soon)).step_by(LINE) {
        request(soon.as_ptr().cast::<u8>().wrapping_add(at));
    }
}

/// Prefetches the `N` elements from an address on. The processor also prefetches by itself, but only up to the end of a page
/// and only a few cache lines ahead. So a loop that is limited by memory takes half the time if it prefetches the elements
/// that are [`AHEAD`] bytes after those it reads.
#[inline(always)]
pub fn prefetch_at<T, const N: usize>(at: *const T) {
    for line in 0..size_of::<[T; N]>().div_ceil(LINE) {
        request(at.cast::<u8>().wrapping_add(line * LINE));
    }
}

/// The distance, in bytes, from the elements that a loop reads to those that it prefetches.
pub const AHEAD: usize = 4096;

/// Prefetches the cache line of an address, which may be any address.
#[inline(always)]
fn request(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor with this architecture has this instruction, which is only a hint: it never faults,
        // whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Makes the streaming stores of this thread visible to others before its later stores.
pub fn fence() {
    // SAFETY: every processor with this architecture has this instruction.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_copied_at_every_offset() {
        let from: Vec<u16> = (0..300).collect();
        for start in 0..70 {
            for len in [0, 1, 31, 32, 33, 64, 200] {
                let mut to = vec![9999u16; 300];
                copy(&from[..len], &mut to[start..start + len]);
                fence();
                assert_eq!(to[start..start + len], from[..len]);
                assert!(to[..start].iter().chain(&to[start + len..]).all(|x| *x == 9999), "{start} {len}");
            }
        }
    }
}
