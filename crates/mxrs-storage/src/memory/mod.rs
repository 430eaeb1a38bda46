//! The interface of a device's memory.

mod copies;
mod growable;
mod heap;
mod host;
#[cfg(all(target_os = "linux", not(miri)))]
mod mapping;
#[cfg(all(target_os = "linux", not(miri)))]
mod reservation;
mod shared;
mod system_probe;

pub use copies::DeviceCopies;
pub use growable::GrowableMemory;
pub use heap::return_freed_heap;
pub use host::HostMemory;
pub(crate) use shared::{HeldSegments, SharedMemory};
pub use shared::{SharedHandle, SharedId};

use mxrs_types::{Device, Error, Result};
use std::ptr::NonNull;

/// The amount of memory of a device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that could be allocated now.
    pub free: u64,
    /// Bytes in total, allocated or not.
    pub total: u64,
}

/// The memory of one device. A pool uses the hardware only through this interface.
///
/// Pools call it without holding a lock, from many threads at the same time.
///
/// # Safety
/// `allocate` returns memory of at least the requested size at a multiple of [`ALIGNMENT`](crate::ALIGNMENT), which
/// overlaps no other live allocation, stays valid until it is freed, and may be used and freed on any thread. If
/// [`device`](Self::device) is a host device ([`Device::is_host`]), the host may read and write it. (A device for tests
/// may return addresses without memory behind them if its maker has promised that nothing accesses them.)
pub unsafe trait DeviceMemory: Send + Sync {
    /// The device whose memory this is.
    fn device(&self) -> Device;

    /// Allocates `size_bytes` (at least 1) bytes of uninitialized memory.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](mxrs_types::ErrorKind::OutOfMemory) if there is not enough memory (the pool replaces the
    /// byte counts in the error by its own); any other kind if the device fails.
    fn allocate(&self, size_bytes: usize) -> Result<NonNull<u8>>;

    /// [`allocate`](Self::allocate) with the information that the first owner requested only `used_bytes`, which the pool
    /// rounded up to `size_bytes`. Later owners may use all `size_bytes`.
    ///
    /// # Errors
    /// The same as for [`allocate`](Self::allocate).
    fn allocate_for(&self, size_bytes: usize, used_bytes: usize) -> Result<NonNull<u8>> {
        let _ = used_bytes;
        self.allocate(size_bytes)
    }

    /// Frees memory.
    ///
    /// # Safety
    /// `ptr` came from `allocate(size_bytes)` or `allocate_for(size_bytes, …)` of this object with the same size, has
    /// not been freed since, and nothing uses it any more, including pending work of the device.
    unsafe fn free(&self, ptr: NonNull<u8>, size_bytes: usize);

    /// Free and total memory. For page-locked memory these are the system's figures, not those of a GPU.
    ///
    /// A pool calls this on a cache miss, so it may make a system call, but must not take milliseconds.
    fn info(&self) -> MemoryInfo;

    /// The interface for adding memory behind reserved addresses; `None` if the device does not have it.
    fn growable(&self) -> Option<&dyn GrowableMemory> {
        None
    }
}

/// The error of a device that does not have `size_bytes` of memory; the pool adds the details.
pub(crate) fn refused(device: Device, size_bytes: usize) -> Error {
    Error::out_of_memory(device, size_bytes as u64, "the device refused")
}
