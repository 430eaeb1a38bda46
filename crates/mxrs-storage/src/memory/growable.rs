//! Memory that can be put behind addresses, and taken from behind them, while its neighbors stay.

use mxrs_types::Result;
use std::ptr::NonNull;

/// What a device with virtual memory can do: one long range of addresses that grows as it is needed, so that whatever is
/// freed in it can be joined. An optional part of [`DeviceMemory`](crate::DeviceMemory), with the same promises: any
/// thread, many at once, and no lock is held by the caller.
///
/// A *reservation* is a range of addresses; a *unit* of it either has memory or has none.
pub trait GrowableMemory: Send + Sync {
    /// Bytes of a unit: a power of two, at least [`ALIGNMENT`](crate::ALIGNMENT).
    fn unit_bytes(&self) -> usize;

    /// Reserves `size_bytes` of addresses (whole units, at least one) without memory, at a multiple of a unit; `None` if
    /// there is no such range. Costs next to no memory however long it is.
    fn reserve(&self, size_bytes: usize) -> Option<NonNull<u8>>;

    /// Puts memory behind whole units, all of them or none; the memory is not initialized.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](mxrs_types::ErrorKind::OutOfMemory) if there is no room (the pool replaces its figures
    /// by its own); any other kind if the device fails.
    ///
    /// # Safety
    /// The range is whole units of one reservation of this object, none of which has memory.
    unsafe fn commit(&self, ptr: NonNull<u8>, size_bytes: usize) -> Result<()>;

    /// Takes the memory from whole units; the addresses stay reserved.
    ///
    /// # Safety
    /// The range is whole units of one reservation of this object, all of which have memory, and nothing uses them any
    /// more, pending work of the device included.
    unsafe fn decommit(&self, ptr: NonNull<u8>, size_bytes: usize);

    /// Gives a reservation up, with the memory that is still in it.
    ///
    /// # Safety
    /// `ptr` came from `reserve(size_bytes)` of this object with the same size, has not been given up, and nothing uses
    /// any of it.
    unsafe fn unreserve(&self, ptr: NonNull<u8>, size_bytes: usize);
}
