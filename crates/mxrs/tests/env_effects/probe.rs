//! A backend that supports every call and runs a closure, to observe the arguments of a kernel.

use mxrs::Result;
use mxrs::op::{Answer, Backend, Kernel, KernelArgs, Offer, OpCall, PlannedKernel, TensorDesc};
use mxrs::types::{Device, Layout};
use std::sync::Arc;

type Look = dyn Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync;

/// A backend whose kernels call the closure and do not write their outputs.
pub struct Probe {
    look: Arc<Look>,
    scratch_bytes: usize,
}

impl Probe {
    pub fn new(look: impl Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync + 'static) -> Arc<Self> {
        Self::with_scratch(0, look)
    }

    /// A probe whose kernels request a workspace.
    pub fn with_scratch(
        scratch_bytes: usize,
        look: impl Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { look: Arc::new(look), scratch_bytes })
    }
}

impl Backend for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    /// The closure decides what it does with memory of a device.
    fn runs_on(&self, _: Device) -> bool {
        true
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        Ok(Offer::new(0.0, move || {
            Ok(PlannedKernel {
                input_layouts: vec![Layout::RowMajor; call.inputs.len()],
                output_layouts: vec![Layout::RowMajor; call.outputs.len()],
                scratch_bytes: self.scratch_bytes,
                can_run_inplace: false,
                kernel: Arc::new(ProbeKernel(Arc::clone(&self.look))),
            })
        }))
    }
    fn reorder(&self, _: &TensorDesc, _: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok(None)
    }
}

struct ProbeKernel(Arc<Look>);

// Unsafe code is allowed because `Kernel::run` is an unsafe function.
#[allow(unsafe_code)]
impl Kernel for ProbeKernel {
    fn name(&self) -> &str {
        "probe"
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        (self.0)(args)
    }
}
