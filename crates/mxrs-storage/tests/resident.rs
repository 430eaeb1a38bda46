//! What a pool's rounding adds takes no memory until it is touched. A program of its own: resident bytes are those of the
//! whole process.
#![cfg(target_os = "linux")]
// The block is written through its pointer, as operators do.
#![allow(unsafe_code)]

use mxrs_storage::{Block, Storage, StorageConfig, Tag};
use mxrs_types::Device;

/// Resident bytes of this process.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a field of every process");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
}

#[test]
#[cfg_attr(miri, ignore = "miri has no resident memory")]
fn rounding_up_to_huge_pages_takes_no_memory() {
    // The default pool rounds 2.25 MiB up to 4 MiB.
    const SIZE: usize = (9 << 20) / 4;
    const N: usize = 32;
    let storage = Storage::new(StorageConfig::default()).expect("default settings");
    let before = resident();
    let blocks: Vec<Block> =
        (0..N).map(|_| storage.allocate(Device::cpu(0), SIZE, Tag::new("test")).expect("there is room")).collect();
    for block in &blocks {
        assert!(block.block_bytes() >= 4 << 20, "{}", block.block_bytes());
        // SAFETY: the block is this large, and nobody else knows it.
        unsafe { block.as_ptr().write_bytes(1, SIZE) };
    }
    let grown = resident() - before;
    let expected = N * SIZE / 10 * 9..=N * SIZE / 10 * 12;
    assert!(expected.contains(&grown), "{grown} bytes for {}", N * SIZE);
}
