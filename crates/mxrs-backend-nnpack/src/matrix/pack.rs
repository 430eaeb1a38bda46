//! Copies of parts of the operands, in the order in which the product kernels read them.

use super::Order;
use crate::layouts::BLOCK;
use std::ops::Range;

/// An operand in memory.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The first value.
    pub at: *const f32,
    /// Number of rows.
    pub rows: usize,
    /// Number of steps.
    pub steps: usize,
    /// The order of rows and steps.
    pub order: Order,
}

impl Operand {
    /// Copies some rows and steps to `[rows][stride]`, with zeros behind the steps.
    ///
    /// # Safety
    /// The rows and steps must exist, `to` must have `rows.len() * stride` values, which no other code uses, and `stride`
    /// must be at least the number of steps.
    pub unsafe fn copy_rows(&self, rows: Range<usize>, steps: Range<usize>, to: *mut f32, stride: usize) {
        match self.order {
            Order::StepsInside => {
                for (i, row) in rows.enumerate() {
                    // SAFETY: row and steps exist, and `i < rows.len()`.
                    unsafe {
                        let to = to.add(i * stride);
                        to.copy_from_nonoverlapping(self.at.add(row * self.steps + steps.start), steps.len());
                        to.add(steps.len()).write_bytes(0, stride - steps.len());
                    }
                }
            }
            Order::StepsOutside => {
                for (i, step) in steps.clone().enumerate() {
                    for (r, row) in rows.clone().enumerate() {
                        // SAFETY: step and row exist; `r < rows.len()` and `i < steps.len() <= stride`.
                        unsafe { *to.add(r * stride + i) = *self.at.add(step * self.rows + row) }
                    }
                }
                for r in 0..rows.len() {
                    // SAFETY: `r < rows.len()`, and the zeros fill the rest of the row.
                    unsafe { to.add(r * stride + steps.len()).write_bytes(0, stride - steps.len()) }
                }
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
                        let to = to.add(i * width);
                        to.copy_from_nonoverlapping(self.at.add(step * self.rows + rows.start), rows.len());
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
                        for (r, row) in rows.clone().enumerate() {
                            let from = self.at.add(row * self.steps + first);
                            (0..n).for_each(|i| *to.add(i * width + r) = *from.add(i));
                        }
                        for i in 0..n {
                            to.add(i * width + rows.len()).write_bytes(0, width - rows.len());
                        }
                    }
                }
            }
        }
    }
}
