//! How training shares blocks of channels among threads. Each thread takes an equal number of whole blocks; all threads
//! together process each of the remaining blocks.

use super::Problem;
use super::sums::Sums;
use crate::barrier::Phases;
use crate::convolve::part;
use crate::layouts::BLOCK;
use mxrs_op::KernelArgs;

/// The three parts of the work on a block of channels: sum over each image, finish the sums, write each image.
pub trait Sweep: Sync {
    /// Returns the sums over the plane of image `n`.
    ///
    /// # Safety
    /// `n` must be an image and `block` a block of channels of the call, the tensors of the call must have the planned
    /// sizes and layouts, and no other thread may write what is read.
    unsafe fn gather(&self, n: usize, block: usize) -> Sums;

    /// Adds the sums of the next image to `all`.
    fn join(&self, all: &mut Sums, next: &Sums);

    /// Computes the [`Kept`] of a block from the sums over all images.
    ///
    /// # Safety
    /// The conditions of [`Self::gather`] must hold.
    unsafe fn settle(&self, block: usize, all: &Sums) -> Kept;

    /// Writes the plane of image `n`.
    ///
    /// # Safety
    /// The conditions of [`Self::gather`] must hold, and no other thread may use this plane of the output.
    unsafe fn write(&self, n: usize, block: usize, kept: &Kept);
}

/// What is known of a block once its sums are finished: two results per channel, and two more values per channel.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Kept {
    /// Forward: mean and inverse standard deviation. Backward: the gradients of gamma and beta.
    pub results: [[f32; BLOCK]; 2],
    /// Forward: the variance, which updates the moving variance. Backward: what is subtracted from the gradient.
    pub factors: [[f32; BLOCK]; 2],
}

/// The scratch memory of a sweep: the [`Kept`] of every block, then the sums per image of the blocks that all threads
/// process together.
struct Scratch {
    sums: *mut Sums,
    kept: *mut Kept,
}

// SAFETY: sharing only copies the addresses. The SAFETY comments in `run` say which thread writes which part.
unsafe impl Sync for Scratch {}

impl Scratch {
    /// # Safety
    /// `memory` must have [`scratch_bytes`] bytes, be aligned to 64 bytes, and no other code may use it.
    unsafe fn new(problem: &Problem, memory: *mut u8) -> Self {
        // SAFETY: `scratch_bytes` counts `blocks * size_of::<Kept>()` bytes before the sums. This is a multiple of 256,
        // so the sums are aligned too.
        let sums = unsafe { memory.add(problem.blocks() * size_of::<Kept>()) };
        Self { kept: memory.cast(), sums: sums.cast() }
    }

    /// Returns the [`Kept`] of a block.
    ///
    /// # Safety
    /// `block` must be a block of the call, and its [`Kept`] must have been written.
    unsafe fn kept(&self, block: usize) -> Kept {
        // SAFETY: the memory has one `Kept` per block, and the caller promises that `block` exists and is written.
        unsafe { *self.kept.add(block) }
    }
}

/// Bytes of scratch memory that a sweep needs.
pub fn scratch_bytes(problem: &Problem) -> usize {
    let left = problem.blocks() % problem.threads.max(1);
    problem.blocks() * size_of::<Kept>() + left * problem.n * size_of::<Sums>()
}

/// Computes every block of channels with `sweep`, divided among the threads. Then calls `settled` for each block with the
/// block's first channel, its number of channels, and the numbers that were computed from all images ([`Kept`]).
///
/// # Safety
/// `args` must be the arguments of the call that `sweep` describes. The conditions of [`Sweep::write`] must hold for
/// every plane (a block of one image). The scratch memory must have [`scratch_bytes`] bytes.
pub unsafe fn run<S: Sweep>(
    problem: &Problem,
    sweep: &S,
    args: &KernelArgs<'_>,
    mut settled: impl FnMut(usize, usize, &Kept),
) {
    // SAFETY: the caller promises `scratch_bytes` of memory, which by the contract of `KernelArgs` is aligned to 64
    // bytes and belongs to this run alone.
    let scratch = unsafe { Scratch::new(problem, args.scratch.as_ptr()) };
    let (threads, images) = (problem.threads.max(1), problem.n);
    let left = problem.blocks() % threads;
    let whole = problem.blocks() - left;
    let phases = Phases::new(threads, (0..left).flat_map(|_| [images, 1, images]));
    args.team.run(threads, &|thread| {
        // Captures the struct, not its fields: a closure that captured the fields would capture pointers, which are not
        // `Sync`.
        let scratch = &scratch;
        for block in part(whole, threads, thread) {
            // SAFETY: `block < whole <= blocks` and `n < images`. `part` gives each block to one thread, which alone
            // writes the block's planes and its `Kept`.
            unsafe {
                let mut all = Sums::NONE;
                (0..images).for_each(|n| sweep.join(&mut all, &sweep.gather(n, block)));
                let kept = sweep.settle(block, &all);
                *scratch.kept.add(block) = kept;
                // In reverse order, because the images that were read last may still be in the caches.
                (0..images).rev().for_each(|n| sweep.write(n, block, &kept));
            }
        }
        for i in 0..left {
            let (block, phase) = (whole + i, 3 * i);
            // SAFETY: `i < left` and `n < images`, and the memory has `left * images` sums. `Phases` runs each item
            // once, so each sum is written by one thread; the next phase only reads it.
            let sums = |n: usize| unsafe { scratch.sums.add(i * images + n) };
            // SAFETY: `block = whole + i < blocks`, and only item `n` of this phase writes `sums(n)`.
            phases.work(phase, thread, |n| unsafe { *sums(n) = sweep.gather(n, block) });
            phases.wait(phase);
            // SAFETY: phase `phase` is finished, so all sums of the block are written. This phase has one item, so one
            // thread writes the block's `Kept`.
            phases.work(phase + 1, thread, |_| unsafe {
                let mut all = Sums::NONE;
                (0..images).for_each(|n| sweep.join(&mut all, &*sums(n)));
                *scratch.kept.add(block) = sweep.settle(block, &all);
            });
            phases.wait(phase + 1);
            // SAFETY: phase `phase + 1` is finished, so the `Kept` of the block is written. Each item writes the plane
            // of a different image.
            phases.work(phase + 2, thread, |n| unsafe { sweep.write(images - 1 - n, block, &scratch.kept(block)) });
        }
    });
    for block in 0..problem.blocks() {
        let (first, n) = problem.channels_of(block);
        // SAFETY: the loops above have written the `Kept` of every block, and the team has finished.
        settled(first, n, &unsafe { scratch.kept(block) });
    }
}
