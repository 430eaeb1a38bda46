//! Blocks that another process can map: sending and opening them.

use crate::{Block, SharedHandle, SharedId, Storage, Tag};
use mxrs_types::Result;

impl Block {
    /// Identifies the descriptor of a shared block, for [`SharedHandle::of`] in another process; `None` for any other
    /// block.
    pub fn shared_id(&self) -> Option<SharedId> {
        self.segments()?.id(self.as_non_null())
    }

    /// A descriptor of a shared block, to be sent to another process; `None` for any other block. Keep the block until
    /// the receiver has opened it.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](mxrs_types::ErrorKind::Io) if the process cannot open more descriptors.
    pub fn shared_handle(&self) -> Result<Option<SharedHandle>> {
        self.segments().and_then(|segments| segments.handle(self.as_non_null())).transpose()
    }

    /// The number of mappings of a shared block in all processes; `None` for any other block. Mappings of processes
    /// that were killed stay counted.
    pub fn shared_mappings(&self) -> Option<u32> {
        self.segments()?.mappings(self.as_non_null())
    }
}

impl Storage {
    /// Opens the shared block of a descriptor as a block of `cpu_shared(0)`, which shares its bytes with every other
    /// mapping. Dropping the block ends this mapping, and the end of the last mapping frees the memory.
    ///
    /// A process with the descriptor can write the bytes at any time. Order the accesses between the processes, and do
    /// not rely on earlier checks of the content.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`](mxrs_types::ErrorKind::InvalidValue) if the descriptor is not that of a shared block, or
    /// the block has been freed;
    /// [`ErrorKind::Io`](mxrs_types::ErrorKind::Io) if the system refuses to map it;
    /// [`ErrorKind::NotBuilt`](mxrs_types::ErrorKind::NotBuilt) if another memory was registered for `cpu_shared`.
    pub fn open_shared(&self, handle: SharedHandle, tag: Tag) -> Result<Block> {
        self.map_shared(handle, tag)
    }
}
