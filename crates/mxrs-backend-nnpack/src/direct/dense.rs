//! Fully-connected layers of few rows. Such a layer takes as long as reading its weights. The weights are read once, in
//! place, or from a packed bfloat16 copy if the settings select bfloat16.
//!
//! An output is the scalar product of two rows. It is computed as one partial sum per lane of a register. The kernel works
//! on four rows of weights by a few rows of data at a time, in pieces that stay in the first-level cache. More than
//! [`MOST_ROWS`] rows of data take several passes over the weights.

use crate::convolve::{Convolve, Operands, part};
use crate::dispatch::for_each_set;
use crate::functions::Apply;
use crate::gemm::element::Element;
use crate::gemm::lanes::Lanes;
use crate::options::Weights;
use half::bf16;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// Largest number of rows of data that share one pass over the weights.
pub const MOST_ROWS: usize = 16;
/// Rows of weights per tile.
const OUTPUTS: usize = 4;
/// Rows of data per tile.
const ROWS: usize = 4;
/// Values of a row per piece.
const PIECE: usize = 1024;
/// Values of the widest register.
const WIDEST: usize = 16;
/// Multiply-adds per thread below which waking another thread costs more than it saves.
const SMALL: usize = 1 << 15;

/// Sizes of a fully-connected layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DenseProblem {
    /// Rows of data.
    pub rows: usize,
    /// Values of a row.
    pub steps: usize,
    /// Rows of weights; each gives one output.
    pub outputs: usize,
}

/// A prepared fully-connected layer.
pub struct Dense {
    problem: DenseProblem,
    kernel: Kernel,
    /// The function that is applied to the outputs.
    function: Option<Apply>,
    threads: usize,
}

/// A function that computes a range of outputs for all rows.
type Kernel = unsafe fn(&DenseProblem, &Operands, Range<usize>);

impl Dense {
    /// Prepares a layer for weights of this type and at most `threads` threads.
    pub fn new(problem: DenseProblem, weights: Weights, isa: Isa, threads: usize) -> Self {
        let kernel = match weights {
            Weights::Float32 => kernel::<f32>(isa),
            Weights::Bfloat16 => kernel::<bf16>(isa),
        };
        Self { problem, kernel, function: None, threads }
    }

    /// Returns this layer with a function that is applied to its outputs.
    pub fn with_function(self, function: Option<Apply>) -> Self {
        Self { function, ..self }
    }
}

for_each_set! {
    fn kernel[W: Element] [W]: unsafe fn(p: &DenseProblem, o: &Operands, outputs: Range<usize>) = all
}

impl Convolve for Dense {
    fn scratch_bytes(&self) -> usize {
        0
    }

    unsafe fn run(&self, operands: &Operands, team: &Team) -> Result<()> {
        let DenseProblem { rows, steps, outputs } = self.problem;
        let tiles = outputs.div_ceil(OUTPUTS);
        let n = (rows * steps * outputs / SMALL).clamp(1, self.threads.max(1)).min(tiles);
        team.run(n, &|i| {
            let tiles = part(tiles, n, i);
            let outputs = tiles.start * OUTPUTS..(tiles.end * OUTPUTS).min(outputs);
            // SAFETY: `outputs` ends at most at `self.problem.outputs`, and `part` gives each thread different tiles,
            // so no output is written twice. `new` chose the kernel for `isa`, which this processor has. The caller
            // promises the operands. The function gets the outputs of one row that this thread has just written.
            unsafe {
                (self.kernel)(&self.problem, operands, outputs.clone());
                if let Some(apply) = self.function {
                    for row in 0..rows {
                        let first = operands.dst.add(row * self.problem.outputs + outputs.start);
                        apply.apply_to_row(first, outputs.len());
                    }
                }
            }
        });
        Ok(())
    }
}

/// Partial sums of a tile of outputs, for all rows of a pass.
type Sums = [[[f32; WIDEST]; MOST_ROWS]; OUTPUTS];

/// # Safety
/// The conditions of [`Convolve::run`] must hold, and the processor must have the instructions of `L`. `outputs` must
/// lie within `0..p.outputs`, and no other thread may use these outputs.
#[inline(always)]
unsafe fn all<L: Lanes, W: Element>(p: &DenseProblem, o: &Operands, outputs: Range<usize>) {
    for first_row in (0..p.rows).step_by(MOST_ROWS) {
        let rows = first_row..(first_row + MOST_ROWS).min(p.rows);
        let mut first = outputs.start;
        while first < outputs.end {
            let n = OUTPUTS.min(outputs.end - first);
            // SAFETY: `first + n <= outputs.end` and `rows.end <= p.rows`, and `rows` has at most `MOST_ROWS` rows.
            unsafe {
                match n {
                    4 => tile::<L, W, 4>(p, o, rows.clone(), first),
                    3 => tile::<L, W, 3>(p, o, rows.clone(), first),
                    2 => tile::<L, W, 2>(p, o, rows.clone(), first),
                    _ => tile::<L, W, 1>(p, o, rows.clone(), first),
                }
            }
            first += n;
        }
    }
}

/// Computes the outputs `first..first + N` of these rows.
///
/// # Safety
/// The conditions of [`all`] must hold. The outputs must lie below `p.outputs`. `rows` must lie below `p.rows` and have
/// at most `MOST_ROWS` rows.
#[inline(always)]
unsafe fn tile<L: Lanes, W: Element, const N: usize>(p: &DenseProblem, o: &Operands, rows: Range<usize>, first: usize) {
    let mut sums: Sums = [[[0.0; WIDEST]; MOST_ROWS]; OUTPUTS];
    // The last `p.steps % L::N` values, which do not fill a register, are added at the end.
    let whole = p.steps / L::N * L::N;
    for start in (0..whole).step_by(PIECE) {
        let steps = start..(start + PIECE).min(whole);
        let mut row = rows.start;
        while row < rows.end {
            let n = ROWS.min(rows.end - row);
            // SAFETY: `row + n <= rows.end`, `first + N <= p.outputs` and `steps.end <= whole <= p.steps`; both ends of
            // `steps` are multiples of `L::N`. `row - rows.start + n <= MOST_ROWS`.
            unsafe {
                match n {
                    4 => piece::<L, W, N, 4>(p, o, row, first, steps.clone(), row - rows.start, &mut sums),
                    3 => piece::<L, W, N, 3>(p, o, row, first, steps.clone(), row - rows.start, &mut sums),
                    2 => piece::<L, W, N, 2>(p, o, row, first, steps.clone(), row - rows.start, &mut sums),
                    _ => piece::<L, W, N, 1>(p, o, row, first, steps.clone(), row - rows.start, &mut sums),
                }
            }
            row += n;
        }
    }
    for (i, sums) in sums.iter().enumerate().take(N) {
        for row in rows.clone() {
            let output = first + i;
            // SAFETY: `row < p.rows`, `output < p.outputs` and `step < p.steps`, the sizes of data, weights and output;
            // bias has `p.outputs` values, and `at` is an element of the output and of the sum. By the contract no
            // other thread uses this output.
            unsafe {
                let mut y: f32 = sums[row - rows.start][..L::N].iter().sum();
                for step in whole..p.steps {
                    y += *o.src.add(row * p.steps + step)
                        * (*o.weights.cast::<W>().add(output * p.steps + step)).widened();
                }
                let at = row * p.outputs + output;
                if !o.bias.is_null() {
                    y += *o.bias.add(output);
                }
                if !o.sum.is_null() {
                    y += *o.sum.add(at);
                }
                *o.dst.add(at) = o.bounds.apply(y);
            }
        }
    }
}

/// Multiplies the values `steps` of `R` rows of data and `N` rows of weights, and adds the products to the partial
/// sums.
///
/// # Safety
/// The `R` rows from `row` on, the `N` outputs from `output` on and the values `steps` of a row must exist. The length
/// of `steps` must be a multiple of `L::N`, and `slot + R` at most `MOST_ROWS`. The processor must have the
/// instructions of `L`.
#[inline(always)]
unsafe fn piece<L: Lanes, W: Element, const N: usize, const R: usize>(
    p: &DenseProblem,
    o: &Operands,
    row: usize,
    output: usize,
    steps: Range<usize>,
    slot: usize,
    sums: &mut Sums,
) {
    // SAFETY: `i < N <= OUTPUTS`, `slot + r < MOST_ROWS` and `L::N <= WIDEST` bound the partial sums. `step + L::N <=
    // steps.end <= p.steps` bounds both rows.
    unsafe {
        let mut acc = [[L::splat(0.0); R]; N];
        for i in 0..N {
            for r in 0..R {
                acc[i][r] = L::load(sums[i][slot + r].as_ptr());
            }
        }
        let (x, w) = (o.src.add(row * p.steps), o.weights.cast::<W>().add(output * p.steps));
        for step in steps.step_by(L::N) {
            let mut weights = [L::splat(0.0); N];
            for i in 0..N {
                weights[i] = W::load(w.add(i * p.steps + step));
            }
            for r in 0..R {
                let x = L::load(x.add(r * p.steps + step));
                for i in 0..N {
                    acc[i][r] = weights[i].mul_add(x, acc[i][r]);
                }
            }
        }
        for i in 0..N {
            for r in 0..R {
                acc[i][r].store(sums[i][slot + r].as_mut_ptr());
            }
        }
    }
}
