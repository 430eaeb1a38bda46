//! A piece of device memory with one owner.

use crate::pool::AnyPool;
use crate::{ALIGNMENT, Tag};
use mxrs_types::Device;
use std::fmt;
use std::ptr::NonNull;

/// Device memory that belongs to whoever holds this value; dropping it returns the memory to its pool, also after the
/// last [`Storage`](crate::Storage) handle is gone.
///
/// The bytes are not initialised: fresh from the system, or whatever an earlier owner left. The pointer may be read and
/// written through by the host only where [`Device::is_host`] holds, and it is the caller who orders those accesses.
pub struct Block {
    ptr: NonNull<u8>,
    len: usize,
    block_bytes: usize,
    device: Device,
    tag: Tag,
    /// `None` for an empty block, which no pool knows.
    pool: Option<AnyPool>,
}

// SAFETY: a block is a unique owner of memory that is tied to no thread: `DeviceMemory` is `Send + Sync` and promises
// that memory allocated on one thread may be used and freed on another. The pool behind it is `Send + Sync`.
unsafe impl Send for Block {}
// SAFETY: through `&Block` one can only read plain numbers and copy the raw pointer; using that pointer is unsafe.
unsafe impl Sync for Block {}

impl Block {
    /// A block of size 0: no memory and no pool behind it.
    pub(crate) fn empty(device: Device, tag: Tag) -> Self {
        // The address is never used; it is aligned and not null so that an empty slice can be made of it.
        let ptr = NonNull::without_provenance(const { std::num::NonZero::new(ALIGNMENT).unwrap() });
        Self { ptr, len: 0, block_bytes: 0, device, tag, pool: None }
    }

    pub(crate) fn new(
        ptr: NonNull<u8>,
        len: usize,
        block_bytes: usize,
        device: Device,
        tag: Tag,
        pool: impl Into<AnyPool>,
    ) -> Self {
        Self { ptr, len, block_bytes, device, tag, pool: Some(pool.into()) }
    }

    /// First byte, at a multiple of [`ALIGNMENT`]. For an empty block an aligned address with no memory behind it.
    pub fn as_ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// First byte, as [`as_ptr`](Self::as_ptr).
    pub fn as_non_null(&self) -> NonNull<u8> {
        self.ptr
    }

    /// Who takes it back; `None` for an empty block.
    pub(crate) fn pool(&self) -> Option<&AnyPool> {
        self.pool.as_ref()
    }

    /// Bytes that were asked for.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether 0 bytes were asked for.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes that are there: the request as its pool rounded it up.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// The device that was asked for, its id included where ids share a pool.
    pub fn device(&self) -> Device {
        self.device
    }

    /// What the memory is for.
    pub fn tag(&self) -> &Tag {
        &self.tag
    }

    /// Returns the memory to the device at once instead of keeping it for reuse.
    pub fn free_directly(mut self) {
        if let Some(pool) = self.pool.take() {
            pool.free_directly(self.ptr, self.len, self.block_bytes);
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.free(self.ptr, self.len, self.block_bytes);
        }
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block")
            .field("ptr", &self.ptr)
            .field("len", &self.len)
            .field("block_bytes", &self.block_bytes)
            .field("device", &self.device)
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}
