//! The interface by which a device outside mxrs becomes part of a runtime.

use crate::settings;
use mxrs_engine::EngineBuilder;
use mxrs_engine::gpu::GpuDevice;
use mxrs_env::Settings;
use mxrs_ndarray::{ArrayContext, DeviceCopies};
use mxrs_op::Backend;
use mxrs_storage::{DeviceMemory, Storage};
use mxrs_types::{Device, Error, Result};
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
    fn probe(&self) -> std::result::Result<(), String>;

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

/// Makes the engine and the storage of a runtime, with these devices.
///
/// # Errors
/// Returns an error if a device cannot be used or is registered twice, or if the system refuses threads or memory.
pub(crate) fn array_context(
    mut engine: EngineBuilder,
    settings: &Settings,
    devices: &[Arc<dyn DevicePlug>],
) -> Result<ArrayContext> {
    let mut storage = Storage::builder(settings::storage(settings));
    for device in devices {
        if let Err(reason) = device.probe() {
            return Err(Error::not_built(format!("{} ({})", device.device(), device.name()), reason));
        }
        engine = engine.gpu(device.streams());
        storage = storage.device(device.memory());
    }
    let arrays = ArrayContext::builder(engine.build()?, storage.build()?)
        .resources(settings::resources(settings))
        .direct_copies(settings.kvstore.gpu_p2p);
    devices.iter().fold(arrays, |arrays, device| arrays.device(device.copies())).build()
}
