//! The numbers that formulas compute with: plain `f64`, or numbers that a tape records.
//!
//! A tape holds one node per operation, with the derivatives of its result with respect to its operands. Running backwards
//! over the nodes gives the derivatives of the results with respect to the elements that were read (reverse-mode automatic
//! differentiation).

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number that formulas compute with.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// A constant.
    fn of(value: f64) -> Self;
    /// The value as `f64`. Whatever a formula computes from it, such as a comparison or a rounding, counts as a constant in
    /// the gradient.
    fn value(self) -> f64;
    /// The result of a function of this number: `value` is the function's value here, and `slope` its derivative.
    fn apply(self, value: f64, slope: f64) -> Self;

    /// `e^self`.
    fn exp(self) -> Self {
        let y = self.value().exp();
        self.apply(y, y)
    }

    /// Natural logarithm.
    fn ln(self) -> Self {
        self.apply(self.value().ln(), 1.0 / self.value())
    }

    /// Square root.
    fn sqrt(self) -> Self {
        let y = self.value().sqrt();
        self.apply(y, 0.5 / y)
    }

    /// Logarithm of the absolute value of the gamma function.
    fn ln_gamma(self) -> Self {
        use crate::tables::Real;
        self.apply(Real::ln_gamma(self.value()), self.value().digamma())
    }

    /// The absolute value.
    fn abs(self) -> Self {
        self.apply(self.value().abs(), crate::numeric::sign(self.value()))
    }

    /// The larger number; this one if both are equal.
    fn larger(self, other: Self) -> Self {
        if other.value() > self.value() { other } else { self }
    }
}

impl Number for f64 {
    fn of(value: f64) -> Self {
        value
    }
    fn value(self) -> f64 {
        self
    }
    fn apply(self, value: f64, _: f64) -> Self {
        value
    }
}

/// An integer of 64 bits that wraps. Functions other than sums and products are computed as `f64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole(pub i64);

impl Number for Whole {
    fn of(value: f64) -> Self {
        Self(value as i64)
    }
    fn value(self) -> f64 {
        self.0 as f64
    }
    fn apply(self, value: f64, _: f64) -> Self {
        Self::of(value)
    }
}

macro_rules! wrapping {
    ($($trait:ident $function:ident $with:expr;)*) => {
        $(impl $trait for Whole {
            type Output = Self;
            fn $function(self, other: Self) -> Self {
                Self($with(self.0, other.0))
            }
        })*
    };
}

wrapping! {
    Add add i64::wrapping_add;
    Sub sub i64::wrapping_sub;
    Mul mul i64::wrapping_mul;
    Div div crate::numeric::divide_integers;
}

impl Neg for Whole {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.wrapping_neg())
    }
}

/// One operation: its operands, and the derivatives of its result with respect to them.
#[derive(Clone, Copy)]
struct Node {
    operands: [usize; 2],
    slopes: [f64; 2],
}

/// The operand of nodes that do not have one.
const NONE: usize = usize::MAX;

/// A record of operations.
#[derive(Default)]
pub struct Tape {
    nodes: RefCell<Vec<Node>>,
}

impl Tape {
    /// A number that is read from an input.
    pub fn leaf(&self, value: f64) -> Taped<'_> {
        self.node(value, [NONE; 2], [0.0; 2])
    }

    fn node(&self, value: f64, operands: [usize; 2], slopes: [f64; 2]) -> Taped<'_> {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Node { operands, slopes });
        Taped { tape: Some(self), at: nodes.len() - 1, value }
    }

    /// Returns the derivatives of `Σ seed · result` with respect to every node, and empties the tape. `seeds` holds the node
    /// number of each result, with its seed.
    pub fn sweep(&mut self, seeds: &[(usize, f64)]) -> Vec<f64> {
        let nodes = self.nodes.get_mut();
        let mut slopes = vec![0.0; nodes.len()];
        seeds.iter().filter(|(at, _)| *at != NONE).for_each(|(at, seed)| slopes[*at] += seed);
        for (at, node) in nodes.iter().enumerate().rev() {
            let slope = slopes[at];
            if slope == 0.0 {
                // An operation that no result uses is skipped. If its own derivative is infinite, 0 times that derivative
                // would be NaN.
                continue;
            }
            for (operand, by) in node.operands.iter().zip(node.slopes) {
                if *operand != NONE {
                    slopes[*operand] += slope * by;
                }
            }
        }
        nodes.clear();
        slopes
    }
}

/// A number that a tape records, or a constant.
#[derive(Clone, Copy)]
pub struct Taped<'t> {
    tape: Option<&'t Tape>,
    at: usize,
    value: f64,
}

impl Taped<'_> {
    /// The number of its node, for [`Tape::sweep`].
    pub fn at(self) -> usize {
        self.at
    }

    fn join(self, other: Self, value: f64, slopes: [f64; 2]) -> Self {
        match self.tape.or(other.tape) {
            Some(tape) => tape.node(value, [self.at, other.at], slopes),
            None => Self::of(value),
        }
    }
}

impl Number for Taped<'_> {
    fn of(value: f64) -> Self {
        Self { tape: None, at: NONE, value }
    }
    fn value(self) -> f64 {
        self.value
    }
    fn apply(self, value: f64, slope: f64) -> Self {
        match self.tape {
            Some(tape) => tape.node(value, [self.at, NONE], [slope, 0.0]),
            None => Self::of(value),
        }
    }
}

impl Add for Taped<'_> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.join(other, self.value + other.value, [1.0, 1.0])
    }
}

impl Sub for Taped<'_> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.join(other, self.value - other.value, [1.0, -1.0])
    }
}

impl Mul for Taped<'_> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        self.join(other, self.value * other.value, [other.value, self.value])
    }
}

impl Div for Taped<'_> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let quotient = self.value / other.value;
        self.join(other, quotient, [1.0 / other.value, -quotient / other.value])
    }
}

impl Neg for Taped<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.apply(-self.value, -1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_all_bits_and_wrap() {
        let large = Whole((1 << 53) + 1);
        assert_eq!(large + Whole(1), Whole((1 << 53) + 2));
        assert_eq!(Whole(i64::MAX) + Whole(1), Whole(i64::MIN));
        assert_eq!(-Whole(3) * Whole(2) - Whole(1), Whole(-7));
        assert_eq!(Whole(-7) / Whole(2), Whole(-3));
    }

    #[test]
    fn slopes_are_those_of_the_formula() {
        let mut tape = Tape::default();
        let (at, seeds) = {
            let (x, y) = (tape.leaf(3.0), tape.leaf(2.0));
            // d/dx (x² / y + e^y) is 2x / y, and d/dy is e^y - x² / y².
            let z = x * x / y + y.exp();
            ([x.at(), y.at()], [(z.at(), 2.0)])
        };
        let slopes = tape.sweep(&seeds);
        assert_eq!(slopes[at[0]], 2.0 * 3.0);
        assert!((slopes[at[1]] - 2.0 * (2f64.exp() - 9.0 / 4.0)).abs() < 1e-12);
    }
}
