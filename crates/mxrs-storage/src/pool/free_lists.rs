//! Freed blocks that wait for reuse: the container of a pool.

use rustc_hash::FxHashMap;
use std::ptr::NonNull;

/// Memory that belongs to the pool and to nobody else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreeBlock {
    pub(crate) ptr: NonNull<u8>,
    pub(crate) block_bytes: usize,
}

// SAFETY: a free block is an address and a size that the pool owns; `DeviceMemory` promises that its memory is tied to
// no thread, and the pool passes a block on under its lock.
unsafe impl Send for FreeBlock {}

/// One stack of blocks for each size class; the last one in is the first one out.
#[derive(Debug, Default)]
pub(crate) struct FreeLists {
    by_key: FxHashMap<usize, Vec<FreeBlock>>,
}

impl FreeLists {
    pub(crate) fn take(&mut self, key: usize) -> Option<FreeBlock> {
        self.by_key.get_mut(&key)?.pop()
    }

    pub(crate) fn put(&mut self, key: usize, block: FreeBlock) {
        self.by_key.entry(key).or_default().push(block);
    }

    /// Empties every stack.
    pub(crate) fn drain(&mut self) -> Vec<FreeBlock> {
        self.by_key.drain().flat_map(|(_, blocks)| blocks).collect()
    }

    /// Bytes of the largest block, 0 if there is none.
    pub(crate) fn largest_bytes(&self) -> usize {
        self.by_key.values().flatten().map(|block| block.block_bytes).max().unwrap_or(0)
    }
}
