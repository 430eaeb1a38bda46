//! One step of a ready program: a kernel, or a copy of bytes, on the host or on the stream of a device.

use mxrs_ndarray::{DeviceCopies, RandomCalls};
use mxrs_op::{Kernel, KernelArgs, RandomCall, RawTensor, TensorDesc, accumulate};
use mxrs_sync::Team;
use mxrs_types::{DeviceStream, Error, Result, ResultExt, WriteReq};
use std::sync::Arc;

pub type Tensor = RawTensor<'static>;

/// What a task gives the steps that it runs.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Threads for loops inside kernels of the host.
    pub team: &'a Team,
    /// The stream of the task and the copy functions of its device; `None` on the host.
    pub on_device: Option<(&'a dyn DeviceStream, &'a dyn DeviceCopies)>,
}

impl<'a> Means<'a> {
    /// The stream, as kernels get it.
    pub fn stream(&self) -> Option<&'a dyn DeviceStream> {
        self.on_device.map(|(stream, _)| stream)
    }
}

/// A step with its addresses.
pub struct ReadyStep {
    pub name: String,
    pub kernel: Option<Arc<dyn Kernel>>,
    pub inputs: Vec<Tensor>,
    pub outputs: Vec<Tensor>,
    pub reqs: Vec<WriteReq>,
    pub scratch: Tensor,
    pub random: Option<u32>,
    /// Whether the step copies between devices. Such a step is not run: the engine copies its arrays.
    pub crosses: bool,
    /// Description of the first output, for a view that adds to its output.
    pub desc: TensorDesc,
}

impl ReadyStep {
    /// Runs the step, or enqueues it on the stream of a device.
    ///
    /// # Errors
    /// Returns the error of the kernel or of the device, with the name of the step.
    pub fn run(&self, means: &Means<'_>, random: RandomCalls) -> Result<()> {
        let Some(kernel) = &self.kernel else { return self.copy(means) };
        let call = |k: u32| RandomCall { seed: random.seed, number: random.first.wrapping_add(u64::from(k)) };
        let args = KernelArgs {
            inputs: &self.inputs,
            outputs: &self.outputs,
            reqs: &self.reqs,
            scratch: self.scratch,
            team: means.team,
            random: self.random.map(call),
            stream: means.stream(),
        };
        // SAFETY: the tensors are those of the step that the kernel was planned for: the planner gives each the size of
        // its layout, and keeps tensors from overlapping unless they are in place. The task that runs the step holds
        // the engine variables of all these tensors, as the head of `ready/mod.rs` argues.
        unsafe { kernel.run(&args) }.context(|| format!("running `{}` ({})", self.name, kernel.name()))
    }

    /// Copies the bytes of a view to its output, unless both share memory.
    fn copy(&self, means: &Means<'_>) -> Result<()> {
        if self.crosses {
            return Err(Error::not_built(
                format!("running `{}` in a task", self.name),
                "arrays are copied between devices",
            ));
        }
        let (from, to) = (&self.inputs[0], &self.outputs[0]);
        if from.as_ptr() == to.as_ptr() || to.len_bytes() == 0 {
            return Ok(());
        }
        if means.on_device.is_some() && self.reqs[0] == WriteReq::Add {
            // Lowering makes a kernel of such a step, so no program contains it.
            return Err(Error::not_built(format!("adding by `{}` on a device", self.name), "no kernel was planned"));
        }
        match self.reqs[0] {
            WriteReq::Add => {
                // SAFETY: `from` and `to` are valid for their lengths, as the head of `ready/mod.rs` argues. Their addresses
                // differ, so the planner keeps them from overlapping.
                let (from, to) = unsafe { (from.bytes(), to.bytes_mut()) };
                accumulate(&self.desc, to, from)
            }
            // SAFETY: `from` and `to` are valid for their lengths, as the head of `ready/mod.rs` argues. Their addresses
            // differ, so the step does not run in place, and the planner keeps the tensors of such a step from
            // overlapping.
            _ => unsafe { copy_bytes(from, to, means) }.context(|| format!("running `{}` (copy)", self.name)),
        }
    }
}

/// Copies a tensor to a tensor of as many bytes, on the host or on the stream of a device.
///
/// # Errors
/// Returns the error of the device.
///
/// # Safety
/// Both tensors are valid for their lengths until the work of the task is done, they do not overlap, and meanwhile no
/// other code uses `to` or writes `from`. They are memory of the device in `means`, or of the host if there is none.
pub unsafe fn copy_bytes(from: &Tensor, to: &Tensor, means: &Means<'_>) -> Result<()> {
    match means.on_device {
        // SAFETY: the caller guarantees that both tensors are valid, do not overlap, and are used by no other code.
        None => unsafe { to.bytes_mut().copy_from_slice(from.bytes()) },
        Some((stream, copies)) => {
            let n_bytes = from.len_bytes().min(to.len_bytes());
            // SAFETY: the caller guarantees that both tensors stay valid, do not overlap, and are used by no other code. The
            // stream is that of the task, so it belongs to the device.
            unsafe { copies.copy(stream, from.as_ptr(), to.as_ptr(), n_bytes) }?;
        }
    }
    Ok(())
}
