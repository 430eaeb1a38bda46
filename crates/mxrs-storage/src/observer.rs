//! Somebody who is told of every block that is handed out and given up: a profiler.

use crate::{Block, Tag};
use mxrs_sync::Arc;
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_types::Device;

/// One block that changed hands.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PoolEvent<'a> {
    /// The device that was asked for.
    pub device: Device,
    /// First address.
    pub address: usize,
    /// Bytes asked for.
    pub requested_bytes: usize,
    /// Bytes of the block, rounding included.
    pub block_bytes: usize,
    /// What for.
    pub tag: &'a Tag,
}

/// Told of allocations and frees, on the thread that makes them, while no lock is held. Blocks of size 0 are not
/// reported. It must not panic; it may ask for statistics, but must not allocate from the same storage.
pub trait PoolObserver: Send + Sync {
    /// A block was handed out.
    fn allocated(&self, event: &PoolEvent<'_>);

    /// A block is being given up, into the cache or to the device.
    fn freed(&self, event: &PoolEvent<'_>);
}

/// The observer of a storage and whether it listens.
#[derive(Default)]
pub(crate) struct Watch {
    on: AtomicBool,
    observer: Option<Arc<dyn PoolObserver>>,
}

impl Watch {
    /// An observer listens from the start.
    pub(crate) fn new(observer: Option<Arc<dyn PoolObserver>>) -> Self {
        Self { on: AtomicBool::new(observer.is_some()), observer }
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        // Relaxed: it switches reports on and off and guards no data.
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
