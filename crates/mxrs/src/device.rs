//! The interface by which a device outside mxrs becomes part of a runtime.

use mxrs_engine::gpu::GpuDevice;
use mxrs_ndarray::DeviceCopies;
use mxrs_op::Backend;
use mxrs_storage::DeviceMemory;
use mxrs_types::Device;
use std::sync::Arc;

/// A device with memory that the host cannot access, and with streams. [`RuntimeBuilder::device`] registers it. Arrays can
/// then be made on it, and graphs can be bound to it ([`Model::on_device`], [`BindOptions::device`]).
///
/// All parts belong to the same [`device`](Self::device). The runtime asks for each part once, when it is built.
///
/// [`RuntimeBuilder::device`]: crate::RuntimeBuilder::device
/// [`Model::on_device`]: crate::Model::on_device
/// [`BindOptions::device`]: mxrs_exec::BindOptions::device
pub trait DevicePlug: Send + Sync {
    /// A name for messages, such as the name of the product.
    fn name(&self) -> &str;

    /// The device, by which arrays and graphs refer to it.
    fn device(&self) -> Device;

    /// Whether the device can be used: `Err` with the reason if it cannot, because a driver is missing for example. Never
    /// panics.
    ///
    /// # Errors
    /// Returns the reason as a phrase, such as `libexample.so.1 is not installed`.
    fn probe(&self) -> Result<(), String>;

    /// The memory.
    fn memory(&self) -> Arc<dyn DeviceMemory>;

    /// The streams.
    fn streams(&self) -> Arc<dyn GpuDevice>;

    /// The copies to, from and within the memory.
    fn copies(&self) -> Arc<dyn DeviceCopies>;

    /// The backends that [run on](Backend::runs_on) the device. `host` are the backends of the runtime that run on the host,
    /// for devices that use their kernels.
    fn backends(&self, host: &[Arc<dyn Backend>]) -> Vec<Arc<dyn Backend>>;
}
