//! What a pool needs from a device.

mod growable;
mod heap;
mod host;
#[cfg(all(target_os = "linux", not(miri)))]
mod mapping;
#[cfg(all(target_os = "linux", not(miri)))]
mod reservation;
mod shared;
mod simulated;
mod system_probe;

pub use growable::GrowableMemory;
pub use heap::return_freed_heap;
pub use host::HostMemory;
pub(crate) use shared::{HeldSegments, SharedMemory};
pub use shared::{SharedHandle, SharedId};
pub use simulated::{SimulatedCall, SimulatedCounters, SimulatedMemory};

use mxrs_types::{Device, Error, Result};
use std::ptr::NonNull;

/// How much memory a device has, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Bytes that could be allocated now.
    pub free: u64,
    /// Bytes there are.
    pub total: u64,
}

/// The memory of one device: the only thing a pool knows about hardware.
///
/// Pools call it without holding a lock, from many threads at once.
///
/// # Safety
/// `allocate` returns memory of at least the size asked for, at a multiple of [`ALIGNMENT`](crate::ALIGNMENT), that
/// overlaps no other allocation not yet freed, stays until it is freed, and may be used and freed on any thread. If
/// [`device`](Self::device) is a host device ([`Device::is_host`]), the host may read and write it. (A device that only
/// tests see may give addresses with nothing behind them: then it is for the test not to touch them.)
pub unsafe trait DeviceMemory: Send + Sync {
    /// The device.
    fn device(&self) -> Device;

    /// `size_bytes` (at least 1) bytes of uninitialized memory.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](mxrs_types::ErrorKind::OutOfMemory) if there is no room (the pool replaces its figures
    /// by its own); any other kind if the device fails.
    fn allocate(&self, size_bytes: usize) -> Result<NonNull<u8>>;

    /// The same, where the request is for `used_bytes` of them and the rest is what a pool's rounding added. Later requests
    /// may use all.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate).
    fn allocate_for(&self, size_bytes: usize, used_bytes: usize) -> Result<NonNull<u8>> {
        let _ = used_bytes;
        self.allocate(size_bytes)
    }

    /// Takes memory back.
    ///
    /// # Safety
    /// `ptr` came from `allocate(size_bytes)` or `allocate_for(size_bytes, …)` of this object with the same size, was not freed
    /// since, and nothing uses it any more, pending work of the device included.
    unsafe fn free(&self, ptr: NonNull<u8>, size_bytes: usize);

    /// Free and total memory. For page-locked memory these are the system's figures, not those of a GPU.
    ///
    /// Pools ask on a cache miss, so it may cost a system call, but not milliseconds.
    fn info(&self) -> MemoryInfo;

    /// How to put memory behind addresses bit by bit, where the device can; `None` where it cannot.
    fn growable(&self) -> Option<&dyn GrowableMemory> {
        None
    }
}

/// "No room" as a device reports it; the pool knows the rest.
pub(crate) fn refused(device: Device, size_bytes: usize) -> Error {
    Error::out_of_memory(device, size_bytes as u64, "the device refused")
}
