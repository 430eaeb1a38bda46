//! Blocks that another process can map: how they leave a process and how they enter one.

use crate::{Block, SharedHandle, SharedId, Storage, Tag};
use mxrs_types::Result;

impl Block {
    /// Where the descriptor of a shared block is, for [`SharedHandle::of`] in another process; `None` for any other
    /// block.
    pub fn shared_id(&self) -> Option<SharedId> {
        self.segments()?.id(self.as_non_null())
    }

    /// A descriptor of a shared block, to be sent to another process; `None` for any other block. Keep the block until
    /// the receiver has opened it.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](mxrs_types::ErrorKind::Io) if the process has no descriptor left.
    pub fn shared_handle(&self) -> Result<Option<SharedHandle>> {
        self.segments().and_then(|segments| segments.handle(self.as_non_null())).transpose()
    }

    /// How often a shared block is mapped now, in all processes; `None` for any other block. Mappings of processes that
    /// were killed stay counted.
    pub fn shared_mappings(&self) -> Option<u32> {
        self.segments()?.mappings(self.as_non_null())
    }
}

impl Storage {
    /// The shared block that a descriptor leads to, as a block of `cpu_shared(0)`: the same bytes as every other mapping
    /// of it. Dropping it ends this mapping, and the last mapping frees the memory.
    ///
    /// Whoever has the descriptor can write the bytes at any time: order the accesses between the processes, and do not
    /// rely on what was checked once.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`](mxrs_types::ErrorKind::InvalidValue) if it is not a shared block, or no longer one;
    /// [`ErrorKind::Io`](mxrs_types::ErrorKind::Io) if the system will not map it;
    /// [`ErrorKind::NotBuilt`](mxrs_types::ErrorKind::NotBuilt) where `cpu_shared` was given a memory of its own.
    pub fn open_shared(&self, handle: SharedHandle, tag: Tag) -> Result<Block> {
        self.map_shared(handle, tag)
    }
}
