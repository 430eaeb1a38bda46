//! A kernel as a closure, and the usual plan around it.

use mxrs_op::{Kernel, KernelArgs, OpCall, PlannedKernel};
use mxrs_types::{DType, Layout, Result, WriteReq};
use std::sync::Arc;

/// A prepared call, or why there is none.
pub type Planned = std::result::Result<PlannedKernel, String>;

struct Closure<F> {
    name: String,
    /// For each output, whether it has a sum.
    adds: Vec<bool>,
    run: F,
}

impl<F: Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync> Kernel for Closure<F> {
    fn name(&self) -> &str {
        &self.name
    }

    /// Every kernel here adds what it makes piece by piece, out of the L1 cache, to what is there ([`crate::tensors`]).
    fn adds(&self, output: usize) -> bool {
        self.adds.get(output) == Some(&true)
    }

    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let wanted = args.reqs.is_empty() || args.reqs.iter().any(|req| *req != WriteReq::Null);
        if wanted { (self.run)(args) } else { Ok(()) }
    }
}

/// The call's kernel, called `cpu:<operator>`; it is not run when no output is wanted.
pub fn kernel(
    call: &OpCall<'_>,
    run: impl Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync + 'static,
) -> Arc<dyn Kernel> {
    let adds = call.outputs.iter().map(|desc| desc.dtype != DType::Bool).collect();
    Arc::new(Closure { name: format!("cpu:{}", call.op.name), adds, run })
}

/// The plan of a kernel whose tensors are all row-major and that may run in place of whatever the operator declares.
pub fn row_major(
    call: &OpCall<'_>,
    scratch_bytes: usize,
    run: impl Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync + 'static,
) -> PlannedKernel {
    PlannedKernel {
        input_layouts: vec![Layout::RowMajor; call.inputs.len()],
        output_layouts: vec![Layout::RowMajor; call.outputs.len()],
        scratch_bytes,
        can_run_inplace: true,
        kernel: kernel(call, run),
    }
}

/// As [`row_major`], for kernels that read other elements of an input than those they write.
pub fn apart(
    call: &OpCall<'_>,
    scratch_bytes: usize,
    run: impl Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync + 'static,
) -> PlannedKernel {
    PlannedKernel { can_run_inplace: false, ..row_major(call, scratch_bytes, run) }
}
