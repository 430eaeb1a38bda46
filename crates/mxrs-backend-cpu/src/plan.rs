//! A kernel as a closure, and the usual plan around it.

use mxrs_op::{Kernel, KernelArgs, OpCall, PlannedKernel};
use mxrs_types::{Layout, Result, WriteReq};
use std::sync::Arc;

/// A prepared call, or why there is none.
pub type Planned = std::result::Result<PlannedKernel, String>;

struct Closure<F> {
    name: String,
    run: F,
}

impl<F: Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync> Kernel for Closure<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let wanted = args.reqs.is_empty() || args.reqs.iter().any(|req| *req != WriteReq::Null);
        if wanted { (self.run)(args) } else { Ok(()) }
    }
}

/// A kernel called `cpu:<what>`; it is not run when no output is wanted.
pub fn kernel(what: &str, run: impl Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync + 'static) -> Arc<dyn Kernel> {
    Arc::new(Closure { name: format!("cpu:{what}"), run })
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
        kernel: kernel(call.op.name, run),
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
