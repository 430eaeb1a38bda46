//! Matrices with orthogonal rows or columns.

use super::RandomKind;
use super::fill::Stream;
use mxrs_types::{Error, Result, Shape};

/// Fills a weight, as a matrix of `shape[0]` rows, with orthogonal vectors of length `scale`: rows, or columns if there
/// are fewer columns. They are computed from random vectors by the Gram-Schmidt method, applied twice because of
/// rounding, in float64.
///
/// # Errors
/// Fails if the weight has fewer than two axes.
pub(super) fn fill(
    name: &str,
    shape: &Shape,
    scale: f32,
    kind: RandomKind,
    stream: &mut Stream,
    out: &mut [f32],
) -> Result<()> {
    if shape.ndim() < 2 {
        return Err(Error::shape("orthogonal", name, "at least 2 axes", shape.to_string()));
    }
    let (rows, columns) = (shape[0], shape[1..].iter().product::<usize>());
    let (n, len) = (rows.min(columns), rows.max(columns));
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(n);
    let mut drawn = vec![0.0f32; len];
    while basis.len() < n {
        stream.draw(kind, 1.0, &mut drawn);
        let mut vector: Vec<f64> = drawn.iter().map(|x| f64::from(*x)).collect();
        let before = dot(&vector, &vector).sqrt();
        for _ in 0..2 {
            for other in &basis {
                let share = dot(&vector, other);
                vector.iter_mut().zip(other).for_each(|(x, y)| *x -= share * y);
            }
        }
        let length = dot(&vector, &vector).sqrt();
        // A vector is kept only if it is not nearly a linear combination of the others: otherwise the remainder is mostly
        // rounding error, so another vector is drawn.
        if length > 1e-8 * before {
            vector.iter_mut().for_each(|x| *x /= length);
            basis.push(vector);
        }
    }
    for (i, value) in out.iter_mut().enumerate() {
        let (row, column) = (i / columns, i % columns);
        let x = if rows <= columns { basis[row][column] } else { basis[column][row] };
        *value = (f64::from(scale) * x) as f32;
    }
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
