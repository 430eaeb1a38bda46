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

    /// Eigenvalues, and eigenvectors of length 1 as columns, of a matrix whose eigenvalues are real; `None` if they are not. The
    /// order is that in which the QR algorithm leaves them on the diagonal. The element of each vector with the largest absolute
    /// value is positive.
    pub fn real_eigen(&self) -> Option<(Vec<f64>, Self)> {
        let n = self.n;
        let (mut t, mut q) = self.hessenberg();
        if t.values.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let scale: f64 = t.values.iter().map(|x| x.abs()).sum();
        let (mut end, mut n_steps) = (n, 0);
        while end > 1 {
            let last = end - 1;
            let is_small = |row: usize| {
                let near = t.at(row - 1, row - 1).abs() + t.at(row, row).abs();
                t.at(row, row - 1).abs() <= f64::EPSILON * if near == 0.0 { scale } else { near }
            };
            let start = (1..=last).rev().find(|row| is_small(*row)).unwrap_or(0);
            if start > 0 {
                t.values[start * n + start - 1] = 0.0;
            }
            if start == last {
                (end, n_steps) = (last, 0);
                continue;
            }
            let [a, b, c, d] = [(1, 1), (1, 0), (0, 1), (0, 0)].map(|(i, j)| t.at(last - i, last - j));
            let half = 0.5 * (a - d);
            let square = half * half + b * c;
            if start + 1 == last {
                // Rounding may make the discriminant of equal eigenvalues negative.
                if square < -4.0 * f64::EPSILON * scale * scale {
                    return None;
                }
                let z = half + if half < 0.0 { -1.0 } else { 1.0 } * square.max(0.0).sqrt();
                let length = c.hypot(z);
                turn(&mut t, &mut q, start, if length == 0.0 { [1.0, 0.0] } else { [z / length, c / length] });
                t.values[last * n + start] = 0.0;
                (end, n_steps) = (start, 0);
                continue;
            }
            n_steps += 1;
            if n_steps > 100 * n {
                return None;
            }
            let shift = match (n_steps % 10, square >= 0.0) {
                (0, _) => d + t.at(last, last - 1).abs(),
                // The shift: of the two eigenvalues of the last 2 x 2 block, the one that is closer to the last element of
                // the diagonal.
                (_, true) if square > 0.0 => d - b * c / (half + if half < 0.0 { -1.0 } else { 1.0 } * square.sqrt()),
                _ => d,
            };
            // One step of the QR algorithm. Rotations make the block triangular, and their inverses are applied from the
            // right.
            let mut pair = [t.at(start, start) - shift, t.at(start + 1, start)];
            for row in start..last {
                let length = pair[0].hypot(pair[1]);
                let [cos, sin] = if length == 0.0 { [1.0, 0.0] } else { pair.map(|x| x / length) };
                turn(&mut t, &mut q, row, [cos, sin]);
                if row + 2 <= last {
                    pair = [t.at(row + 1, row), t.at(row + 2, row)];
                }
            }
        }
        let values: Vec<f64> = (0..n).map(|i| t.at(i, i)).collect();
        let mut vectors = Self::by(n, |_, _| 0.0);
        for (k, value) in values.iter().enumerate() {
            let mut x = vec![0.0; n];
            x[k] = 1.0;
            for i in (0..k).rev() {
                let sum: f64 = (i + 1..=k).map(|j| t.at(i, j) * x[j]).sum();
                let gap = t.at(i, i) - value;
                x[i] = -sum / if gap == 0.0 { f64::EPSILON * scale } else { gap };
            }
            let vector: Vec<f64> = (0..n).map(|i| (0..=k).map(|j| q.at(i, j) * x[j]).sum()).collect();
            let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            let largest = vector.iter().copied().fold(0.0, |most: f64, x| if x.abs() > most.abs() { x } else { most });
            let factor = if largest < 0.0 { -length } else { length };
            (0..n).for_each(|i| vectors.values[i * n + k] = vector[i] / factor);
        }
        Some((values, vectors))
    }

    /// Returns a Hessenberg matrix H (0 below its first lower diagonal) and an orthogonal Q, so that `self = Q H Qᵀ`. They
    /// are made by Householder's reflections.
    fn hessenberg(&self) -> (Self, Self) {
        let n = self.n;
        let (mut a, mut q) = (self.clone(), Self::by(n, |i, j| f64::from(u8::from(i == j))));
        for column in 0..n.saturating_sub(2) {
            let mut normal: Vec<f64> = (0..n).map(|i| if i > column { a.at(i, column) } else { 0.0 }).collect();
            let length = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length == 0.0 {
                continue;
            }
            normal[column + 1] += if normal[column + 1] < 0.0 { -length } else { length };
            let square: f64 = normal.iter().map(|x| x * x).sum();
            let reflect = |i: usize, j: usize| f64::from(u8::from(i == j)) - 2.0 * normal[i] * normal[j] / square;
            let reflection = Self::by(n, reflect);
            a = reflection.times(&a).times(&reflection);
            q = q.times(&reflection);
            (column + 2..n).for_each(|i| a.values[i * n + column] = 0.0);
        }
        (a, q)
    }
}

/// Applies a rotation of rows `row` and `row + 1` of `t`, and its inverse to the columns of `t` and of `q`.
fn turn(t: &mut Dense, q: &mut Dense, row: usize, [cos, sin]: [f64; 2]) {
    let n = t.n;
    for j in 0..n {
        let (x, y) = (t.at(row, j), t.at(row + 1, j));
        (t.values[row * n + j], t.values[(row + 1) * n + j]) = (cos * x + sin * y, cos * y - sin * x);
    }
    for matrix in [t, q] {
        for i in 0..n {
            let (x, y) = (matrix.at(i, row), matrix.at(i, row + 1));
            (matrix.values[i * n + row], matrix.values[i * n + row + 1]) = (cos * x + sin * y, cos * y - sin * x);
        }
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
    fn real_eigenvectors_reproduce_the_matrix() {
        let matrices = [
            Dense::new(3, vec![4.0, 1.0, 0.5, 1.0, 7.0, 0.25, 0.5, 2.0, 2.0]),
            Dense::new(2, vec![2.0, 0.5, 0.25, 1.0]),
            Dense::by(5, |i, j| if i == j { i as f64 * 3.0 } else { 0.25 / (1.0 + (i + 2 * j) as f64) }),
            Dense::by(4, |i, j| f64::from(u8::from(i == j))),
            Dense::new(3, vec![1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 0.0, 0.0, 6.0]),
        ];
        for a in matrices {
            let (values, vectors) = a.real_eigen().expect("real eigenvalues");
            let product = a.times(&vectors);
            for i in 0..a.n {
                for (j, value) in values.iter().enumerate() {
                    let expected = vectors.at(i, j) * value;
                    assert!((product.at(i, j) - expected).abs() < 1e-9, "{} {expected}", product.at(i, j));
                }
            }
        }
    }

    #[test]
    fn complex_eigenvalues_are_found_out() {
        assert_eq!(Dense::new(2, vec![0.0, -1.0, 1.0, 0.0]).real_eigen(), None);
        let three = Dense::new(3, vec![0.0, -1.0, 0.5, 1.0, 0.0, 0.25, 0.0, 0.0, 2.0]);
        assert_eq!(three.real_eigen(), None);
        assert_eq!(Dense::new(1, vec![f64::NAN]).real_eigen(), None);
    }

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
