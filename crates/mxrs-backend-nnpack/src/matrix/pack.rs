//! Copies of parts of the operands, in the order in which the product kernels read them.

use super::Order;
use super::transpose::transpose;
use crate::layouts::BLOCK;
use std::ops::Range;

/// An operand in memory.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The first value.
    pub at: *const f32,
    /// The order of rows and steps.
    pub order: Order,
    /// The distance between two neighboring rows if steps are inside, otherwise between two neighboring steps.
    pub stride: usize,
}

impl Operand {
    /// Copies some rows and steps to blocks of 16 steps, `[steps / 16][stride / 16][16]`, with zeros behind the last step.
    /// A product kernel then reads one cache line after the other, and lines of different rows do not compete for the same
    /// set of the cache.
    ///
    /// # Safety
    /// The rows and steps must exist, `stride` must be at least 16 values per row, and `to` must have `stride` values for each
    /// block of 16 steps, which no other code uses.
    pub unsafe fn copy_rows(&self, rows: Range<usize>, steps: Range<usize>, to: *mut f32, stride: usize) {
        let n_blocks = steps.len().div_ceil(BLOCK);
        let (whole, rest) = (steps.len() / BLOCK, steps.len() % BLOCK);
        // SAFETY: rows and steps exist, and each of the blocks has `stride` values, which are at least 16 per row.
        unsafe {
            match self.order {
                Order::StepsInside => {
                    for (i, row) in rows.clone().enumerate() {
                        let (from, to) = (self.at.add(row * self.stride + steps.start), to.add(i * BLOCK));
                        for block in 0..whole {
                            copy_line(from.add(block * BLOCK), to.add(block * stride));
                        }
                        if rest > 0 {
                            to.add(whole * stride).copy_from_nonoverlapping(from.add(whole * BLOCK), rest);
                        }
                    }
                }
                Order::StepsOutside => {
                    for block in 0..n_blocks {
                        let n = BLOCK.min(steps.len() - block * BLOCK);
                        let from = self.at.add((steps.start + block * BLOCK) * self.stride + rows.start);
                        transpose(from, self.stride, to.add(block * stride), BLOCK, [n, rows.len()]);
                    }
                }
            }
            for i in 0..if rest == 0 { 0 } else { rows.len() } {
                to.add(whole * stride + i * BLOCK + rest).write_bytes(0, BLOCK - rest);
            }
        }
    }

    /// Copies some rows and steps to a panel, `[padded][width]`, with zeros where there are no rows or steps.
    ///
    /// # Safety
    /// The rows and steps must exist, `to` must have `padded * width` values, which no other code uses. `width` must be at
    /// least the number of rows, and `padded` at least the number of steps.
    pub unsafe fn copy_panel(
        &self,
        rows: Range<usize>,
        steps: Range<usize>,
        to: *mut f32,
        [padded, width]: [usize; 2],
    ) {
        // SAFETY: steps behind the last one are `padded - steps.len()` lines of the panel.
        unsafe { to.add(steps.len() * width).write_bytes(0, (padded - steps.len()) * width) }
        match self.order {
            Order::StepsOutside => {
                for (i, step) in steps.enumerate() {
                    // SAFETY: step and rows exist; `i < steps.len() <= padded` and `rows.len() <= width`.
                    unsafe {
                        let (from, to) = (self.at.add(step * self.stride + rows.start), to.add(i * width));
                        if rows.len() == 2 * BLOCK {
                            copy_line(from, to);
                            copy_line(from.add(BLOCK), to.add(BLOCK));
                        } else {
                            to.copy_from_nonoverlapping(from, rows.len());
                        }
                        to.add(rows.len()).write_bytes(0, width - rows.len());
                    }
                }
            }
            Order::StepsInside => {
                // A cache line of each row at a time, so that the lines of the panel that are written stay in the
                // first-level cache.
                for first in steps.clone().step_by(BLOCK) {
                    let n = BLOCK.min(steps.end - first);
                    // SAFETY: the steps from `first` on are `n` lines of the panel, from line `first - steps.start` on.
                    // The rows exist, and `rows.len() <= width`.
                    unsafe {
                        let to = to.add((first - steps.start) * width);
                        let from = self.at.add(rows.start * self.stride + first);
                        transpose(from, self.stride, to, width, [rows.len(), n]);
                        for i in 0..n {
                            to.add(i * width + rows.len()).write_bytes(0, width - rows.len());
                        }
                    }
                }
            }
        }
    }
}

/// Copies 16 values, a cache line.
///
/// # Safety
/// The values must be readable and writable, and not overlap.
#[inline(always)]
unsafe fn copy_line(from: *const f32, to: *mut f32) {
    // SAFETY: the caller promises the memory. The length is a constant, so the compiler copies with a few instructions and
    // does not call a function.
    unsafe { to.copy_from_nonoverlapping(from, BLOCK) }
}
