//! Which thread does what: whole blocks of channels, one thread each; those that are left over, all threads together.

use super::Problem;
use super::sums::Sums;
use crate::barrier::Phases;
use crate::convolve::part;
use crate::layouts::BLOCK;
use mxrs_op::KernelArgs;

/// What is done with a block of channels.
pub trait Sweep: Sync {
    /// Sums over the plane of one image.
    ///
    /// # Safety
    /// The tensors of the call have the planned sizes and layouts, and nobody writes what is read.
    unsafe fn gather(&self, n: usize, block: usize) -> Sums;

    /// Adds the sums of the next image.
    fn join(&self, all: &mut Sums, next: &Sums);

    /// Makes of all sums what is kept of the block.
    ///
    /// # Safety
    /// As [`Self::gather`].
    unsafe fn settle(&self, block: usize, all: &Sums) -> Kept;

    /// Writes the plane of one image.
    ///
    /// # Safety
    /// As [`Self::gather`], and nobody else uses this plane of what is written.
    unsafe fn write(&self, n: usize, block: usize, kept: &Kept);
}

/// Two numbers of each channel of a block, and what the planes are written with.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Kept {
    /// Mean and inverse deviation; or the gradients of gamma and beta.
    pub results: [[f32; BLOCK]; 2],
    /// What the sweep knows.
    pub factors: [[f32; BLOCK]; 2],
}

/// Memory of one sweep: sums of each image for blocks left over, and what is kept of every block.
struct Scratch {
    sums: *mut Sums,
    kept: *mut Kept,
}

// SAFETY: pointers only; `run` says who writes which part.
unsafe impl Sync for Scratch {}

impl Scratch {
    /// # Safety
    /// Memory of [`scratch_bytes`], aligned to 64 bytes, that nobody else uses.
    unsafe fn new(problem: &Problem, memory: *mut u8) -> Self {
        // SAFETY: the caller's promise.
        let sums = unsafe { memory.add(problem.blocks() * size_of::<Kept>()) };
        Self { kept: memory.cast(), sums: sums.cast() }
    }

    /// What is kept of a block.
    ///
    /// # Safety
    /// The block is settled.
    unsafe fn kept(&self, block: usize) -> Kept {
        // SAFETY: the caller's promise.
        unsafe { *self.kept.add(block) }
    }
}

/// Bytes that a sweep needs.
pub fn scratch_bytes(problem: &Problem) -> usize {
    let left = problem.blocks() % problem.threads.max(1);
    problem.blocks() * size_of::<Kept>() + left * problem.n * size_of::<Sums>()
}

/// Sweeps over all blocks; afterwards tells `settled` of each its first channel, how many channels it has, and what is kept.
///
/// # Safety
/// As the methods of [`Sweep`], of the call with these arguments, whose scratch memory has [`scratch_bytes`].
pub unsafe fn run<S: Sweep>(
    problem: &Problem,
    sweep: &S,
    args: &KernelArgs<'_>,
    mut settled: impl FnMut(usize, usize, &Kept),
) {
    // SAFETY: the caller's promise.
    let scratch = unsafe { Scratch::new(problem, args.scratch.as_ptr()) };
    let (threads, images) = (problem.threads.max(1), problem.n);
    let left = problem.blocks() % threads;
    let whole = problem.blocks() - left;
    let phases = Phases::new(threads, (0..left).flat_map(|_| [images, 1, images]));
    args.team.run(threads, &|thread| {
        // Not the fields: who captures them alone captures pointers, which are not to be shared.
        let scratch = &scratch;
        for block in part(whole, threads, thread) {
            // SAFETY: the caller's promise; each block belongs to one thread, and so does its part of the memory.
            unsafe {
                let mut all = Sums::NONE;
                (0..images).for_each(|n| sweep.join(&mut all, &sweep.gather(n, block)));
                let kept = sweep.settle(block, &all);
                *scratch.kept.add(block) = kept;
                // Backwards: what was read last may still be in the caches.
                (0..images).rev().for_each(|n| sweep.write(n, block, &kept));
            }
        }
        for i in 0..left {
            let (block, phase) = (whole + i, 3 * i);
            // SAFETY: the caller's promise; each item of a phase is done once, and what earlier phases wrote is only read.
            let sums = |n: usize| unsafe { scratch.sums.add(i * images + n) };
            // SAFETY: as above.
            phases.work(phase, thread, |n| unsafe { *sums(n) = sweep.gather(n, block) });
            phases.wait(phase);
            // SAFETY: as above.
            phases.work(phase + 1, thread, |_| unsafe {
                let mut all = Sums::NONE;
                (0..images).for_each(|n| sweep.join(&mut all, &*sums(n)));
                *scratch.kept.add(block) = sweep.settle(block, &all);
            });
            phases.wait(phase + 1);
            // SAFETY: as above; the block is settled.
            phases.work(phase + 2, thread, |n| unsafe { sweep.write(images - 1 - n, block, &scratch.kept(block)) });
        }
    });
    for block in 0..problem.blocks() {
        let (first, n) = problem.channels_of(block);
        // SAFETY: all blocks are settled.
        settled(first, n, &unsafe { scratch.kept(block) });
    }
}
