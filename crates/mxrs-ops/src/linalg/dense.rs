//! Small dense square matrices, for reference kernels.

/// A square matrix in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// Number of rows and of columns.
    pub n: usize,
    /// The elements.
    pub values: Vec<f64>,
}

impl Dense {
    /// A matrix of `n` rows with these elements.
    pub fn new(n: usize, values: Vec<f64>) -> Self {
        Self { n, values }
    }

    /// A matrix whose elements are a function of row and column.
    pub fn by(n: usize, element: impl Fn(usize, usize) -> f64) -> Self {
        Self::new(n, (0..n * n).map(|at| element(at / n, at % n)).collect())
    }

    /// An element.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.n + column]
    }

    /// The transposed matrix.
    pub fn transposed(&self) -> Self {
        Self::by(self.n, |i, j| self.at(j, i))
    }

    /// The product with another matrix.
    pub fn times(&self, other: &Self) -> Self {
        Self::by(self.n, |i, j| (0..self.n).map(|k| self.at(i, k) * other.at(k, j)).sum())
    }

    /// Elimination with row pivots: the inverse, the sign of the determinant (0 for a singular matrix), and the logarithm of its
    /// absolute value. A singular matrix has no finite inverse.
    pub fn eliminated(&self) -> (Self, f64, f64) {
        let n = self.n;
        let (mut a, mut inverse) = (self.clone(), Self::by(n, |i, j| f64::from(u8::from(i == j))));
        let (mut sign, mut log) = (1.0, 0.0);
        for column in 0..n {
            let size = |row: &usize| a.at(*row, column).abs();
            let pivot = (column..n).max_by(|i, j| size(i).total_cmp(&size(j))).unwrap_or(column);
            if pivot != column {
                sign = -sign;
                for j in 0..n {
                    a.values.swap(pivot * n + j, column * n + j);
                    inverse.values.swap(pivot * n + j, column * n + j);
                }
            }
            let value = a.at(column, column);
            sign *= crate::numeric::sign(value);
            log += value.abs().ln();
            for j in 0..n {
                a.values[column * n + j] /= value;
                inverse.values[column * n + j] /= value;
            }
            for i in (0..n).filter(|i| *i != column) {
                let factor = a.at(i, column);
                for j in 0..n {
                    a.values[i * n + j] -= factor * a.values[column * n + j];
                    inverse.values[i * n + j] -= factor * inverse.values[column * n + j];
                }
            }
        }
        (inverse, sign, log)
    }

    /// Eigenvectors, as rows, and eigenvalues in ascending order, of a symmetric matrix (Jacobi's rotations). The element of
    /// each vector with the largest absolute value is positive.
    pub fn eigen(&self) -> (Self, Vec<f64>) {
        let n = self.n;
        let mut a = Self::by(n, |i, j| 0.5 * (self.at(i, j) + self.at(j, i)));
        let mut vectors = Self::by(n, |i, j| f64::from(u8::from(i == j)));
        // Convergence is quadratic: a few sweeps suffice, and the bound keeps NaN from looping forever.
        for _ in 0..64 {
            let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a.at(i, j).powi(2)).sum();
            if off == 0.0 || off.is_nan() {
                break;
            }
            for p in 0..n {
                for q in p + 1..n {
                    rotate(&mut a, &mut vectors, p, q);
                }
            }
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|i, j| a.at(*i, *i).total_cmp(&a.at(*j, *j)));
        let values = order.iter().map(|i| a.at(*i, *i)).collect();
        let row = |i: usize| -> Vec<f64> {
            let vector: Vec<f64> = (0..n).map(|k| vectors.at(k, order[i])).collect();
            let largest = vector.iter().copied().fold(0.0, |most: f64, x| if x.abs() > most.abs() { x } else { most });
            vector.into_iter().map(|x| if largest < 0.0 { -x } else { x }).collect()
        };
        (Self::new(n, (0..n).flat_map(row).collect()), values)
    }
}

/// Makes element (p, q) of `a` zero by a rotation, and applies the rotation to the columns of `vectors`.
fn rotate(a: &mut Dense, vectors: &mut Dense, p: usize, q: usize) {
    let n = a.n;
    if a.at(p, q) == 0.0 {
        return;
    }
    let theta = (a.at(q, q) - a.at(p, p)) / (2.0 * a.at(p, q));
    let t = if theta == 0.0 { 1.0 } else { theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt()) };
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..n {
        let (x, y) = (a.at(k, p), a.at(k, q));
        (a.values[k * n + p], a.values[k * n + q]) = (c * x - s * y, s * x + c * y);
        let (x, y) = (vectors.at(k, p), vectors.at(k, q));
        (vectors.values[k * n + p], vectors.values[k * n + q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..n {
        let (x, y) = (a.at(p, k), a.at(q, k));
        (a.values[p * n + k], a.values[q * n + k]) = (c * x - s * y, s * x + c * y);
    }
    (a.values[p * n + q], a.values[q * n + p]) = (0.0, 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_and_inverses_reproduce_the_matrix() {
        let a = Dense::new(3, vec![4.0, 1.0, 0.5, 1.0, -3.0, -0.5, 0.5, -0.5, 2.0]);
        let (u, values) = a.eigen();
        let scaled = Dense::by(3, |i, j| values[i] * u.at(i, j));
        let (inverse, sign, log) = a.eliminated();
        let one = a.times(&inverse);
        let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-12, "{x} {y}");
        for i in 0..3 {
            for j in 0..3 {
                near(u.transposed().times(&scaled).at(i, j), a.at(i, j));
                near(one.at(i, j), f64::from(u8::from(i == j)));
            }
        }
        near(sign * log.exp(), values.iter().product());
    }
}
