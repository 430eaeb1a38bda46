//! The matrices of a product, in memory aligned to 64 bytes, and the check of a result.

use super::shapes::{Number, Shape};
use crate::score::serve::uniform;
use anyhow::{Result, ensure};

/// A cache line of values.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; 16]);

/// Numbers whose memory is aligned to 64 bytes.
pub struct Aligned {
    lines: Vec<Line>,
    n: usize,
    number: Number,
}

impl Aligned {
    /// `n` zeros.
    pub fn zeros(n: usize, number: Number) -> Self {
        Self { lines: vec![Line([0.0; 16]); (n * number.n_bytes()).div_ceil(size_of::<Line>())], n, number }
    }

    /// The bytes of the numbers.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the lines hold at least this many bytes one after the other, because a line has no padding.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.n * self.number.n_bytes()) }
    }

    /// The bytes of the numbers, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and the lines are borrowed for writing. Every value of a byte is part of a valid number.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.n * self.number.n_bytes()) }
    }

    /// The numbers, which are float32.
    ///
    /// # Panics
    /// Panics if the numbers are bfloat16.
    pub fn values(&self) -> &[f32] {
        assert_eq!(self.number, Number::Float32);
        bytemuck::cast_slice(self.bytes())
    }

    /// The numbers, which are float32, for writing.
    ///
    /// # Panics
    /// Panics if the numbers are bfloat16.
    pub fn values_mut(&mut self) -> &mut [f32] {
        assert_eq!(self.number, Number::Float32);
        bytemuck::cast_slice_mut(self.bytes_mut())
    }

    /// The number at a position.
    pub fn get(&self, at: usize) -> f32 {
        match self.number {
            Number::Float32 => self.values()[at],
            Number::Bfloat16 => f32::from_bits(u32::from(bytemuck::cast_slice::<u8, u16>(self.bytes())[at]) << 16),
        }
    }

    /// Replaces the number at a position by `x`, rounded to the type of the numbers.
    pub fn set(&mut self, at: usize, x: f32) {
        match self.number {
            Number::Float32 => self.values_mut()[at] = x,
            Number::Bfloat16 => bytemuck::cast_slice_mut::<u8, u16>(self.bytes_mut())[at] = upper_half(x),
        }
    }

    /// These numbers as a matrix with this many rows, transposed.
    pub fn transposed(&self, rows: usize) -> Self {
        let columns = self.n / rows.max(1);
        let mut transposed = Self::zeros(self.n, self.number);
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            transposed.set(column * rows + row, self.get(row * columns + column));
        }
        transposed
    }
}

/// The bits of the bfloat16 number that is nearest to `x`; of two that are equally near, the one whose last bit is 0.
fn upper_half(x: f32) -> u16 {
    let bits = x.to_bits();
    // The rounding of a NaN could carry into its sign, so its upper half is kept, with a bit that keeps it a NaN.
    let rounded = if x.is_nan() { bits | 1 << 22 } else { bits + 0x7fff + (bits >> 16 & 1) };
    (rounded >> 16) as u16
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
        let [left, right, result] = shape.elements().map(|n| Aligned::zeros(n, shape.number));
        let mut operands = Self { left, right, result };
        let numbers = uniform(operands.left.n.max(operands.right.n) + 7);
        let fill = |to: &mut Aligned, first: usize| {
            for (at, x) in numbers[first..].iter().enumerate().take(to.n) {
                to.set(at, *x);
            }
        };
        fill(&mut operands.left, 0);
        fill(&mut operands.right, 7);
        for at in 0..operands.result.n {
            operands.result.set(at, f32::NAN);
        }
        operands
    }

    /// Checks values of the result, spread over all of it, against sums in double precision.
    ///
    /// # Errors
    /// Fails if a value differs by more than rounding can explain.
    pub fn check(&self, shape: &Shape) -> Result<()> {
        let n = self.result.n;
        // Sums of `steps` products below 1, each of which a library may round in float32.
        let bound = 4e-7 * (shape.steps as f64 + 8.0);
        // A result in bfloat16 has eight digits, so it differs from the sum by at most this part of it.
        let part = match shape.number {
            Number::Float32 => 0.0,
            Number::Bfloat16 => 1.0 / 256.0,
        };
        for i in 0..CHECKED {
            // The last value is among them.
            let at = if i + 1 == CHECKED { n - 1 } else { i * n / CHECKED + i % 7 % n.div_ceil(CHECKED) };
            let want = self.terms(shape, at).map(|[x, y]| f64::from(x) * f64::from(y)).sum::<f64>();
            let got = f64::from(self.result.get(at));
            let is_near = (got - want).abs() <= bound + part * want.abs();
            ensure!(is_near, "value {at} of the result is {got}, expected {want}");
        }
        Ok(())
    }

    /// The factors of each term of a value of the result.
    fn terms(&self, shape: &Shape, at: usize) -> impl Iterator<Item = [f32; 2]> {
        let Shape { rows, columns, steps, is_transposed, .. } = *shape;
        let (pair, row, column) = (at / (rows * columns), at / columns % rows, at % columns);
        let right = move |step: usize| if is_transposed { column * steps + step } else { step * columns + column };
        (0..steps).map(move |step| {
            [self.left.get((pair * rows + row) * steps + step), self.right.get(pair * columns * steps + right(step))]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::shapes::all;

    #[test]
    fn a_right_product_passes_and_a_wrong_one_does_not() {
        let small = all().unwrap().into_iter().filter(|shape| shape.operations() < 3e6);
        for shape in small.flat_map(|shape| Number::ALL.map(|number| Shape { number, ..shape.clone() })) {
            let mut operands = Operands::new(&shape);
            assert_eq!(operands.left.bytes().as_ptr().addr() % 64, 0);
            assert!(operands.check(&shape).is_err(), "{shape}: nothing was computed");
            for at in 0..operands.result.n {
                let sum: f32 = operands.terms(&shape, at).map(|[x, y]| x * y).sum();
                operands.result.set(at, sum);
            }
            operands.check(&shape).unwrap();
            let last = operands.result.n - 1;
            operands.result.set(last, operands.result.get(last) + 1.0);
            assert!(operands.check(&shape).is_err(), "{shape}");
        }
    }

    #[test]
    fn bfloat16_is_the_nearest() {
        // 1 + 1/256 is halfway between two numbers, and the one with an even last digit is 1.
        for (x, bits) in [(1.0, 0x3f80), (1.0 + 1.0 / 256.0, 0x3f80), (1.0 + 3.0 / 256.0, 0x3f82), (-0.5, 0xbf00)] {
            assert_eq!(upper_half(x), bits, "{x}");
        }
        let mut numbers = Aligned::zeros(6, Number::Bfloat16);
        (0..6).for_each(|at| numbers.set(at, at as f32));
        let transposed = numbers.transposed(2);
        assert_eq!((0..6).map(|at| transposed.get(at)).collect::<Vec<_>>(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
        numbers.set(0, f32::NAN);
        assert!(numbers.get(0).is_nan());
    }
}
