//! A piece of device memory with one owner.

use crate::memory::SharedMemory;
use crate::pool::{Pool, RecordRef, Request};
use crate::{ALIGNMENT, Tag};
use mxrs_sync::Arc;
use mxrs_types::{Device, DeviceEvent};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// Device memory that belongs to whoever holds this value; dropping it returns the memory to its pool, also after the
/// last [`Storage`](crate::Storage) handle is gone.
///
/// The bytes are not initialized: fresh from the system, or whatever an earlier owner left. The pointer may be read and
/// written through by the host only where [`Device::is_host`] holds, and it is the caller who orders those accesses.
///
/// Work that a device does later, on a stream of its own, is the pool's concern too: who drops a block promises that no
/// such work is under way, or hands over the events that end it, with [`free_after`](Self::free_after) or, earlier, with
/// [`used_by`](Self::used_by).
pub struct Block {
    record: RecordRef,
}

// SAFETY: a block is a unique owner of memory that is tied to no thread: `DeviceMemory` is `Send + Sync` and promises
// that memory allocated on one thread may be used and freed on another. Record and pool are `Send + Sync`.
unsafe impl Send for Block {}
// SAFETY: through `&Block` one can only read plain numbers and the tag, which nobody writes while the block is live, copy
// the raw pointer, whose use is unsafe, and add events, which the record guards with a lock.
unsafe impl Sync for Block {}

impl Block {
    /// A block of size 0: no memory and no pool behind it.
    pub(crate) fn empty(device: Device, tag: Tag) -> Self {
        // The address is never used; it is aligned and not null so that an empty slice can be made of it.
        let ptr = NonNull::without_provenance(const { std::num::NonZero::new(ALIGNMENT).unwrap() });
        let request = Request { device, size: 0, tag };
        Self { record: RecordRef::new(ptr, 0, 0, std::ptr::null(), request) }
    }

    /// # Safety
    /// `record` is live, its pool came from an `Arc`, and no other block is made of it.
    #[inline]
    pub(crate) unsafe fn new(record: RecordRef) -> Self {
        Self { record }
    }

    fn request(&self) -> &Request {
        // SAFETY: this block is the owner, so nobody writes the owner's part.
        match unsafe { self.record.request() } {
            Some(request) => request,
            None => unreachable!("a block whose record is cached"),
        }
    }

    /// First byte, at a multiple of [`ALIGNMENT`]. For an empty block an aligned address with no memory behind it.
    pub fn as_ptr(&self) -> *mut u8 {
        self.record.ptr().as_ptr()
    }

    /// First byte, as [`as_ptr`](Self::as_ptr).
    pub fn as_non_null(&self) -> NonNull<u8> {
        self.record.ptr()
    }

    /// Bytes that were asked for.
    pub fn len(&self) -> usize {
        self.request().size
    }

    /// Whether 0 bytes were asked for.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that are there: the request as its pool rounded it up.
    pub fn block_bytes(&self) -> usize {
        self.record.block_bytes()
    }

    /// The device that was asked for, its id included where ids share a pool.
    pub fn device(&self) -> Device {
        self.request().device
    }

    /// What the memory is for.
    pub fn tag(&self) -> &Tag {
        &self.request().tag
    }

    /// Notes that work on a stream uses the memory until `event`: after this block is dropped the memory is not reused by
    /// another stream, or by the host, and not returned to the device before the event is finished. For a block used on
    /// the stream it was allocated on as well as others: one event for each.
    pub fn used_by(&self, event: Arc<dyn DeviceEvent>) {
        self.record.mark([event]);
    }

    /// Gives the block up now, for reuse after these events; see [`used_by`](Self::used_by).
    pub fn free_after(self, events: impl IntoIterator<Item = Arc<dyn DeviceEvent>>) {
        self.record.mark(events);
    }

    /// Returns the memory to the device at once instead of keeping it for reuse. Waits for the events of
    /// [`used_by`](Self::used_by).
    pub fn free_directly(self) {
        let Some(pool) = self.record.pool() else { return };
        self.report(pool);
        let this = ManuallyDrop::new(self);
        // SAFETY: this block was the owner, and it is not dropped.
        unsafe { Pool::free_directly(pool, this.record) };
    }

    /// The memory, where other processes can map it.
    pub(crate) fn segments(&self) -> Option<&SharedMemory> {
        // SAFETY: the block is live for as long as it is borrowed, so its pool is alive.
        self.record.pool().and_then(|pool| unsafe { pool.as_ref() }.segments())
    }

    /// Tells the observer, if one listens, that the block is being given up.
    #[inline]
    fn report(&self, pool: NonNull<Pool>) {
        // SAFETY: the block is live, so its pool is alive.
        let watch = unsafe { pool.as_ref() }.watch();
        if watch.is_on() {
            watch.freed(self);
        }
    }
}

impl Drop for Block {
    #[inline]
    fn drop(&mut self) {
        match self.record.pool() {
            Some(pool) => {
                self.report(pool);
                // SAFETY: this block is the owner and will not be used again.
                unsafe { Pool::free(pool, self.record) };
            }
            // SAFETY: an empty block is the one holder of its record, which is in no roster.
            None => drop(unsafe { self.record.destroy() }),
        }
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block")
            .field("ptr", &self.as_ptr())
            .field("len", &self.len())
            .field("block_bytes", &self.block_bytes())
            .field("device", &self.device())
            .field("tag", self.tag())
            .finish()
    }
}
