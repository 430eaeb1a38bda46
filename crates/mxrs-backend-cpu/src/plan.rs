//! A kernel made of a closure, and the usual plan for such a kernel.

use crate::stream;
use mxrs_op::{Kernel, KernelArgs, OpCall, PlannedKernel, TensorDesc};
use mxrs_types::{DType, Layout, Result, WriteReq};
use std::sync::Arc;

/// A function that prepares the kernel of a call. It cannot fail.
pub type Build = Box<dyn FnOnce() -> PlannedKernel>;

/// The function that prepares a call, or the reason why there is no kernel for it.
pub type Planned = std::result::Result<Build, String>;

struct Closure<F> {
    name: String,
    /// For each output, whether its dtype supports a request to add.
    adds: Vec<bool>,
    run: F,
}

impl<F: Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync> Kernel for Closure<F> {
    fn name(&self) -> &str {
        &self.name
    }

    /// For a request to add, every kernel of this crate adds its result to the old values piece by piece, from the L1 cache
    /// ([`crate::tensors`]).
    fn adds(&self, output: usize) -> bool {
        self.adds.get(output) == Some(&true)
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let wanted = args.reqs.is_empty() || args.reqs.iter().any(|req| *req != WriteReq::Null);
        let result = if wanted { (self.run)(args) } else { Ok(()) };
        stream::fence();
        result
    }
}

/// The kernel of a call, named `cpu:<operator>`. The closure does not run if the requests of all outputs are null.
pub fn kernel(
    op: &'static str,
    adds: Vec<bool>,
    run: impl Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync + 'static,
) -> Arc<dyn Kernel> {
    Arc::new(Closure { name: format!("cpu:{op}"), adds, run })
}

/// For each output of a call, whether its dtype supports a request to add.
pub fn adds(outputs: &[TensorDesc]) -> Vec<bool> {
    outputs.iter().map(|desc| desc.dtype != DType::Bool).collect()
}

/// Plans a kernel whose tensors are all row-major. The kernel may run in place wherever the operator allows it.
pub fn row_major(
    call: &OpCall<'_>,
    scratch_bytes: usize,
    run: impl Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync + 'static,
) -> Build {
    all_row_major(call, scratch_bytes, true, run)
}

/// Does the same as [`row_major`], but the kernel never runs in place. It is for kernels that read an element of an
/// input after another element of the output has been written.
pub fn out_of_place(
    call: &OpCall<'_>,
    scratch_bytes: usize,
    run: impl Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync + 'static,
) -> Build {
    all_row_major(call, scratch_bytes, false, run)
}

fn all_row_major(
    call: &OpCall<'_>,
    scratch_bytes: usize,
    can_run_inplace: bool,
    run: impl Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync + 'static,
) -> Build {
    let (op, n_inputs, adds) = (call.op.name, call.inputs.len(), adds(call.outputs));
    Box::new(move || PlannedKernel {
        input_layouts: vec![Layout::RowMajor; n_inputs],
        output_layouts: vec![Layout::RowMajor; adds.len()],
        scratch_bytes,
        can_run_inplace,
        kernel: kernel(op, adds, run),
    })
}
