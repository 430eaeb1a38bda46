//! A device from outside mxrs. Its memory is a file, its streams are threads, and its kernels are those of the host.
//!
//! A vendor replaces the parts one by one: [`FileMemory`] by the allocator of a driver, [`FileStreams`] by the driver's
//! queues and events, [`FileCopies`] by its copies, and [`FileBackend`] by kernels of its own.
//!
//! ```
//! use mxrs::{Runtime, ndarray::NdArray, types::Device};
//! use mxrs_example_device::FileDevice;
//! use std::sync::Arc;
//!
//! let dir = tempfile::tempdir().expect("a folder");
//! let device = FileDevice::create(Device::gpu(0), &dir.path().join("memory"), 1 << 20)?;
//! let runtime = Runtime::builder().device(Arc::new(device)).build()?;
//! let array = NdArray::from_slice_on(runtime.arrays(), [2], &[1.5_f32, -2.0], Device::gpu(0))?;
//! assert_eq!(array.to_vec::<f32>()?, [1.5, -2.0]);
//! # Ok::<(), mxrs::Error>(())
//! ```
#![allow(unsafe_code)]
// Unsafe code is needed because `DeviceMemory` and `DeviceCopies` are unsafe traits, and running a kernel is unsafe.

mod backend;
mod copies;
mod memory;
mod stream;

pub use backend::FileBackend;
pub use copies::FileCopies;
pub use memory::FileMemory;
pub use stream::FileStreams;

use mxrs::DevicePlug;
use mxrs::engine::gpu::GpuDevice;
use mxrs::ndarray::DeviceCopies;
use mxrs::op::Backend;
use mxrs::storage::DeviceMemory;
use mxrs::types::{Device, Error, ErrorKind, Result};
use std::path::Path;
use std::sync::Arc;

/// The device, as a runtime takes it.
pub struct FileDevice {
    device: Device,
    memory: Arc<FileMemory>,
}

impl FileDevice {
    /// Makes a device that has the name `device` in programs. Its memory is a new file of `n_bytes` bytes at `path`.
    ///
    /// # Errors
    /// Fails if the file exists, or if it cannot be made or mapped.
    pub fn create(device: Device, path: &Path, n_bytes: usize) -> Result<Self> {
        Ok(Self { device, memory: Arc::new(FileMemory::create(device, path, n_bytes)?) })
    }
}

impl DevicePlug for FileDevice {
    fn name(&self) -> &str {
        "file"
    }

    fn device(&self) -> Device {
        self.device
    }

    fn probe(&self) -> std::result::Result<(), String> {
        // A device with a driver looks for it here.
        Ok(())
    }

    fn memory(&self) -> Arc<dyn DeviceMemory> {
        self.memory.clone()
    }

    fn streams(&self) -> Arc<dyn GpuDevice> {
        Arc::new(FileStreams::new(self.device))
    }

    fn copies(&self) -> Arc<dyn DeviceCopies> {
        Arc::new(FileCopies::new(self.device))
    }

    fn backends(&self, host: &[Arc<dyn Backend>]) -> Vec<Arc<dyn Backend>> {
        let on_device = |host: &Arc<dyn Backend>| Arc::new(FileBackend::new(host.clone(), self.device)) as _;
        host.iter().map(on_device).collect()
    }
}

/// The error of this device.
fn failure(message: String) -> Error {
    Error::new(ErrorKind::Backend { backend: "file", message })
}
