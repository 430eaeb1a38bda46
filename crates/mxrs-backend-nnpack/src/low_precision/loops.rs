//! Kernels that are loops over tensors, whose parts threads share.

use super::requests::{Written, meet};
use crate::convolve::part;
use crate::layouts::NAME;
use mxrs_op::{Kernel, KernelArgs, OpCall, PlannedKernel};
use mxrs_sync::Team;
use mxrs_types::{Layout, Result};
use std::ops::Range;
use std::sync::Arc;

/// Bytes that a thread should at least read and write. With fewer bytes, another thread costs more than it saves.
const BYTES_PER_THREAD: usize = 1 << 16;

/// A pointer that threads may share.
#[derive(Clone, Copy)]
pub struct Shared<T>(pub *mut T);

// SAFETY: sharing copies the address only. Code that uses the address must say why no two threads conflict.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as for `Sync`.
unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    /// The address `n` values after the start.
    ///
    /// # Safety
    /// The address must be in the memory that the pointer leads to, or at its end.
    pub unsafe fn at(self, n: usize) -> *mut T {
        // SAFETY: the caller promises that the address is in the same memory.
        unsafe { self.0.add(n) }
    }
}

/// Cuts `0..n` into one part per thread, for at most `most` threads, and runs `body` on each. An item reads and writes
/// `bytes` bytes; the fewer bytes in all, the fewer threads are used.
pub fn in_parts(team: &Team, most: usize, n: usize, bytes: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
    let threads = (n.saturating_mul(bytes) / BYTES_PER_THREAD).clamp(1, most.max(1)).min(n.max(1));
    team.run(threads, &|i| body(part(n, threads, i)));
}

/// Makes stores that bypassed the caches visible to other threads, if there were any.
#[inline(always)]
pub fn drain(past_caches: bool) {
    #[cfg(target_arch = "x86_64")]
    if past_caches {
        // SAFETY: every processor of this architecture has the instruction, which takes no operands.
        unsafe { std::arch::x86_64::_mm_sfence() }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = past_caches;
}

/// The code of a loop.
type Body = Box<dyn Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync>;

struct Loop {
    name: String,
    body: Body,
    written: Vec<Written>,
}

impl Kernel for Loop {
    fn name(&self) -> &str {
        &self.name
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        meet(args, &self.written, &self.body)
    }
}

/// The plan of a call whose first inputs and first output have the given layouts; all others are row-major.
pub fn planned(
    call: &OpCall<'_>,
    what: &str,
    inputs: Vec<Layout>,
    output: Layout,
    body: impl Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync + 'static,
) -> PlannedKernel {
    planned_all(call, what, inputs, vec![output], body)
}

/// The plan of a call whose first inputs and first outputs have the given layouts; all others are row-major.
pub fn planned_all(
    call: &OpCall<'_>,
    what: &str,
    inputs: Vec<Layout>,
    outputs: Vec<Layout>,
    body: impl Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync + 'static,
) -> PlannedKernel {
    let (mut input_layouts, mut output_layouts) = (inputs, outputs);
    input_layouts.resize(call.inputs.len(), Layout::RowMajor);
    output_layouts.resize(call.outputs.len(), Layout::RowMajor);
    let written = Written::all(call.outputs, &output_layouts);
    let kernel = Arc::new(Loop { name: format!("{NAME}:{what}"), body: Box::new(body), written });
    PlannedKernel { input_layouts, output_layouts, scratch_bytes: 0, can_run_inplace: false, kernel }
}
