//! Products of two matrices in memory, of any size and order. Unlike the products of convolutions, they need no packed
//! weights: both operands are packed a part at a time. A panel of the right operand stays in the first-level cache while it
//! is multiplied by all packed rows of the left operand, which are in the second-level cache. For few columns, a left
//! operand whose steps are neighbors is read in place.
//!
//! ```text
//! result[row][column] = sum over steps of left[row, step] * right[column, step] + bias
//! ```
//!
//! "Steps" are the terms of a sum. Both operands have them, so an operand has one of two orders ([`Order`]), and the
//! operands can be swapped: the product then computes the transposed result, and transposes it while writing.
//! [`MatrixProblem::fastest`] takes the arrangement that copies less.

mod batched;
mod layers;
mod pack;
mod product;
#[cfg(test)]
mod tests;
mod transpose;

pub use batched::products;
pub use layers::{forward, gradient};
pub use pack::Operand;
pub use product::{MatrixProduct, Strides};

/// The order of an operand in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The steps of a row are neighbors: `[rows][steps]`.
    StepsInside,
    /// The rows of a step are neighbors: `[steps][rows]`.
    StepsOutside,
}

/// Sizes and orders of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixProblem {
    /// Rows of the left operand.
    pub rows: usize,
    /// Rows of the right operand, which are columns of the result.
    pub columns: usize,
    /// Terms of each sum.
    pub steps: usize,
    /// Order of the left operand.
    pub left: Order,
    /// Order of the right operand.
    pub right: Order,
}

/// Columns of the result that are computed from one copy of a part of the left operand.
const COLUMNS_AT_ONCE: usize = 1024;
/// Columns up to which a left operand is read in place: packing it would cost more than it saves.
const FEW_COLUMNS: usize = 64;

/// Time to copy one value as a part of a whole cache line, relative to the time to copy a single value.
const COPIED: f64 = 0.1;
/// Time to copy one value to a transposed matrix, relative to the time to copy a single value.
const TRANSPOSED: f64 = 0.3;

impl MatrixProblem {
    /// Number of multiply-adds.
    pub fn multiply_adds(&self) -> f64 {
        self.rows as f64 * self.columns as f64 * self.steps as f64
    }

    /// The same product with its operands swapped.
    fn swapped(self) -> Self {
        let Self { rows, columns, steps, left, right } = self;
        Self { rows: columns, columns: rows, steps, left: right, right: left }
    }

    /// The problem, or the swapped one if that copies less. The second value says whether it is the swapped one, whose
    /// result is transposed.
    fn fastest(self) -> (Self, bool) {
        let (swapped, transposing) = (self.swapped(), self.rows as f64 * self.columns as f64 * TRANSPOSED);
        if swapped.copying() + transposing < self.copying() { (swapped, true) } else { (self, false) }
    }

    /// Estimated time of all copies of the operands, in values that are moved one by one.
    fn copying(&self) -> f64 {
        let [rows, columns, steps] = [self.rows, self.columns, self.steps].map(|n| n as f64);
        let right = columns * steps * if self.right == Order::StepsInside { TRANSPOSED } else { COPIED };
        // The left operand is packed again for each group of columns.
        let groups = self.columns.div_ceil(COLUMNS_AT_ONCE) as f64;
        let left = match self.left {
            Order::StepsInside if self.columns <= FEW_COLUMNS => COPIED / 2.0,
            Order::StepsInside => COPIED * groups,
            Order::StepsOutside => TRANSPOSED * groups,
        };
        left * rows * steps + right
    }
}
