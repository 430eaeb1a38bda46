//! A simulated GPU as a runtime takes it.

use mxrs::DevicePlug;
use mxrs::engine::gpu::GpuDevice;
use mxrs::ndarray::DeviceCopies;
use mxrs::op::Backend;
use mxrs::storage::DeviceMemory;
use mxrs::types::Device;
use mxrs_simulated_gpu::SimulatedDevice;
use std::sync::Arc;

/// A simulated GPU with these backends.
pub struct Plug {
    pub gpu: Arc<SimulatedDevice>,
    pub backends: Vec<Arc<dyn Backend>>,
}

impl DevicePlug for Plug {
    fn name(&self) -> &str {
        "simulated"
    }
    fn device(&self) -> Device {
        DeviceCopies::device(&*self.gpu)
    }
    fn probe(&self) -> Result<(), String> {
        Ok(())
    }
    fn memory(&self) -> Arc<dyn DeviceMemory> {
        self.gpu.device_memory()
    }
    fn streams(&self) -> Arc<dyn GpuDevice> {
        self.gpu.gpu_device()
    }
    fn copies(&self) -> Arc<dyn DeviceCopies> {
        Arc::clone(&self.gpu) as _
    }
    fn backends(&self, _: &[Arc<dyn Backend>]) -> Vec<Arc<dyn Backend>> {
        self.backends.clone()
    }
}
