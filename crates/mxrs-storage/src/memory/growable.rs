//! Device memory that can be added to any part of a range of reserved addresses, and removed again.

use mxrs_types::Result;
use std::ptr::NonNull;

/// The interface of a device with virtual memory: one long range of addresses grows as needed, so that a freed block in it
/// can be joined with the free memory next to it. An optional part of [`DeviceMemory`](crate::DeviceMemory) with the same
/// promises: it may be called on any thread and concurrently, and the caller holds no lock.
///
/// A *reservation* is a range of addresses; a *unit* of it either has memory or has none.
pub trait GrowableMemory: Send + Sync {
    /// The size of a unit in bytes: a power of two, at least [`ALIGNMENT`](crate::ALIGNMENT).
    fn unit_bytes(&self) -> usize;

    /// Reserves `size_bytes` of addresses (whole units, at least one) without memory, at a multiple of a unit; `None`
    /// if there is no such range. Takes almost no memory, even for a long range.
    fn reserve(&self, size_bytes: usize) -> Option<NonNull<u8>>;

    /// Adds uninitialized memory behind all units of the range. If that fails, no unit gets memory.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](mxrs_types::ErrorKind::OutOfMemory) if there is not enough memory (the pool replaces the
    /// byte counts in the error by its own); any other kind if the device fails.
    ///
    /// # Safety
    /// The range is whole units of one reservation of this object, none of which has memory.
    unsafe fn commit(&self, ptr: NonNull<u8>, size_bytes: usize) -> Result<()>;

    /// Removes the memory behind whole units; the addresses stay reserved.
    ///
    /// # Safety
    /// The range is whole units of one reservation of this object, all of which have memory that nothing uses any more,
    /// including pending work of the device.
    unsafe fn decommit(&self, ptr: NonNull<u8>, size_bytes: usize);

    /// Ends a reservation, including the memory that is still behind it.
    ///
    /// # Safety
    /// `ptr` came from `reserve(size_bytes)` of this object with the same size, the reservation has not been ended, and
    /// nothing uses any part of it.
    unsafe fn unreserve(&self, ptr: NonNull<u8>, size_bytes: usize);
}
