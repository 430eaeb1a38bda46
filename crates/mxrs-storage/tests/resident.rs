//! Untouched memory is not resident: fresh memory, and memory that a pool's rounding adds. These tests run in their own
//! process and one after another, because resident bytes are counted for the whole process.
#![cfg(target_os = "linux")]
// The tests write the blocks through their pointers, as operators do.
#![allow(unsafe_code)]

use mxrs_storage::{ALIGNMENT, Block, Storage, StorageConfig, Tag};
use mxrs_types::Device;
use std::sync::{Mutex, PoisonError};

const N: usize = 32;
static TURN: Mutex<()> = Mutex::new(());

/// Resident bytes of this process.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux has this file");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a field of every process");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
}

fn blocks(storage: &Storage, size: usize) -> Vec<Block> {
    (0..N).map(|_| storage.allocate(Device::cpu(0), size, Tag::new("test")).expect("there is room")).collect()
}

#[test]
#[cfg_attr(miri, ignore = "miri has no resident memory")]
fn rounding_up_to_huge_pages_takes_no_memory() {
    // The default pool rounds 2.25 MiB up to 4 MiB.
    const SIZE: usize = (9 << 20) / 4;
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let storage = Storage::new(StorageConfig::default()).expect("default settings");
    let before = resident();
    let blocks = blocks(&storage, SIZE);
    for block in &blocks {
        assert!(block.block_bytes() >= 4 << 20, "{}", block.block_bytes());
        // SAFETY: the block has `SIZE` bytes, and no other code uses it.
        unsafe { block.as_ptr().write_bytes(1, SIZE) };
    }
    let grown = resident() - before;
    let expected = N * SIZE / 10 * 9..=N * SIZE / 10 * 12;
    assert!(expected.contains(&grown), "{grown} bytes for {}", N * SIZE);
}

#[test]
#[cfg_attr(miri, ignore = "miri has no resident memory")]
fn memory_that_nobody_touches_is_not_resident() {
    const SIZE: usize = 1 << 20;
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let storage = Storage::new(StorageConfig::default()).expect("default settings");
    let before = resident();
    let blocks = blocks(&storage, SIZE);
    let grown = resident().saturating_sub(before);
    assert!(grown < N * SIZE / 10, "{grown} bytes of {}", N * SIZE);
    for block in &blocks {
        assert_eq!(block.as_ptr().addr() % ALIGNMENT, 0);
        // SAFETY: the block has `SIZE` bytes, and no other code uses it.
        let bytes = unsafe { std::slice::from_raw_parts_mut(block.as_ptr(), SIZE) };
        assert!(bytes.iter().all(|byte| *byte == 0));
        bytes.fill(1);
    }
    let grown = resident() - before;
    assert!(grown > N * SIZE / 10 * 9, "{grown} bytes of {}", N * SIZE);
}
