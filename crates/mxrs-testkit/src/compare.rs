//! Compares two results, and reports differences in readable form.

use crate::Tolerance;
use std::fmt;

/// The largest number of differing elements in a report.
const SHOWN: usize = 5;

/// The differences between two results.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// The number of elements; if it differs from `expected_len`, nothing was compared.
    pub len: usize,
    /// The expected number of elements.
    pub expected_len: usize,
    /// The number of elements out of tolerance.
    pub n_different: usize,
    /// The first elements out of tolerance: flat index, result, expected value.
    pub first: Vec<(usize, f64, f64)>,
    /// The largest absolute difference among finite elements.
    pub max_abs: f64,
    /// The tolerance of the comparison.
    pub tolerance: Tolerance,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.len != self.expected_len {
            return write!(f, "{} elements, expected {}", self.len, self.expected_len);
        }
        write!(
            f,
            "{} of {} elements differ by more than rtol {:e} atol {:e}; largest difference {:e}",
            self.n_different, self.len, self.tolerance.rtol, self.tolerance.atol, self.max_abs
        )?;
        for (index, got, expected) in &self.first {
            write!(f, "; [{index}] got {got:e} expected {expected:e}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Mismatch {}

/// Compares two results element by element.
///
/// ```
/// use mxrs_testkit::{Tolerance, compare};
/// assert!(compare(&[1.0, 2.0], &[1.0, 2.0000001], Tolerance::T1).is_ok());
/// let wrong = compare(&[1.0, 2.0], &[1.0, 3.0], Tolerance::T1).unwrap_err();
/// assert_eq!(wrong.first, [(1, 2.0, 3.0)]);
/// ```
///
/// # Errors
/// Returns a [`Mismatch`] with the first differing elements if the results differ.
pub fn compare(got: &[f64], expected: &[f64], tolerance: Tolerance) -> Result<(), Mismatch> {
    let mut mismatch = Mismatch {
        len: got.len(),
        expected_len: expected.len(),
        n_different: 0,
        first: Vec::new(),
        max_abs: 0.0,
        tolerance,
    };
    if got.len() != expected.len() {
        return Err(mismatch);
    }
    for (index, (g, e)) in got.iter().zip(expected).enumerate() {
        let difference = (g - e).abs();
        if difference.is_finite() {
            mismatch.max_abs = mismatch.max_abs.max(difference);
        }
        if !tolerance.accepts(*g, *e) {
            mismatch.n_different += 1;
            if mismatch.first.len() < SHOWN {
                mismatch.first.push((index, *g, *e));
            }
        }
    }
    if mismatch.n_different == 0 { Ok(()) } else { Err(mismatch) }
}
