//! The matrices of a product, in memory aligned to 64 bytes, and the check of a result.

use super::shapes::Shape;
use crate::score::serve::uniform;
use anyhow::{Result, ensure};

/// A cache line of values.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; 16]);

/// Values whose memory is aligned to 64 bytes.
pub struct Aligned {
    lines: Vec<Line>,
    n: usize,
}

impl Aligned {
    /// `n` zeros.
    pub fn zeros(n: usize) -> Self {
        Self { lines: vec![Line([0.0; 16]); n.div_ceil(16)], n }
    }

    /// The values.
    pub fn values(&self) -> &[f32] {
        // SAFETY: the lines hold at least `n` values one after the other, because a line has no padding.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.n) }
    }

    /// The values, for writing.
    pub fn values_mut(&mut self) -> &mut [f32] {
        // SAFETY: as in `values`, and the lines are borrowed for writing.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.n) }
    }
}

/// The matrices of a product.
pub struct Operands {
    /// The left matrices, row by row.
    pub left: Aligned,
    /// The right matrices in the order that the shape says.
    pub right: Aligned,
    /// The results, row by row.
    pub result: Aligned,
}

/// Number of values of a result that are checked.
const CHECKED: usize = 64;

impl Operands {
    /// Random numbers from -1 to 1 as operands, and a result of numbers that no product leaves behind.
    pub fn new(shape: &Shape) -> Self {
        let [left, right, result] = shape.elements().map(Aligned::zeros);
        let mut operands = Self { left, right, result };
        let numbers = uniform(operands.left.n.max(operands.right.n) + 7);
        let n = operands.left.n;
        operands.left.values_mut().copy_from_slice(&numbers[..n]);
        let n = operands.right.n;
        operands.right.values_mut().copy_from_slice(&numbers[7..n + 7]);
        operands.result.values_mut().fill(f32::NAN);
        operands
    }

    /// Checks values of the result, spread over all of it, against sums in double precision.
    ///
    /// # Errors
    /// Fails if a value differs by more than rounding can explain.
    pub fn check(&self, shape: &Shape) -> Result<()> {
        let Shape { rows, columns, steps, .. } = *shape;
        let n = self.result.n;
        // Sums of `steps` products below 1, each of which a library may round in float32.
        let bound = 4e-7 * (steps as f64 + 8.0);
        for i in 0..CHECKED {
            // The last value is among them.
            let at = if i + 1 == CHECKED { n - 1 } else { i * n / CHECKED + i % 7 % n.div_ceil(CHECKED) };
            let (pair, row, column) = (at / (rows * columns), at / columns % rows, at % columns);
            let left = &self.left.values()[(pair * rows + row) * steps..][..steps];
            let right = &self.right.values()[pair * columns * steps..][..columns * steps];
            let right =
                |step: usize| right[if shape.is_transposed { column * steps + step } else { step * columns + column }];
            let want: f64 = left.iter().enumerate().map(|(step, x)| f64::from(*x) * f64::from(right(step))).sum();
            let got = f64::from(self.result.values()[at]);
            ensure!((got - want).abs() <= bound, "value {at} of the result is {got}, expected {want}");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::shapes::all;

    #[test]
    fn a_right_product_passes_and_a_wrong_one_does_not() {
        for shape in all().unwrap().iter().filter(|shape| shape.operations() < 3e6) {
            let mut operands = Operands::new(shape);
            assert_eq!(operands.left.values().as_ptr().addr() % 64, 0);
            assert!(operands.check(shape).is_err(), "{shape}: nothing was computed");
            let Shape { rows, columns, steps, .. } = *shape;
            for at in 0..operands.result.n {
                let (pair, row, column) = (at / (rows * columns), at / columns % rows, at % columns);
                let term = |step: usize| {
                    let right = if shape.is_transposed { column * steps + step } else { step * columns + column };
                    operands.left.values()[(pair * rows + row) * steps + step]
                        * operands.right.values()[pair * columns * steps + right]
                };
                let sum: f32 = (0..steps).map(term).sum();
                operands.result.values_mut()[at] = sum;
            }
            operands.check(shape).unwrap();
            let last = operands.result.n - 1;
            operands.result.values_mut()[last] += 0.01;
            assert!(operands.check(shape).is_err(), "{shape}");
        }
    }
}
