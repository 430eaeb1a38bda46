//! The interface of a profiler that observes every block that is allocated and freed.

use crate::{Block, Tag};
use mxrs_sync::Arc;
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_types::Device;

/// One block that was allocated or freed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PoolEvent<'a> {
    /// The device that the owner requested.
    pub device: Device,
    /// The first address.
    pub address: usize,
    /// The number of bytes that were requested.
    pub requested_bytes: usize,
    /// The size of the block, including rounding.
    pub block_bytes: usize,
    /// What the block is used for.
    pub tag: &'a Tag,
}

/// Receives allocations and frees on the thread that makes them, while no lock is held. Blocks of size 0 are not
/// reported. An observer must not panic; it may query statistics, but must not allocate from the same storage.
pub trait PoolObserver: Send + Sync {
    /// Called when a block was allocated.
    fn allocated(&self, event: &PoolEvent<'_>);

    /// Called when a block is about to be freed, into the cache or to the device.
    fn freed(&self, event: &PoolEvent<'_>);
}

/// The observer of a storage, and whether it is switched on.
#[derive(Default)]
pub(crate) struct Watch {
    on: AtomicBool,
    observer: Option<Arc<dyn PoolObserver>>,
}

impl Watch {
    /// Holds `observer`, which is switched on from the start.
    pub(crate) fn new(observer: Option<Arc<dyn PoolObserver>>) -> Self {
        Self { on: AtomicBool::new(observer.is_some()), observer }
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        // Relaxed: the flag switches reports on and off and does not guard data.
        self.on.load(Ordering::Relaxed)
    }

    pub(crate) fn switch(&self, on: bool) {
        self.on.store(on && self.observer.is_some(), Ordering::Relaxed);
    }

    #[cold]
    pub(crate) fn allocated(&self, block: &Block) {
        if let Some(observer) = &self.observer {
            observer.allocated(&event(block));
        }
    }

    #[cold]
    pub(crate) fn freed(&self, block: &Block) {
        if let Some(observer) = &self.observer {
            observer.freed(&event(block));
        }
    }
}

fn event(block: &Block) -> PoolEvent<'_> {
    PoolEvent {
        device: block.device(),
        address: block.as_ptr().addr(),
        requested_bytes: block.len(),
        block_bytes: block.block_bytes(),
        tag: block.tag(),
    }
}
