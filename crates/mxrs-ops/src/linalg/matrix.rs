//! Small dense matrices of any numbers of rows and columns, for reference kernels.

use super::dense::Dense;

/// A matrix of any numbers of rows and columns, in row-major order.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// The elements.
    pub values: Vec<f64>,
}

impl Matrix {
    /// A matrix whose elements are a function of row and column.
    pub fn by(rows: usize, columns: usize, element: impl Fn(usize, usize) -> f64) -> Self {
        let at = |i: usize| element(i / columns, i % columns);
        Self { rows, columns, values: (0..rows * columns).map(at).collect() }
    }

    /// An element.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    /// The transposed matrix.
    pub fn transposed(&self) -> Self {
        Self::by(self.columns, self.rows, |i, j| self.at(j, i))
    }

    /// The product with another matrix.
    pub fn times(&self, other: &Self) -> Self {
        let element = |i, j| (0..self.columns).map(|k| self.at(i, k) * other.at(k, j)).sum();
        Self::by(self.rows, other.columns, element)
    }

    /// The sum with a multiple of another matrix.
    pub fn plus(&self, factor: f64, other: &Self) -> Self {
        Self::by(self.rows, self.columns, |i, j| self.at(i, j) + factor * other.at(i, j))
    }

    /// U, singular values and V of a matrix with at most as many rows as columns (Jacobi's rotations of pairs of rows).
    pub fn svd(&self) -> (Self, Vec<f64>, Self) {
        let (m, n) = (self.rows, self.columns);
        let mut rows: Vec<Vec<f64>> = self.values.chunks(n.max(1)).map(<[f64]>::to_vec).collect();
        let mut turns: Vec<Vec<f64>> = (0..m).map(|i| (0..m).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        // Convergence is quadratic: a few sweeps suffice, and the bound keeps NaN from looping forever.
        for _ in 0..64 {
            let mut is_done = true;
            for p in 0..m {
                for q in p + 1..m {
                    let (a, b, c) = (dot(&rows[p], &rows[p]), dot(&rows[q], &rows[q]), dot(&rows[p], &rows[q]));
                    if c.is_nan() || c.abs() <= f64::EPSILON * (a * b).sqrt() {
                        continue;
                    }
                    is_done = false;
                    let theta = (b - a) / (2.0 * c);
                    let t = if theta < 0.0 { -1.0 } else { 1.0 } / (theta.abs() + theta.hypot(1.0));
                    let cos = 1.0 / t.hypot(1.0);
                    let sin = t * cos;
                    for table in [&mut rows, &mut turns] {
                        for k in 0..table[p].len() {
                            let (x, y) = (table[p][k], table[q][k]);
                            (table[p][k], table[q][k]) = (cos * x - sin * y, sin * x + cos * y);
                        }
                    }
                }
            }
            if is_done {
                break;
            }
        }
        let lengths: Vec<f64> = rows.iter().map(|row| dot(row, row).sqrt()).collect();
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|i, j| lengths[*j].total_cmp(&lengths[*i]));
        let largest = order.first().map_or(0.0, |i| lengths[*i]);
        let mut found: Vec<Vec<f64>> = Vec::with_capacity(m);
        let mut values = Vec::with_capacity(m);
        for i in &order {
            // A row that is 0 up to rounding has no reliable direction. It gets a direction orthogonal to those of the rows
            // before.
            let is_zero = lengths[*i] <= f64::EPSILON * largest * 4.0;
            let mut direction: Vec<f64> = rows[*i].iter().map(|x| x / lengths[*i]).collect();
            if is_zero {
                // Of the unit vectors, the one that is farthest from the rows before. To find it by the lengths of what is
                // left of each would take n times as long.
                let left: Vec<f64> =
                    (0..n).map(|k| 1.0 - found.iter().map(|row| row[k] * row[k]).sum::<f64>()).collect();
                let farthest = (0..n).max_by(|a, b| left[*a].total_cmp(&left[*b]));
                let mut unit: Vec<f64> = (0..n).map(|j| f64::from(u8::from(Some(j) == farthest))).collect();
                for other in &found {
                    let along = dot(&unit, other);
                    unit.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
                }
                let length = dot(&unit, &unit).sqrt();
                direction = unit.iter().map(|x| x / length).collect();
            }
            let most = direction.iter().copied().fold(0.0, |most: f64, x| if x.abs() > most.abs() { x } else { most });
            if most < 0.0 {
                direction.iter_mut().chain(&mut turns[*i]).for_each(|x| *x = -*x);
            }
            values.push(if is_zero { 0.0 } else { lengths[*i] });
            found.push(direction);
        }
        let u = Self::by(m, m, |i, j| turns[order[j]][i]);
        (u, values, Self { rows: m, columns: n, values: found.concat() })
    }

    /// The pseudo-inverse, for which singular values up to `rcond` times the largest one count as 0. Of a symmetric matrix the lower
    /// triangle is read.
    pub fn pinv(&self, rcond: f64, is_symmetric: bool) -> Self {
        let inverse = |values: &[f64]| {
            let cut = rcond * values.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            values.iter().map(|x| if x.abs() > cut { 1.0 / x } else { 0.0 }).collect::<Vec<f64>>()
        };
        if is_symmetric {
            let lower = Dense::by(self.rows, |i, j| self.at(i.max(j), i.min(j)));
            let (vectors, values) = lower.eigen();
            let inverse = inverse(&values);
            let sum = |i, j| (0..self.rows).map(|k| vectors.at(k, i) * inverse[k] * vectors.at(k, j)).sum();
            return Self::by(self.rows, self.rows, sum);
        }
        if self.rows > self.columns {
            return self.transposed().pinv(rcond, false).transposed();
        }
        let (u, values, v) = self.svd();
        let inverse = inverse(&values);
        Self::by(self.columns, self.rows, |i, j| (0..self.rows).map(|k| v.at(k, i) * inverse[k] * u.at(j, k)).sum())
    }
}
