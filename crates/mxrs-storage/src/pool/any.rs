//! The pools there are, behind one set of names.

use super::Pool;
use super::best_fit::{BestFitPool, Piece};
use super::shared::SharedPool;
use crate::config::{PoolConfig, PoolKind};
use crate::memory::{DeviceMemory, SharedHandle};
use crate::{Block, PoolStats, Tag};
use mxrs_sync::Arc;
use mxrs_types::{Device, Error, Result};
use std::ptr::NonNull;

/// A pool of any kind; a clone is another handle to the same one.
#[derive(Clone)]
pub(crate) enum AnyPool {
    /// Blocks of rounded sizes, kept by size: `Naive`, `Round`, and `Unpooled`, which keeps none.
    Classes(Arc<Pool>),
    /// Blocks cut out of longer ranges.
    BestFit(Arc<BestFitPool>),
    /// Blocks that other processes can map; nothing is kept.
    Shared(Arc<SharedPool>),
}

impl From<Arc<Pool>> for AnyPool {
    fn from(pool: Arc<Pool>) -> Self {
        Self::Classes(pool)
    }
}

impl AnyPool {
    /// Asks the device for its size, so call it without a lock.
    pub(crate) fn new(device: Device, memory: Arc<dyn DeviceMemory>, config: &PoolConfig) -> Self {
        match config.kind {
            PoolKind::BestFit => Self::BestFit(Arc::new(BestFitPool::new(device, memory, config))),
            PoolKind::Naive | PoolKind::Round | PoolKind::Unpooled => {
                Self::Classes(Arc::new(Pool::new(device, memory, config)))
            }
        }
    }

    /// The manager of memory that other processes can map; `memory` says how much the machine has.
    pub(crate) fn new_shared(memory: Arc<dyn DeviceMemory>) -> Self {
        Self::Shared(Arc::new(SharedPool::new(memory)))
    }

    /// The manager of shared memory, if this is it.
    pub(crate) fn shared(&self) -> Option<&SharedPool> {
        match self {
            Self::Shared(pool) => Some(pool),
            Self::Classes(_) | Self::BestFit(_) => None,
        }
    }

    /// A block that another owner has made.
    pub(crate) fn open_shared(&self, handle: SharedHandle, tag: Tag) -> Result<Block> {
        let Some(pool) = self.shared() else {
            return Err(Error::not_built("opening shared memory", "cpu_shared was given a memory of its own"));
        };
        let Piece { ptr, block_bytes } = pool.open(handle)?;
        Ok(Block::new(ptr, block_bytes, block_bytes, Device::cpu_shared(0), tag, self.clone()))
    }

    /// A block for `size ≥ 1` bytes that calls itself memory of `device`.
    pub(crate) fn allocate(&self, device: Device, size: usize, tag: Tag) -> Result<Block> {
        match self {
            Self::Classes(pool) => pool.allocate(device, size, tag),
            Self::BestFit(pool) => {
                let piece = pool.allocate(size)?;
                Ok(Block::new(piece.ptr, size, piece.block_bytes, device, tag, self.clone()))
            }
            Self::Shared(pool) => {
                let piece = pool.allocate(size)?;
                Ok(Block::new(piece.ptr, size, piece.block_bytes, device, tag, self.clone()))
            }
        }
    }

    /// Takes a live block back, for reuse where the pool keeps blocks.
    pub(crate) fn free(&self, ptr: NonNull<u8>, size: usize, block_bytes: usize) {
        match self {
            Self::Classes(pool) => pool.free(ptr, size, block_bytes),
            Self::BestFit(pool) => pool.free(ptr, size),
            Self::Shared(pool) => pool.free(ptr),
        }
    }

    /// Takes a live block back and returns it to the device.
    pub(crate) fn free_directly(&self, ptr: NonNull<u8>, size: usize, block_bytes: usize) {
        match self {
            Self::Classes(pool) => pool.free_directly(ptr, size, block_bytes),
            Self::BestFit(pool) => pool.free_directly(ptr, size),
            Self::Shared(pool) => pool.free(ptr),
        }
    }

    /// Returns what is cached to the device; live blocks stay. Answers how many bytes that were.
    pub(crate) fn release_all(&self) -> u64 {
        match self {
            Self::Classes(pool) => pool.release_all(),
            Self::BestFit(pool) => pool.release_all(),
            Self::Shared(_) => 0,
        }
    }

    pub(crate) fn stats(&self) -> PoolStats {
        match self {
            Self::Classes(pool) => pool.stats(),
            Self::BestFit(pool) => pool.stats(),
            Self::Shared(pool) => pool.stats(),
        }
    }

    pub(crate) fn reset_peaks(&self) {
        match self {
            Self::Classes(pool) => pool.reset_peaks(),
            Self::BestFit(pool) => pool.reset_peaks(),
            Self::Shared(pool) => pool.reset_peaks(),
        }
    }
}
