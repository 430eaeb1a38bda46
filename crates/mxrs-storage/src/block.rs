//! A piece of device memory with one owner.

use crate::memory::SharedMemory;
use crate::pool::{Pool, RecordRef, Request};
use crate::{ALIGNMENT, Tag, records};
use mxrs_sync::Arc;
use mxrs_types::{Device, DeviceEvent};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// Device memory that belongs to the holder of this value. Dropping it returns the memory to its pool, even after the
/// last [`Storage`](crate::Storage) handle is gone.
///
/// The bytes are not initialized: they are fresh from the system or contain what an earlier owner left. The host may
/// access them through the pointer only if [`Device::is_host`] holds, and the caller must order those accesses.
///
/// The pool also has to know about work that a device does later on a stream. The owner who drops a block promises that
/// no such work is pending, or passes the events that mark its end to [`free_after`](Self::free_after), or earlier to
/// [`used_by`](Self::used_by).
pub struct Block {
    record: RecordRef,
}

// SAFETY: a block is the only owner of its memory, which is not tied to a thread: `DeviceMemory` is `Send + Sync` and
// promises that memory allocated on one thread may be used and freed on another. The record and the pool are also
// `Send + Sync`.
unsafe impl Send for Block {}
// SAFETY: `&Block` allows three things: reading plain numbers and the tag, which do not change while the block is live;
// copying the raw pointer, whose use is unsafe; and adding events, which a lock in the record guards.
unsafe impl Sync for Block {}

impl Block {
    /// A block of size 0: no memory and no pool behind it.
    pub(crate) fn empty(device: Device, tag: Tag) -> Self {
        // The address is never used. It is aligned and not null so that an empty slice can be made from it.
        let ptr = NonNull::without_provenance(const { std::num::NonZero::new(ALIGNMENT).unwrap() });
        let request = Request { device, size: 0, tag };
        Self { record: RecordRef::new(ptr, 0, 0, std::ptr::null(), request) }
    }

    /// # Safety
    /// `record` is live, its pool pointer came from an `Arc`, and no other block is made from this record.
    #[inline]
    pub(crate) unsafe fn new(record: RecordRef) -> Self {
        Self { record }
    }

    fn request(&self) -> &Request {
        // SAFETY: this block is the owner, so no other code writes the owner's part of the record.
        match unsafe { self.record.request() } {
            Some(request) => request,
            None => unreachable!("a block whose record is cached"),
        }
    }

    /// A pointer to the first byte, whose address is a multiple of [`ALIGNMENT`]. For an empty block the address is aligned
    /// too, but has no memory behind it.
    pub fn as_ptr(&self) -> *mut u8 {
        self.record.ptr().as_ptr()
    }

    /// The first byte; see [`as_ptr`](Self::as_ptr).
    pub fn as_non_null(&self) -> NonNull<u8> {
        self.record.ptr()
    }

    /// The number of bytes that were requested.
    pub fn len(&self) -> usize {
        self.request().size
    }

    /// Whether 0 bytes were requested.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of the block in bytes: the requested size, rounded up by the pool.
    pub fn block_bytes(&self) -> usize {
        self.record.block_bytes()
    }

    /// The device that was requested, including its id even if several ids share a pool.
    pub fn device(&self) -> Device {
        self.request().device
    }

    /// What the memory is used for.
    pub fn tag(&self) -> &Tag {
        &self.request().tag
    }

    /// Records that work on a stream uses the memory until `event`. After this block is dropped, the memory is not
    /// reused by another stream or by the host, and not returned to the device, before the event is finished. A block
    /// used on several streams, including the one it was allocated on, needs one event for each.
    pub fn used_by(&self, event: Arc<dyn DeviceEvent>) {
        self.record.mark([event]);
    }

    /// Drops the block now; its memory is reused only after these events. See [`used_by`](Self::used_by).
    pub fn free_after(self, events: impl IntoIterator<Item = Arc<dyn DeviceEvent>>) {
        self.record.mark(events);
    }

    /// Returns the memory to the device immediately instead of keeping it for reuse. Waits for the events of
    /// [`used_by`](Self::used_by).
    pub fn free_directly(self) {
        let Some(pool) = self.record.pool() else { return };
        self.record_free();
        let this = ManuallyDrop::new(self);
        // SAFETY: this block was the owner, and `ManuallyDrop` keeps it from being freed again.
        unsafe { Pool::free_directly(pool, this.record) };
    }

    /// The shared memory that the block lies in, if other processes can map it.
    pub(crate) fn segments(&self) -> Option<&SharedMemory> {
        // SAFETY: the block is live for as long as it is borrowed, so its pool is alive.
        self.record.pool().and_then(|pool| unsafe { pool.as_ref() }.segments())
    }

    /// Records that the block is being freed, if memory is recorded.
    #[inline]
    fn record_free(&self) {
        if records::are_on() {
            records::freed(self);
        }
    }
}

impl Drop for Block {
    #[inline]
    fn drop(&mut self) {
        match self.record.pool() {
            Some(pool) => {
                self.record_free();
                // SAFETY: this block is the owner and will not be used again.
                unsafe { Pool::free(pool, self.record) };
            }
            // SAFETY: an empty block has no pool, so it has the only pointer to its record.
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
