//! Central differences of a function of several tensors.

use super::{Checked, EPS, TOLERANCE};
use crate::{AlignedBuffer, Seeded};
use mxrs_types::DType;

/// Largest number of elements of one tensor whose derivatives are compared. From larger tensors, elements are chosen
/// pseudorandomly.
const PROBES: usize = 64;

/// A point counts as a kink if its two one-sided differences differ by more than this number times `1 + |c|`, where `c` is
/// the central difference. A second derivative of 1000 still counts as smooth.
const KINK: f64 = 1e-3;

/// Compares derivatives with central differences of `Σ weight · f`.
///
/// `derivatives` has one entry for each tensor of `at`; `None` for tensors that are not varied.
///
/// # Errors
/// Returns a sentence about the first derivative that differs, or the error of `f`.
pub(super) fn compare(
    at: &[AlignedBuffer],
    derivatives: &[Option<Vec<f64>>],
    weights: &[Vec<f64>],
    f: impl Fn(&[AlignedBuffer]) -> Result<Vec<Vec<f64>>, String>,
) -> Result<Checked, String> {
    let base = f(at)?;
    let mut checked = Checked::default();
    let mut point = at.to_vec();
    for (tensor, derivative) in derivatives.iter().enumerate() {
        let Some(derivative) = derivative else { continue };
        let mut values = at[tensor].to_f64(DType::F64);
        for element in probes(values.len()) {
            let center = values[element];
            let mut moved = |by: f64| {
                values[element] = center + by;
                point[tensor] = AlignedBuffer::from_f64(&values, DType::F64);
                values[element] = center;
                f(&point)
            };
            let (above, below) = (moved(EPS)?, moved(-EPS)?);
            point[tensor] = at[tensor].clone();
            let (right, left) = (weighted(&above, &base, weights) / EPS, weighted(&base, &below, weights) / EPS);
            let central = weighted(&above, &below, weights) / (2.0 * EPS);
            if (right - left).abs() > KINK * (1.0 + central.abs()) {
                checked.n_kinks += 1;
                continue;
            }
            checked.n_compared += 1;
            if !TOLERANCE.accepts(derivative[element], central) {
                return Err(format!(
                    "derivative by element {element} of tensor {tensor} (at {center:e}): got {:e}, the central difference \
                     is {central:e}",
                    derivative[element]
                ));
            }
        }
    }
    Ok(checked)
}

/// `Σ weight · (a - b)`, computed element by element so that large constant terms cancel exactly.
fn weighted(a: &[Vec<f64>], b: &[Vec<f64>], weights: &[Vec<f64>]) -> f64 {
    let one = |((a, b), w): ((&Vec<f64>, &Vec<f64>), &Vec<f64>)| -> f64 {
        a.iter().zip(b).zip(w).map(|((a, b), w)| w * (a - b)).sum()
    };
    a.iter().zip(b).zip(weights).map(one).sum()
}

/// Indices of the elements to compare: all, or pseudorandomly chosen ones that include the first and the last.
fn probes(n: usize) -> Vec<usize> {
    if n <= PROBES {
        return (0..n).collect();
    }
    let mut seed = Seeded::new(n as u64);
    let mut chosen: Vec<usize> = (2..PROBES).map(|_| seed.integer(0, n as i64) as usize).chain([0, n - 1]).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}
