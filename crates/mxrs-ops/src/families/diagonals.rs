//! Diagonals of matrices: where their elements are.

use crate::families::along::{self, Along};
use crate::families::moved::by_index;
use crate::inference::{OP, bad_attribute, resolve_axis};
use mxrs_op::{MovedAxis, MovedPart, MovedParts};
use mxrs_types::{Error, PartialShape, Result, Shape};

/// A diagonal over two axes of a tensor. Its elements become the last axis of the result.
#[derive(Clone, Copy, Debug)]
pub struct Diagonal {
    /// Distance from the main diagonal; positive numbers are above it.
    pub offset: i64,
    /// The axis of the rows.
    pub rows: usize,
    /// The axis of the columns.
    pub columns: usize,
}

impl Diagonal {
    /// The diagonal over two axes, which may be negative.
    ///
    /// # Errors
    /// Fails unless there are two different such axes.
    pub fn new(offset: i32, axis1: i32, axis2: i32, ndim: usize) -> Result<Self> {
        let [rows, columns] =
            [resolve_axis(i64::from(axis1), ndim, "data")?, resolve_axis(i64::from(axis2), ndim, "data")?];
        if rows == columns {
            return Err(bad_attribute("diagonal", "axis2", "another axis than axis1", axis2));
        }
        Ok(Self { offset: i64::from(offset), rows, columns })
    }

    /// The number of elements of a diagonal of a matrix.
    pub fn len(&self, rows: usize, columns: usize) -> usize {
        let cut = |size: usize, by: i64| size.saturating_sub(usize::try_from(by).unwrap_or(0));
        cut(rows, -self.offset).min(cut(columns, self.offset))
    }

    /// The sizes of the result.
    pub fn sizes(&self, data: &PartialShape) -> Option<PartialShape> {
        let dims = data.dims()?;
        let len = dims[self.rows].zip(dims[self.columns]).map(|(rows, columns)| self.len(rows, columns));
        let others = dims.iter().enumerate().filter(|(axis, _)| *axis != self.rows && *axis != self.columns);
        Some(PartialShape::new(others.map(|(_, size)| *size).chain([len])))
    }

    /// The parts that move from data to the result.
    pub fn parts(&self, data: &Shape, out: &Shape) -> Option<MovedParts> {
        let strides = data.strides();
        let others = (0..data.ndim()).filter(|axis| *axis != self.rows && *axis != self.columns);
        let mut axes: Vec<Along> = others.map(|axis| Along::whole(data[axis], strides[axis])).collect();
        let down = usize::try_from(-self.offset).unwrap_or(0) * strides[self.rows];
        let right = usize::try_from(self.offset).unwrap_or(0) * strides[self.columns];
        let step = (strides[self.rows] + strides[self.columns]) as isize;
        axes.push(Along::new().then(down + right, &[(out[out.ndim() - 1], step)]));
        along::parts(0, &axes, out, 0.0)
    }

    /// For each element of the result, its position in data.
    pub fn sources(&self, data: &Shape, out: &Shape) -> Vec<Option<usize>> {
        let strides = data.strides();
        let others: Vec<usize> = (0..data.ndim()).filter(|axis| *axis != self.rows && *axis != self.columns).collect();
        let down = usize::try_from(-self.offset).unwrap_or(0) * strides[self.rows];
        let right = usize::try_from(self.offset).unwrap_or(0) * strides[self.columns];
        by_index(out, |index| {
            let outer: usize = others.iter().zip(index).map(|(axis, i)| strides[*axis] * i).sum();
            let along = index[others.len()] * (strides[self.rows] + strides[self.columns]);
            Some(outer + along + down + right)
        })
    }
}

/// The size of a square matrix that has a vector of `n` elements on this diagonal.
///
/// # Errors
/// Fails if the size overflows.
pub fn square(n: usize, offset: i32) -> Result<usize> {
    let offset = offset.unsigned_abs() as usize;
    n.checked_add(offset).ok_or_else(|| Error::shape(OP, "data", "a shorter vector", Shape::from([n])))
}

/// The parts that write vectors of `n` elements to diagonal number `offset` of square matrices, whose other elements are 0.
pub fn parts_on_diagonal(out: &Shape, n: usize, offset: i32) -> MovedParts {
    let [.., rows, columns] = out[..] else { return MovedParts::default() };
    let (down, right) = (offset.min(0).unsigned_abs() as usize, offset.max(0).unsigned_abs() as usize);
    let matrices = MovedAxis {
        size: out.n_elements().checked_div(rows * columns).unwrap_or(0),
        from: n as isize,
        to: (rows * columns) as isize,
    };
    let axes = vec![matrices, MovedAxis { size: n, from: 1, to: columns as isize + 1 }];
    let part = MovedPart { input: Some(0), output: 0, from: 0, to: down * columns + right, axes };
    MovedParts { parts: vec![part], sums: true, ..MovedParts::default() }
}

/// For each element of square matrices whose diagonal number `offset` holds a vector, its position in the vectors; `None`
/// off this diagonal.
pub fn on_diagonal(out: &Shape, n: usize, offset: i32) -> Vec<Option<usize>> {
    let (down, right) = (offset.min(0).unsigned_abs() as usize, offset.max(0).unsigned_abs() as usize);
    let mut matrix = 0;
    let mut seen = 0;
    by_index(out, |index| {
        let [.., row, column] = index else { return None };
        let per_matrix = out[out.ndim() - 2] * out[out.ndim() - 1];
        if seen == per_matrix {
            (seen, matrix) = (0, matrix + 1);
        }
        seen += 1;
        let i = row.checked_sub(down)?;
        (column.checked_sub(right)? == i && i < n).then(|| matrix * n + i)
    })
}
