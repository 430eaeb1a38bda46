//! How far two results may differ: the tolerances of each [`Accuracy`], per element type.

use mxrs_op::Accuracy;
use mxrs_types::DType;

/// A tolerance: `|got - expected| <= atol + rtol * |expected|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative part.
    pub rtol: f64,
    /// Absolute part.
    pub atol: f64,
}

impl Tolerance {
    /// T0: equal. (A NaN equals a NaN, and 0 equals -0.)
    pub const T0: Self = Self { rtol: 0.0, atol: 0.0 };
    /// T1: elementwise arithmetic in `f32`.
    pub const T1: Self = Self { rtol: 1e-6, atol: 1e-7 };
    /// T2: moderate reductions in `f32`.
    pub const T2: Self = Self { rtol: 1e-5, atol: 1e-6 };
    /// T3: long sums of products in `f32`.
    pub const T3: Self = Self { rtol: 1e-4, atol: 1e-5 };
    /// T4: special functions in `f32`.
    pub const T4: Self = Self { rtol: 1e-5, atol: 0.0 };
    /// Anything computed in or stored as `f16`.
    pub const F16: Self = Self { rtol: 1e-2, atol: 1e-3 };
    /// Anything computed in or stored as `bf16`.
    pub const BF16: Self = Self { rtol: 2e-2, atol: 1e-2 };
    /// Anything computed in `f64`.
    pub const F64: Self = Self { rtol: 1e-12, atol: 1e-14 };
    /// Quantized integers may differ by 1. The relative part is for 32-bit sums, which may also differ by the rounding
    /// error of `f32`.
    pub const QUANTUM: Self = Self { rtol: 1e-6, atol: 1.0 };
    /// The largest number of terms of a sum for which [`Self::T3`] is used unchanged.
    const T3_TERMS: usize = 4096;

    /// The tolerance of an accuracy class for results of this type. Integers and bools must agree exactly, unless they
    /// are quantized.
    pub fn of(accuracy: Accuracy, dtype: DType) -> Self {
        match (accuracy, dtype) {
            (Accuracy::Exact, _) => Self::T0,
            (_, DType::F16) => Self::F16,
            (_, DType::BF16) => Self::BF16,
            (_, DType::F64) => Self::F64,
            (Accuracy::Elementwise, DType::F32) => Self::T1,
            (Accuracy::Reduction, DType::F32) => Self::T2,
            (Accuracy::Product | Accuracy::Quantum, DType::F32) => Self::T3,
            (Accuracy::Quantum, _) => Self::QUANTUM,
            (Accuracy::Special, DType::F32) => Self::T4,
            _ => Self::T0,
        }
    }

    /// The larger of the two relative parts and the larger of the two absolute parts, for calls whose inputs and
    /// outputs differ in type.
    #[must_use]
    pub fn widest(self, other: Self) -> Self {
        Self { rtol: self.rtol.max(other.rtol), atol: self.atol.max(other.atol) }
    }

    /// For sums of more than 4096 products, multiplies the tolerance by the square root of `n_terms / 4096`.
    #[must_use]
    pub fn for_sum_of(self, n_terms: usize) -> Self {
        let factor = (n_terms as f64 / Self::T3_TERMS as f64).max(1.0).sqrt();
        Self { rtol: self.rtol * factor, atol: self.atol * factor }
    }

    /// Whether `got` is close enough to `expected`. NaN agrees only with NaN, and an infinity only with itself.
    pub fn accepts(self, got: f64, expected: f64) -> bool {
        if got == expected || (got.is_nan() && expected.is_nan()) {
            return true;
        }
        got.is_finite() && expected.is_finite() && (got - expected).abs() <= self.atol + self.rtol * expected.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_values_agree_with_themselves_only() {
        let loose = Tolerance { rtol: 1.0, atol: 1e300 };
        assert!(loose.accepts(f64::NAN, f64::NAN) && loose.accepts(f64::INFINITY, f64::INFINITY));
        assert!(!loose.accepts(f64::NAN, 0.0) && !loose.accepts(0.0, f64::NAN));
        assert!(!loose.accepts(f64::INFINITY, f64::NEG_INFINITY) && !loose.accepts(1.0, f64::INFINITY));
        assert!(Tolerance::T0.accepts(0.0, -0.0) && !Tolerance::T0.accepts(1.0, 1.0 + f64::EPSILON));
    }

    #[test]
    fn widening() {
        assert_eq!(Tolerance::T3.for_sum_of(100), Tolerance::T3);
        assert!((Tolerance::T3.for_sum_of(4096 * 4).rtol - 2e-4).abs() < 1e-12);
        assert_eq!(Tolerance::T1.widest(Tolerance::F16), Tolerance::F16);
        assert_eq!(Tolerance::of(Accuracy::Product, DType::I32), Tolerance::T0);
        let quantized = Tolerance::of(Accuracy::Quantum, DType::I8);
        assert!(quantized.accepts(126.0, 127.0) && !quantized.accepts(125.0, 127.0));
        assert_eq!(Tolerance::of(Accuracy::Quantum, DType::F32), Tolerance::T3);
    }
}
