//! One pass over the data, in pieces that threads share.

use crate::convolve::part;
use crate::kernel::meet_request;
use crate::strided_output::{StridedOutput, WriteStrided};
use mxrs_op::{Kernel, KernelArgs, RawTensor};
use mxrs_sync::Team;
use mxrs_types::{DType, Result, WriteReq};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Number of values that each thread should at least read and write. With fewer values, another thread costs more than
/// it saves.
const NUMBERS_PER_THREAD: usize = 1 << 14;

/// The memory of one run: `f32` values, aligned to 64 bytes.
pub struct Memory {
    /// The inputs.
    pub inputs: SmallVec<[*const f32; 6]>,
    /// The first output.
    pub dst: *mut f32,
    /// Distance in values from one image of the output to the next, if the output is a part of a larger tensor.
    pub dst_image_stride: Option<usize>,
}

// SAFETY: sharing only copies the addresses. The memory behind them is accessed in `Pass::run` and `Pass::write_other`,
// whose contracts exclude conflicting accesses.
unsafe impl Sync for Memory {}

/// A loop over pieces of the output.
pub trait Pass: Send + Sync {
    /// Number of pieces.
    fn pieces(&self) -> usize;

    /// Estimated number of values that one piece reads and writes.
    fn numbers(&self) -> usize;

    /// Whether the pass supports [`Memory::dst_image_stride`]. If not, the field is always `None`.
    fn supports_strided_output(&self) -> bool {
        false
    }

    /// Computes the pieces `pieces`, and writes 0 to padding channels.
    ///
    /// # Safety
    /// `pieces` must lie within `0..self.pieces()`. The tensors must have the planned sizes and layouts. No thread may
    /// write the inputs, and no other thread may use these pieces of the output. The first input may be the output only
    /// if the plan allows that.
    unsafe fn run(&self, memory: &Memory, pieces: Range<usize>);

    /// Writes an output other than the first. The default does nothing, which suits outputs that no gradient reads.
    ///
    /// # Safety
    /// The conditions of [`Self::run`] on the inputs must hold.
    unsafe fn write_other(&self, memory: &Memory, output: usize, to: &mut [f32]) {
        let _ = (memory, output, to);
    }
}

/// A kernel that runs a pass.
pub struct PassKernel {
    /// The name in traces.
    pub name: String,
    /// The pass that the kernel runs.
    pub pass: Box<dyn Pass>,
    /// Largest number of threads.
    pub threads: usize,
}

impl Kernel for PassKernel {
    fn name(&self) -> &str {
        &self.name
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let inputs: SmallVec<[*const f32; 6]> =
            args.inputs.iter().map(|input| input.as_ptr().cast_const().cast()).collect();
        for (i, output) in args.outputs.iter().enumerate().skip(1) {
            if args.reqs.get(i) != Some(&WriteReq::Null) {
                let memory = Memory { inputs: inputs.clone(), dst: std::ptr::null_mut(), dst_image_stride: None };
                // SAFETY: this is an output of the running call. No other slice of its memory exists, because each
                // round of this loop makes one slice and drops it. The inputs belong to the same call, so by the
                // contract of `RawTensor` no other code writes them.
                unsafe { self.pass.write_other(&memory, i, bytemuck::cast_slice_mut(output.bytes_mut())) }
            }
        }
        meet_request(args, DType::F32, |dst| {
            self.first(args.team, Memory { inputs, dst: dst.as_ptr().cast(), dst_image_stride: None });
            Ok(())
        })
    }

    fn strided(self: Arc<Self>, image_bytes: usize) -> Option<Arc<dyn Kernel>> {
        let fits = self.pass.supports_strided_output();
        fits.then(|| StridedOutput::of(self, image_bytes))
    }
}

impl PassKernel {
    /// Computes the first output.
    fn first(&self, team: &Team, memory: Memory) {
        let pieces = self.pass.pieces();
        let wanted = pieces.saturating_mul(self.pass.numbers()) / NUMBERS_PER_THREAD;
        let threads = wanted.clamp(1, self.threads.max(1)).min(pieces.max(1));
        team.run(threads, &|i| {
            // SAFETY: the tensors belong to the running call, so no other code writes them, and they have the planned
            // layouts. `part` returns disjoint ranges within `0..pieces` for different `i`, so no two threads write the
            // same piece. An input is the output only if `can_run_inplace` was planned.
            unsafe { self.pass.run(&memory, part(pieces, threads, i)) }
        });
    }
}

impl WriteStrided for PassKernel {
    fn write_strided(&self, args: &KernelArgs<'_>, dst: RawTensor<'_>, image: usize) -> Result<()> {
        let inputs = args.inputs.iter().map(|input| input.as_ptr().cast_const().cast()).collect();
        self.first(args.team, Memory { inputs, dst: dst.as_ptr().cast(), dst_image_stride: Some(image) });
        Ok(())
    }
}
