//! The allocator of the process itself, which keeps what was freed.

/// Returns memory to the system that the process has freed and its allocator keeps. Binding a graph of thousands of nodes
/// frees tens of megabytes of plans that were not chosen; kept, they would count with what the graph needs.
///
/// Takes milliseconds. Does something with glibc's allocator only, and no harm beside another one.
pub fn return_freed_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    // SAFETY: may be called at any time, from any thread; it moves nothing that is in use.
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
        // Small blocks, with every 64th kept so that the heap cannot shrink from its end: 64 MiB of them.
        let blocks: Vec<Vec<u8>> = (0..1 << 16).map(|_| vec![1u8; 1 << 10]).collect();
        let kept: Vec<Vec<u8>> = blocks.into_iter().enumerate().filter(|(i, _)| i % 64 == 0).map(|(_, b)| b).collect();
        let before = resident_pages();
        return_freed_heap();
        let returned = before.saturating_sub(resident_pages()) * 4096;
        assert!(returned > 32 << 20, "{returned} bytes returned, {} blocks kept", kept.len());
    }
}
