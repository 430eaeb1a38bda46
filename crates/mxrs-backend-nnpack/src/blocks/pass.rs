//! One pass over data: pieces that threads share.

use crate::apart::{ImagesApart, WriteApart};
use crate::convolve::part;
use crate::kernel::meet_request;
use mxrs_op::{Kernel, KernelArgs, RawTensor};
use mxrs_sync::Team;
use mxrs_types::{DType, Result, WriteReq};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// Numbers read and written below which one thread is faster than two.
const NUMBERS_PER_THREAD: usize = 1 << 14;

/// Memory of one run: `f32` numbers, aligned to 64 bytes.
pub struct Memory {
    /// The inputs.
    pub inputs: SmallVec<[*const f32; 6]>,
    /// The first output.
    pub dst: *mut f32,
    /// Numbers from one image of it to the next, where it is a part of a larger tensor.
    pub dst_image: Option<usize>,
}

// SAFETY: pointers only; `Pass::run` says who may use what they point to.
unsafe impl Sync for Memory {}

/// A loop over pieces of the output.
pub trait Pass: Send + Sync {
    /// Number of pieces.
    fn pieces(&self) -> usize;

    /// About how many numbers one piece reads and writes.
    fn numbers(&self) -> usize;

    /// Whether it follows [`Memory::dst_image`]. Others are never given one.
    fn takes_images_apart(&self) -> bool {
        false
    }

    /// Computes some pieces, padding channels included, which become 0.
    ///
    /// # Safety
    /// The tensors have the planned sizes and layouts, nobody writes the inputs, and nobody else uses these pieces of the
    /// output; only where the plan allows it is the first input the output.
    unsafe fn run(&self, memory: &Memory, pieces: Range<usize>);

    /// Writes another output than the first, where it is wanted; the default is for those that nobody reads.
    ///
    /// # Safety
    /// As [`Self::run`], for the inputs.
    unsafe fn write_other(&self, memory: &Memory, output: usize, to: &mut [f32]) {
        let _ = (memory, output, to);
    }
}

/// A pass as a kernel.
pub struct PassKernel {
    /// For traces.
    pub name: String,
    /// The loop.
    pub pass: Box<dyn Pass>,
    /// Most threads.
    pub threads: usize,
}

impl Kernel for PassKernel {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let inputs: SmallVec<[*const f32; 6]> =
            args.inputs.iter().map(|input| input.as_ptr().cast_const().cast()).collect();
        for (i, output) in args.outputs.iter().enumerate().skip(1) {
            if args.reqs.get(i) != Some(&WriteReq::Null) {
                let memory = Memory { inputs: inputs.clone(), dst: std::ptr::null_mut(), dst_image: None };
                // SAFETY: an output of the running call, of which this is the only slice; its inputs.
                unsafe { self.pass.write_other(&memory, i, bytemuck::cast_slice_mut(output.bytes_mut())) }
            }
        }
        meet_request(args, DType::F32, |dst| {
            self.first(args.team, Memory { inputs, dst: dst.as_ptr().cast(), dst_image: None });
            Ok(())
        })
    }

    fn strided(self: Arc<Self>, image_bytes: usize) -> Option<Arc<dyn Kernel>> {
        let fits = self.pass.takes_images_apart();
        fits.then(|| ImagesApart::of(self, image_bytes))
    }
}

impl PassKernel {
    /// Computes the first output.
    fn first(&self, team: &Team, memory: Memory) {
        let pieces = self.pass.pieces();
        let wanted = pieces.saturating_mul(self.pass.numbers()) / NUMBERS_PER_THREAD;
        let threads = wanted.clamp(1, self.threads.max(1)).min(pieces.max(1));
        team.run(threads, &|i| {
            // SAFETY: the tensors of a running call have the planned layouts and are used by nobody else; parts have
            // different pieces.
            unsafe { self.pass.run(&memory, part(pieces, threads, i)) }
        });
    }
}

impl WriteApart for PassKernel {
    fn write_apart(&self, args: &KernelArgs<'_>, dst: RawTensor<'_>, image: usize) -> Result<()> {
        let inputs = args.inputs.iter().map(|input| input.as_ptr().cast_const().cast()).collect();
        self.first(args.team, Memory { inputs, dst: dst.as_ptr().cast(), dst_image: Some(image) });
        Ok(())
    }
}
