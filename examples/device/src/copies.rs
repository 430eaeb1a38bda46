//! Copies to, from and within the memory of the device.

use crate::stream::Stream;
use mxrs::ndarray::DeviceCopies;
use mxrs::op::RawTensor;
use mxrs::types::{Device, DeviceStream, Error, Result};

/// The copies of the device, each a piece of work on one of its streams. The file is mapped, so a copy is one call of the
/// standard library.
#[derive(Debug)]
pub struct FileCopies {
    device: Device,
}

impl FileCopies {
    /// The copies of this device.
    pub fn new(device: Device) -> Self {
        Self { device }
    }

    /// Enqueues a copy.
    ///
    /// # Safety
    /// The contract of [`DeviceCopies::upload`], for any two places.
    unsafe fn transfer(&self, stream: &dyn DeviceStream, from: *const u8, to: *mut u8, n_bytes: usize) -> Result<()> {
        // SAFETY: the caller promised that both places have `n_bytes` bytes until this work is done.
        let [from, to] = [from.cast_mut(), to].map(|place| unsafe { RawTensor::new(place, n_bytes) });
        Stream::of(stream, self.device)?.enqueue("copy", move || {
            // SAFETY: the caller promised that the places do not overlap, and that no other work uses them in a conflicting
            // way.
            unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.as_ptr(), to.len_bytes()) };
            Ok(())
        })
    }
}

// SAFETY: each method enqueues work on the stream that it is given. The work copies or fills exactly the bytes that the
// method names.
unsafe impl DeviceCopies for FileCopies {
    fn device(&self) -> Device {
        self.device
    }

    unsafe fn upload(&self, stream: &dyn DeviceStream, from: *const u8, to: *mut u8, n_bytes: usize) -> Result<()> {
        // SAFETY: promised by the caller.
        unsafe { self.transfer(stream, from, to, n_bytes) }
    }

    unsafe fn download(&self, stream: &dyn DeviceStream, from: *const u8, to: *mut u8, n_bytes: usize) -> Result<()> {
        // SAFETY: promised by the caller.
        unsafe { self.transfer(stream, from, to, n_bytes) }
    }

    unsafe fn copy(&self, stream: &dyn DeviceStream, from: *const u8, to: *mut u8, n_bytes: usize) -> Result<()> {
        // SAFETY: promised by the caller.
        unsafe { self.transfer(stream, from, to, n_bytes) }
    }

    unsafe fn fill_zero(&self, stream: &dyn DeviceStream, to: *mut u8, n_bytes: usize) -> Result<()> {
        // SAFETY: the caller promised that the place has `n_bytes` bytes until this work is done.
        let to = unsafe { RawTensor::new(to, n_bytes) };
        Stream::of(stream, self.device)?.enqueue("zeros", move || {
            // SAFETY: the caller promised that no other work uses the place meanwhile.
            unsafe { to.as_ptr().write_bytes(0, to.len_bytes()) };
            Ok(())
        })
    }

    unsafe fn copy_to_peer(
        &self,
        _: &dyn DeviceStream,
        _: *const u8,
        peer: Device,
        _: *mut u8,
        _: usize,
    ) -> Result<()> {
        Err(Error::invalid("peer", peer, format!("no device: {} copies to the host only", self.device)))
    }
}
