//! Calls that are products of matrices, as kernels see them: sizes, and where the elements are.

use crate::OpCall;

/// Where the matrices of a batch are in one tensor. All positions and distances are numbers of elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrices {
    /// Index of the tensor among the inputs of the call, or among its outputs for [`Products::result`].
    pub tensor: usize,
    /// Position of the first element of the first matrix.
    pub start: usize,
    /// For each axis of the batch, the distance between two neighboring matrices; 0 if they share one.
    pub batch: Vec<usize>,
    /// The distance between two rows.
    pub row: usize,
    /// The distance between two columns.
    pub column: usize,
}

impl Matrices {
    /// Matrices of `rows` rows and `columns` columns that follow each other, or that are stored transposed.
    pub fn dense(tensor: usize, [rows, columns]: [usize; 2], is_transposed: bool) -> Self {
        let (row, column) = if is_transposed { (1, rows) } else { (columns, 1) };
        Self { tensor, start: 0, batch: vec![rows * columns], row, column }
    }

    /// The same matrices, transposed.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { row: self.column, column: self.row, ..self }
    }
}

/// Products of matrices in a batch: `result = factor · left · right`. The result is the whole output.
#[derive(Clone, Debug, PartialEq)]
pub struct Products {
    /// Sizes of the axes of the batch. Their product is the number of products.
    pub batch: Vec<usize>,
    /// Rows of the left matrix and of the result.
    pub rows: usize,
    /// Columns of the right matrix and of the result.
    pub columns: usize,
    /// Columns of the left matrix and rows of the right one: the terms of each sum.
    pub terms: usize,
    /// The left matrices, of an input.
    pub left: Matrices,
    /// The right matrices, of an input.
    pub right: Matrices,
    /// The results, of an output.
    pub result: Matrices,
    /// The factor.
    pub factor: f64,
}

/// Describes a call as products of matrices; `None` if the call computes more than that. The shapes have passed inference.
pub type DescribeProducts = fn(&OpCall<'_>) -> Option<Products>;

impl Products {
    /// Number of products.
    pub fn n_products(&self) -> usize {
        self.batch.iter().product()
    }

    /// Multiplications and additions of all products, without overflow.
    pub fn multiply_adds(&self) -> u64 {
        let sizes = self.batch.iter().chain([&self.rows, &self.columns, &self.terms]);
        sizes.fold(1u64, |all, size| all.saturating_mul(*size as u64))
    }

    /// The positions of the first elements of the left matrix, the right one and the result of product number `index`.
    pub fn starts(&self, index: usize) -> [usize; 3] {
        let all = [&self.left, &self.right, &self.result];
        let mut starts = all.map(|matrices| matrices.start);
        let mut rest = index;
        for (axis, size) in self.batch.iter().enumerate().rev() {
            let at = rest % size.max(&1);
            rest /= size.max(&1);
            for (start, matrices) in starts.iter_mut().zip(all) {
                *start += at * matrices.batch[axis];
            }
        }
        starts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_start_where_their_axes_say() {
        let left = Matrices { tensor: 0, start: 7, batch: vec![100, 0], row: 4, column: 1 };
        let right = Matrices { tensor: 1, start: 0, batch: vec![0, 20], row: 5, column: 1 }.transposed();
        let result = Matrices { batch: vec![60, 30], ..Matrices::dense(0, [6, 5], false) };
        let products = Products { batch: vec![2, 3], rows: 6, columns: 5, terms: 4, left, right, result, factor: 1.0 };
        assert_eq!((products.n_products(), products.multiply_adds()), (6, 6 * 6 * 5 * 4));
        assert_eq!((products.starts(0), products.starts(4)), ([7, 0, 0], [107, 20, 90]));
        assert_eq!((products.right.row, products.right.column), (1, 5));
    }
}
