//! Writes blocks of results, which were computed in the first-level cache, to memory.

/// The fewest bytes of an output that is written past the caches. Written through the caches, such an output would replace
/// most of the content of a second-level cache.
pub(super) const STREAMED_BYTES: usize = 256 << 10;

/// Copies `block` to `to`. With `past_caches`, the writes bypass the caches. A usual write first reads the old content of
/// the memory into the cache. [`finish`] must be called after the last such write.
///
/// # Safety
/// `to` points to as many bytes as `block` has. No other code uses them during the call, and they are not part of `block`.
pub(super) unsafe fn write(block: &[u8], to: *mut u8, past_caches: bool) {
    #[cfg(target_arch = "x86_64")]
    if past_caches && to.addr().is_multiple_of(LINE) {
        // SAFETY: the caller's promises hold, and `to` begins a cache line.
        return unsafe { stream(block, to) };
    }
    let _ = past_caches;
    // SAFETY: the caller's promises.
    unsafe { std::ptr::copy_nonoverlapping(block.as_ptr(), to, block.len()) };
}

/// Makes all writes past the caches visible to threads that this thread synchronizes with later.
pub(super) fn finish() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction, and it accesses no memory itself.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// # Safety
/// The promises of [`write`]. `to` is a multiple of [`LINE`].
#[cfg(target_arch = "x86_64")]
unsafe fn stream(block: &[u8], to: *mut u8) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    const STEP: usize = size_of::<__m128i>();
    let (lines, rest) = block.split_at(block.len() / LINE * LINE);
    for at in (0..lines.len()).step_by(STEP) {
        // SAFETY: `at + STEP <= lines.len()`, so both are inside what the caller promises, and `to + at` is a multiple of
        // `STEP` because `to` is one of `LINE`. Every x86-64 processor has these instructions.
        unsafe { _mm_stream_si128(to.add(at).cast(), _mm_loadu_si128(lines.as_ptr().add(at).cast())) };
    }
    // SAFETY: `rest` is the end of the block after `lines`, and the caller promises as many bytes at `to`.
    unsafe { std::ptr::copy_nonoverlapping(rest.as_ptr(), to.add(lines.len()), rest.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_written_and_none_beside() {
        let block: Vec<u8> = (0..400).map(|i| (i % 250) as u8 + 1).collect();
        for past_caches in [false, true] {
            for begin in [0, 1, 16, 64, 65] {
                for len in [0, 1, 63, 64, 65, 128, 200, 333] {
                    let mut memory = vec![0u128; 32];
                    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut memory);
                    let begin = begin + bytes.as_ptr().addr().next_multiple_of(64) - bytes.as_ptr().addr();
                    // SAFETY: `begin + len` is at most 64 + 65 + 333 of 512 bytes, which only this code uses.
                    unsafe { write(&block[..len], bytes.as_mut_ptr().add(begin), past_caches) };
                    finish();
                    assert_eq!(bytes[begin..begin + len], block[..len], "{begin} {len} {past_caches}");
                    assert!(bytes[..begin].iter().chain(&bytes[begin + len..]).all(|&byte| byte == 0));
                }
            }
        }
    }
}
