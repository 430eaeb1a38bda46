//! Memory fresh from the system is zero, and takes none of it until it is touched. A program of its own: resident bytes are
//! those of the whole process.
#![cfg(target_os = "linux")]
// The blocks are written through their pointers, as operators do.
#![allow(unsafe_code)]

use mxrs_storage::{ALIGNMENT, Block, Storage, StorageConfig, Tag};
use mxrs_types::Device;

/// Resident bytes of this process.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a field of every process");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
}

#[test]
#[cfg_attr(miri, ignore = "miri has no resident memory")]
fn memory_that_nobody_touches_is_not_resident() {
    const N: usize = 32;
    const SIZE: usize = 1 << 20;
    let storage = Storage::new(StorageConfig::default()).expect("default settings");
    let before = resident();
    let blocks: Vec<Block> =
        (0..N).map(|_| storage.allocate(Device::cpu(0), SIZE, Tag::new("test")).expect("there is room")).collect();
    let grown = resident().saturating_sub(before);
    assert!(grown < N * SIZE / 10, "{grown} bytes of {}", N * SIZE);
    for block in &blocks {
        assert_eq!(block.as_ptr().addr() % ALIGNMENT, 0);
        // SAFETY: the block is this large, and nobody else knows it.
        let bytes = unsafe { std::slice::from_raw_parts_mut(block.as_ptr(), SIZE) };
        assert!(bytes.iter().all(|byte| *byte == 0));
        bytes.fill(1);
    }
    let grown = resident() - before;
    assert!(grown > N * SIZE / 10 * 9, "{grown} bytes of {}", N * SIZE);
}
