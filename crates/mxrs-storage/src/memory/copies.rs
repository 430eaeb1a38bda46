//! The interface for moving bytes to, from and within memory that the host cannot access.

use mxrs_types::{Device, DeviceStream, Result};
use std::fmt;

/// Copies of a device whose memory the host cannot access. [`DeviceMemory`](crate::DeviceMemory) hands out such memory;
/// this trait moves bytes.
///
/// Every method enqueues work on a stream of [`device`](Self::device) and returns without waiting for it. A failure of
/// the work is reported by the stream's later events. Addresses of the device come from its
/// [`DeviceMemory`](crate::DeviceMemory). Sizes are in bytes and may be 0.
///
/// # Safety
/// The enqueued work reads and writes exactly the bytes that a method names, and only between the work that the stream
/// already holds and the work that it gets later. `upload`, `download` and `copy_to_peer` leave the same bytes at the
/// destination as there are at the source, and `fill_zero` leaves zeros.
pub unsafe trait DeviceCopies: Send + Sync + fmt::Debug {
    /// The device to which the memory and the streams belong.
    fn device(&self) -> Device;

    /// Enqueues a copy from host memory to this device.
    ///
    /// # Errors
    /// Returns the device's error, or an error if the stream is not one of this device.
    ///
    /// # Safety
    /// `from` is host memory, and `to` is memory of this device, of at least `n_bytes`. Until the work is done, both stay
    /// allocated, `from` is not written and `to` is not used, except by work that is ordered after it.
    unsafe fn upload(&self, stream: &dyn DeviceStream, from: *const u8, to: *mut u8, n_bytes: usize) -> Result<()>;

    /// Enqueues a copy from this device to host memory.
    ///
    /// # Errors
    /// Returns the errors of [`upload`](Self::upload).
    ///
    /// # Safety
    /// As for [`upload`](Self::upload), with `from` on this device and `to` in host memory.
    unsafe fn download(&self, stream: &dyn DeviceStream, from: *const u8, to: *mut u8, n_bytes: usize) -> Result<()>;

    /// Enqueues a copy within this device.
    ///
    /// # Errors
    /// Returns the errors of [`upload`](Self::upload).
    ///
    /// # Safety
    /// As for [`upload`](Self::upload), with both on this device. The two ranges do not overlap.
    unsafe fn copy(&self, stream: &dyn DeviceStream, from: *const u8, to: *mut u8, n_bytes: usize) -> Result<()>;

    /// Enqueues a write of `n_bytes` zeros to `to`.
    ///
    /// # Errors
    /// Returns the errors of [`upload`](Self::upload).
    ///
    /// # Safety
    /// `to` is memory of this device, of at least `n_bytes`. Until the work is done, it stays allocated and is not used,
    /// except by work that is ordered after it.
    unsafe fn fill_zero(&self, stream: &dyn DeviceStream, to: *mut u8, n_bytes: usize) -> Result<()>;

    /// Whether this device can copy directly to `peer`. If not, such a copy goes through host memory.
    fn reaches(&self, peer: Device) -> bool {
        let _ = peer;
        false
    }

    /// Enqueues a copy from this device to `peer`, on a stream of this device. Called only if [`reaches`](Self::reaches)
    /// is true for `peer`.
    ///
    /// # Errors
    /// Returns the errors of [`upload`](Self::upload), and an error if this device cannot reach `peer`.
    ///
    /// # Safety
    /// As for [`upload`](Self::upload), with `from` on this device and `to` on `peer`.
    unsafe fn copy_to_peer(
        &self,
        stream: &dyn DeviceStream,
        from: *const u8,
        peer: Device,
        to: *mut u8,
        n_bytes: usize,
    ) -> Result<()>;
}
