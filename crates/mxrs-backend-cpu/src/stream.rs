//! Copies to memory around the caches, and requests for memory before it is needed.
//!
//! An ordinary store first reads the cache line that it changes. A streaming store does not, if the whole line is written.
//! This saves a third of the traffic of a kernel that reads one tensor and writes another. The lines are then in no cache,
//! so it pays only for tensors that are too large to be found in a cache later.

/// Copies `from` to `to`, which has the same length, by streaming stores. [`fence`] must run on the same thread before
/// other threads read `to`.
#[cfg(target_arch = "x86_64")]
pub fn copy<T: bytemuck::Pod>(from: &[T], to: &mut [T]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    /// Bytes of a cache line.
    const LINE: usize = 64;
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

/// Asks for a slice that is read soon. For rows that are far apart, because the processor itself finds only elements that
/// follow each other.
#[inline(always)]
pub fn prefetch<T>(soon: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..size_of_val(soon)).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor with this architecture has this instruction, which reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(soon.as_ptr().cast::<i8>().wrapping_add(at)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = soon;
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
