//! Fully-connected layers of more than a few rows, with packed weights: a product whose rows are the rows of the data.
//!
//! The data are first copied into blocks of 16 columns, as if their rows were the pixels of an image with one line. A
//! 1x1 convolution computes the product. Its result, in blocks of 16 outputs, is copied into row-major order. Both
//! copies are small compared to the weights, which are read from memory once.

use super::dense::DenseProblem;
use super::product::ProductConv;
use crate::convolve::{Convolve, Operands, part};
use crate::epilogue::Bounds;
use crate::functions::Apply;
use crate::layouts::BLOCK;
use crate::options::Weights;
use crate::problem::ConvProblem;
use crate::winograd::Data;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;

/// Values per thread below which another thread costs more than it saves.
const SMALL: usize = 1 << 14;

/// A prepared fully-connected layer.
pub struct DenseProduct {
    problem: DenseProblem,
    product: ProductConv,
    /// The function that is applied to the outputs.
    function: Option<Apply>,
    threads: usize,
}

impl DenseProduct {
    /// Prepares a layer for weights of this type and at most `threads` threads.
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
        let product = ProductConv::new(line, isa, threads).with_weights(weights, isa);
        Self { problem, product, function: None, threads }
    }

    /// Returns this layer with a function that is applied to its outputs.
    pub fn with_function(self, function: Option<Apply>) -> Self {
        Self { function, ..self }
    }

    /// Number of values of the data in blocks.
    fn data_len(&self) -> usize {
        self.problem.rows * self.problem.steps.next_multiple_of(BLOCK)
    }

    /// Number of values of the outputs in blocks.
    fn out_len(&self) -> usize {
        self.problem.rows * self.problem.outputs.next_multiple_of(BLOCK)
    }

    /// Calls `body` for each block of 16 columns of a matrix with `n` columns. Threads share the blocks.
    fn for_blocks(&self, n: usize, team: &Team, body: &(dyn Fn(usize) + Sync)) {
        let blocks = n.div_ceil(BLOCK);
        let threads = (self.problem.rows * n / SMALL).clamp(1, self.threads.max(1)).min(blocks);
        team.run(threads, &|i| part(blocks, threads, i).for_each(body));
    }
}

/// A pointer that threads share. The SAFETY comment of each access says which thread uses which part of the memory.
#[derive(Clone, Copy)]
struct Shared(*mut f32);

// SAFETY: sharing only copies the address. The SAFETY comment of each access says which thread uses which part.
unsafe impl Sync for Shared {}

impl Shared {
    /// Returns the address of value `at`.
    ///
    /// # Safety
    /// `at` must lie in the memory that the pointer belongs to, or at its end.
    unsafe fn at(&self, at: usize) -> *mut f32 {
        // SAFETY: the caller keeps `at` in the same memory.
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
        // SAFETY: the scratch memory has `scratch_bytes`, which counts `data_len() + out_len()` values before the
        // scratch memory of the product.
        let result = Shared(unsafe { data.at(self.data_len()) });
        self.for_blocks(steps, team, &|block| {
            let n = BLOCK.min(steps - block * BLOCK);
            for row in 0..rows {
                // SAFETY: `row < rows` and `block * BLOCK + n <= steps`, so the source lies in the data. The
                // destination lies in the `data_len()` values of block `block`, which `part` gives to one thread.
                unsafe {
                    let to = data.at((block * rows + row) * BLOCK);
                    to.copy_from_nonoverlapping(o.src.add(row * steps + block * BLOCK), n);
                    to.add(n).write_bytes(0, BLOCK - n);
                }
            }
        });
        // If there is a sum, the bounds are applied below, after the sum is added.
        let bounds = if o.sum.is_null() { o.bounds } else { Bounds::NONE };
        // SAFETY: the product is a convolution of `rows` pixels with `steps` input and `outputs` output channels, so
        // its tensors have `data_len()` and `out_len()` values, and `scratch_bytes` counts its scratch memory after
        // them. The caller passes weights and bias of the layer.
        unsafe {
            let scratch = result.at(self.out_len());
            let operands = Operands { src: data.0, sum: std::ptr::null(), dst: result.0, scratch, bounds, ..*o };
            self.product.run(&operands, team)?;
        }
        self.for_blocks(outputs, team, &|block| {
            let n = BLOCK.min(outputs - block * BLOCK);
            let from = |row: usize| (block * rows + row) * BLOCK;
            let at = |row: usize| row * outputs + block * BLOCK;
            // SAFETY: `row < rows` and `block * BLOCK + n <= outputs`, so `from(row) + i` lies in the result and `at(row) + i`
            // in the output. `part` gives each block of columns to one thread. The sum may be the output, because each value
            // is read before its address is written. The rows of a block follow each other in the result, as the pixels of
            // the function do.
            unsafe {
                for row in 0..rows {
                    let from = result.at(from(row));
                    let to = if self.function.is_some() { from } else { o.dst.add(at(row)) };
                    for i in 0..n {
                        let sum = if o.sum.is_null() { 0.0 } else { *o.sum.add(at(row) + i) };
                        *to.add(i) = o.bounds.apply(*from.add(i) + sum);
                    }
                }
                if let Some(apply) = self.function {
                    apply.apply_to(result.at(from(0)), rows, n);
                    for row in 0..rows {
                        o.dst.add(at(row)).copy_from_nonoverlapping(result.at(from(row)), n);
                    }
                }
            }
        });
        Ok(())
    }
}
