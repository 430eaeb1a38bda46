//! Fully-connected layers of more than a few rows, with packed weights: a product whose rows are those of the data.
//!
//! The rows are brought into blocks of 16 steps, as if they were the pixels of an image of one line; a 1x1 convolution
//! makes the product; what it leaves in blocks of 16 outputs is written in row-major order. Both copies are small beside the
//! weights, which are read from memory once.

use super::dense::DenseProblem;
use super::product::ProductConv;
use crate::Isa;
use crate::convolve::{Convolve, Operands, part};
use crate::epilogue::Bounds;
use crate::layouts::BLOCK;
use crate::options::Weights;
use crate::problem::ConvProblem;
use crate::winograd::Data;
use mxrs_sync::Team;
use mxrs_types::Result;

/// Numbers below which one thread copies faster than two.
const SMALL: usize = 1 << 14;

/// The layer prepared.
pub struct DenseProduct {
    problem: DenseProblem,
    product: ProductConv,
    threads: usize,
}

impl DenseProduct {
    /// Prepares a layer with weights of these numbers for at most `threads` threads.
    pub fn new(problem: DenseProblem, weights: Weights, isa: Isa, threads: usize) -> Self {
        let DenseProblem { rows, steps, outputs } = problem;
        let line = ConvProblem {
            n: 1,
            c: steps,
            k: outputs,
            h: 1,
            w: rows,
            oh: 1,
            ow: rows,
            kh: 1,
            kw: 1,
            stride: (1, 1),
            pad: (0, 0),
            dilate: (1, 1),
            data: Data::Blocks,
        };
        Self { problem, product: ProductConv::new(line, isa, threads).with_weights(weights, isa), threads }
    }

    /// Numbers of the data in blocks.
    fn data_len(&self) -> usize {
        self.problem.rows * self.problem.steps.next_multiple_of(BLOCK)
    }

    /// Numbers of the outputs in blocks.
    fn out_len(&self) -> usize {
        self.problem.rows * self.problem.outputs.next_multiple_of(BLOCK)
    }

    /// Runs `body` for each block of `n` numbers a row, on some thread.
    fn for_blocks(&self, n: usize, team: &Team, body: &(dyn Fn(usize) + Sync)) {
        let blocks = n.div_ceil(BLOCK);
        let threads = (self.problem.rows * n / SMALL).clamp(1, self.threads.max(1)).min(blocks);
        team.run(threads, &|i| part(blocks, threads, i).for_each(body));
    }
}

/// A pointer that threads share; who uses what it leads to is said where it is made.
#[derive(Clone, Copy)]
struct Shared(*mut f32);

// SAFETY: a pointer only.
unsafe impl Sync for Shared {}

impl Shared {
    /// The number `at` behind it, which must be one of the same memory.
    unsafe fn at(&self, at: usize) -> *mut f32 {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(at) }
    }
}

impl Convolve for DenseProduct {
    fn scratch_bytes(&self) -> usize {
        (self.data_len() + self.out_len()) * size_of::<f32>() + self.product.scratch_bytes()
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let DenseProblem { rows, steps, outputs } = self.problem;
        let data = Shared(o.scratch);
        // SAFETY: within the scratch memory.
        let result = Shared(unsafe { data.at(self.data_len()) });
        self.for_blocks(steps, team, &|block| {
            let n = BLOCK.min(steps - block * BLOCK);
            for row in 0..rows {
                // SAFETY: numbers of a row of the data; in the scratch memory this block is nobody else's.
                unsafe {
                    let to = data.at((block * rows + row) * BLOCK);
                    to.copy_from_nonoverlapping(o.src.add(row * steps + block * BLOCK), n);
                    to.add(n).write_bytes(0, BLOCK - n);
                }
            }
        });
        // Bounds come after the sum.
        let bounds = if o.sum.is_null() { o.bounds } else { Bounds::NONE };
        // SAFETY: data, result and the rest of the scratch memory have the sizes of the product's tensors; weights and bias
        // are those of the caller.
        unsafe {
            let scratch = result.at(self.out_len());
            let operands = Operands { src: data.0, sum: std::ptr::null(), dst: result.0, scratch, bounds, ..*o };
            self.product.run(&operands, team)?;
        }
        self.for_blocks(outputs, team, &|block| {
            let n = BLOCK.min(outputs - block * BLOCK);
            for row in 0..rows {
                let at = row * outputs + block * BLOCK;
                // SAFETY: this block of the result; of the output, these columns, which are nobody else's. The sum may be
                // there, and each number is read before it is written.
                unsafe {
                    let from = result.at((block * rows + row) * BLOCK);
                    for i in 0..n {
                        let sum = if o.sum.is_null() { 0.0 } else { *o.sum.add(at + i) };
                        *o.dst.add(at + i) = o.bounds.apply(*from.add(i) + sum);
                    }
                }
            }
        });
        Ok(())
    }
}
