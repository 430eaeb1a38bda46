//! Returns to the system the freed memory that the process's allocator keeps.

/// Returns to the system the memory that the process has freed but that its allocator keeps. Binding a graph of thousands of
/// nodes frees tens of megabytes of plans that were not chosen; if the allocator kept them, they would count as memory of
/// the process.
///
/// Takes milliseconds. Has an effect only with glibc's allocator.
pub fn return_freed_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    // SAFETY: `malloc_trim` may be called at any time and on any thread; it does not move memory that is in use.
    let _ = unsafe { libc::malloc_trim(0) };
}

#[cfg(all(test, target_os = "linux", target_env = "gnu", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_is_returned() {
        let resident_pages = || {
            let text = std::fs::read_to_string("/proc/self/statm").unwrap();
            text.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
        };
        // 64 MiB of small blocks; every 64th is kept, so that the heap cannot shrink from its end.
        let blocks: Vec<Vec<u8>> = (0..1 << 16).map(|_| vec![1u8; 1 << 10]).collect();
        let kept: Vec<Vec<u8>> = blocks.into_iter().enumerate().filter(|(i, _)| i % 64 == 0).map(|(_, b)| b).collect();
        let before = resident_pages();
        return_freed_heap();
        let returned = before.saturating_sub(resident_pages()) * 4096;
        assert!(returned > 32 << 20, "{returned} bytes returned, {} blocks kept", kept.len());
    }
}
