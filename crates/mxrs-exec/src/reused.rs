//! Memory that a device may still use for an earlier owner.

use mxrs_ndarray::ArrayContext;
use mxrs_storage::{Block, Tag};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{Device, DeviceEvent, DeviceStream, Result};
use std::sync::Arc;

/// A block, and the work of earlier owners that may still use it. Nothing waits for this work until a stream uses the block.
pub struct Reused {
    block: Block,
    /// The ends of the earlier work. Empty once a stream waits for them.
    former: RankedMutex<Vec<Arc<dyn DeviceEvent>>>,
}

impl Reused {
    /// Allocates memory on `device`. If `device` is the host, waits until the earlier work is done.
    ///
    /// # Errors
    /// Returns an error if memory runs out.
    pub fn allocate(context: &ArrayContext, device: Device, size_bytes: usize, tag: Tag) -> Result<Self> {
        let storage = context.storage();
        let (block, former) = match device.is_host() {
            true => (storage.allocate(device, size_bytes, tag)?, Vec::new()),
            false => storage.allocate_with_events(device, size_bytes, tag)?,
        };
        Ok(Self { block, former: RankedMutex::new(Rank::Leaf, former) })
    }

    /// The memory.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// Lets the work that is enqueued on `stream` from now on wait for the earlier work. Only the first stream that uses the
    /// block does so; the caller has to order other streams after it.
    ///
    /// # Errors
    /// Returns the error of the device.
    pub fn wait_on(&self, stream: &dyn DeviceStream) -> Result<()> {
        let former = std::mem::take(&mut *self.former.lock());
        let waits = former.iter().filter(|event| !event.is_finished()).try_for_each(|event| stream.wait_for(&**event));
        if waits.is_err() {
            *self.former.lock() = former;
        }
        waits
    }
}
