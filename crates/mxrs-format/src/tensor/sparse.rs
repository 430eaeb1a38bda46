//! Sparse arrays, whose structure is checked when they are created.

use super::{Dense, Tensor, check_bools, size_bytes, view};
use crate::{AlignedBytes, Element, fault};
use mxrs_types::{DType, Device, Error, FormatErrorKind, Result, Shape};

/// Some rows of an array of shape `(n, ...)`; all other rows are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSparse {
    dtype: DType,
    shape: Shape,
    indices: Vec<i64>,
    bytes: AlignedBytes,
}

/// The stored elements of a matrix, row by row.
#[derive(Clone, Debug)]
pub struct Csr {
    dtype: DType,
    shape: Shape,
    indptr: Vec<i64>,
    indices: Vec<i64>,
    bytes: AlignedBytes,
    /// Whether the file gave 0 as the storage shape. MXNet writes 0 if it saves an array before a pending conversion has set
    /// the number of elements. The flag is kept so that the array is written as it was read.
    unsettled: bool,
}

/// Two arrays are equal if their matrices are equal; the storage shape that the file gave is ignored.
impl PartialEq for Csr {
    fn eq(&self, other: &Self) -> bool {
        (self.dtype, &self.shape, &self.indptr, &self.indices, &self.bytes)
            == (other.dtype, &other.shape, &other.indptr, &other.indices, &other.bytes)
    }
}

impl Eq for Csr {}

fn inconsistent(context: String) -> Error {
    fault::whole(FormatErrorKind::Inconsistent, context)
}

/// Largest size in bytes of a sparse array that is converted to a dense one.
const MAX_DENSE: u64 = 64 << 30;

/// Allocates zeros for the dense form of a sparse array. The size is checked, because a file of a few bytes may state any
/// shape.
///
/// # Errors
/// Returns `LimitExceeded` above [`MAX_DENSE`], and [`mxrs_types::ErrorKind::OutOfMemory`].
fn dense_zeros(shape: &Shape, dtype: DType) -> Result<AlignedBytes> {
    let size = size_bytes(shape, dtype)?;
    if size as u64 > MAX_DENSE {
        let kind = FormatErrorKind::LimitExceeded { value: size as u64, max: MAX_DENSE };
        return Err(fault::whole(kind, format!("bytes of a sparse array {shape} {dtype} as a dense one")));
    }
    let refused = || Error::out_of_memory(Device::cpu(0), size as u64, "a sparse array as a dense one");
    AlignedBytes::try_zeroed(size).ok_or_else(refused)
}

fn check_size(what: &str, stored: &Shape, dtype: DType, bytes: &[u8]) -> Result<()> {
    let need = size_bytes(stored, dtype)?;
    if need != bytes.len() {
        return Err(inconsistent(format!("{what}: {} bytes of data, expected {need} for {stored}", bytes.len())));
    }
    check_bools(dtype, bytes)
}

impl RowSparse {
    /// An array from the indices of its stored rows (strictly increasing, within `shape[0]`) and their elements.
    ///
    /// # Errors
    /// Returns `InvalidValue` for a scalar shape or a bad index, `Inconsistent` if the data has another size, and
    /// `Overflow`.
    pub fn new(dtype: DType, shape: Shape, indices: Vec<i64>, bytes: AlignedBytes) -> Result<Self> {
        let Some(&rows) = shape.first() else {
            return Err(fault::whole(FormatErrorKind::InvalidValue, "row_sparse array without axes"));
        };
        let mut least = 0;
        for &index in &indices {
            if index < least || index as u64 >= rows as u64 {
                let context =
                    format!("row_sparse index {index}, expected {least} to {} in rising order", rows as i128 - 1);
                return Err(fault::whole(FormatErrorKind::InvalidValue, context));
            }
            least = index.saturating_add(1);
        }
        let array = Self { dtype, shape, indices, bytes };
        check_size("row_sparse", &array.storage_shape(), dtype, &array.bytes)?;
        Ok(array)
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes of the axes of the whole array.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Shape of the stored rows: `(r, shape[1..])`.
    pub fn storage_shape(&self) -> Shape {
        std::iter::once(self.indices.len()).chain(self.shape.iter().skip(1).copied()).collect()
    }

    /// Indices of the stored rows, increasing.
    pub fn indices(&self) -> &[i64] {
        &self.indices
    }

    /// Elements of the stored rows, in the host's byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Elements of the stored rows as a slice of `T`.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if the array has another type.
    pub fn values<T: Element>(&self) -> Result<&[T]> {
        view(self.dtype, &self.bytes)
    }

    pub(super) fn cast(&self, dtype: DType) -> Self {
        let values = Dense { dtype: self.dtype, shape: self.storage_shape(), bytes: self.bytes.clone() }.cast(dtype);
        Self { dtype, shape: self.shape.clone(), indices: self.indices.clone(), bytes: values.bytes }
    }

    fn to_dense(&self) -> Result<Dense> {
        let mut bytes = dense_zeros(&self.shape, self.dtype)?;
        let row = if self.indices.is_empty() { 0 } else { self.bytes.len() / self.indices.len() };
        for (k, &index) in self.indices.iter().enumerate() {
            let at = index as usize * row;
            bytes[at..at + row].copy_from_slice(&self.bytes[k * row..(k + 1) * row]);
        }
        Dense::new(self.dtype, self.shape.clone(), bytes)
    }
}

impl Csr {
    /// A matrix from row bounds (`rows + 1` numbers, increasing from 0 to the number of elements), columns (strictly
    /// increasing within each row, within `shape[1]`) and elements.
    ///
    /// # Errors
    /// Returns `InvalidValue` for a shape without exactly two axes or a bad column, `Inconsistent` for bad bounds or another
    /// size of data, and `Overflow`.
    pub fn new(dtype: DType, shape: Shape, indptr: Vec<i64>, indices: Vec<i64>, bytes: AlignedBytes) -> Result<Self> {
        let array = Self::unsorted(dtype, shape, indptr, indices, bytes)?;
        for row in array.indptr.windows(2) {
            let columns = &array.indices[row[0] as usize..row[1] as usize];
            if let Some(pair) = columns.windows(2).find(|p| p[0] >= p[1]) {
                let context = format!("csr columns {} and {} of one row, expected rising order", pair[0], pair[1]);
                return Err(fault::whole(FormatErrorKind::InvalidValue, context));
            }
        }
        Ok(array)
    }

    /// Like [`Self::new`], but sorts the columns of each row. Also returns whether the columns of any row were unsorted
    /// before.
    pub(crate) fn sorting(
        dtype: DType,
        shape: Shape,
        indptr: Vec<i64>,
        indices: Vec<i64>,
        bytes: AlignedBytes,
    ) -> Result<(Self, bool)> {
        let array = Self::unsorted(dtype, shape, indptr, indices, bytes)?;
        let mut order: Vec<usize> = (0..array.indices.len()).collect();
        for row in array.indptr.windows(2) {
            order[row[0] as usize..row[1] as usize].sort_by_key(|&k| array.indices[k]);
        }
        if order.is_sorted() {
            let Self { shape, indptr, indices, bytes, .. } = array;
            return Ok((Self::new(dtype, shape, indptr, indices, bytes)?, false));
        }
        let item = dtype.size_of();
        let mut bytes = AlignedBytes::zeroed(array.bytes.len());
        for (slot, &k) in bytes.chunks_exact_mut(item).zip(&order) {
            slot.copy_from_slice(&array.bytes[k * item..(k + 1) * item]);
        }
        let indices = order.iter().map(|&k| array.indices[k]).collect();
        Ok((Self::new(dtype, array.shape, array.indptr, indices, bytes)?, true))
    }

    fn unsorted(dtype: DType, shape: Shape, indptr: Vec<i64>, indices: Vec<i64>, bytes: AlignedBytes) -> Result<Self> {
        let [rows, cols] = shape[..] else {
            return Err(fault::whole(
                FormatErrorKind::InvalidValue,
                format!("csr array of shape {shape}, expected 2 axes"),
            ));
        };
        if rows.checked_add(1) != Some(indptr.len()) {
            return Err(inconsistent(format!("csr indptr has {} entries for {rows} rows", indptr.len())));
        }
        let nnz = indices.len() as i64;
        if indptr[0] != 0 || indptr[rows] != nnz {
            let context = format!("csr indptr goes from {} to {}, expected 0 to {nnz}", indptr[0], indptr[rows]);
            return Err(inconsistent(context));
        }
        if let Some(pair) = indptr.windows(2).find(|p| p[0] > p[1]) {
            return Err(inconsistent(format!("csr indptr falls from {} to {}", pair[0], pair[1])));
        }
        if let Some(column) = indices.iter().find(|&&c| c < 0 || c as u64 >= cols as u64) {
            let context = format!("csr column {column} of a matrix with {cols} columns");
            return Err(fault::whole(FormatErrorKind::InvalidValue, context));
        }
        check_size("csr", &Shape::from([indices.len()]), dtype, &bytes)?;
        Ok(Self { dtype, shape, indptr, indices, bytes, unsettled: false })
    }

    /// Marks the array as one whose file gave 0 as storage shape.
    pub(crate) fn set_unsettled(&mut self) {
        self.unsettled = true;
    }

    /// The number of elements that list files store as the storage shape.
    pub(crate) fn storage_len(&self) -> usize {
        if self.unsettled { 0 } else { self.indices.len() }
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Number of rows and columns.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Row bounds: row `i` has the elements `indptr[i]..indptr[i + 1]`.
    pub fn indptr(&self) -> &[i64] {
        &self.indptr
    }

    /// Column of each element.
    pub fn indices(&self) -> &[i64] {
        &self.indices
    }

    /// The elements in the host's byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The elements as a slice of `T`.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if the array has another type.
    pub fn values<T: Element>(&self) -> Result<&[T]> {
        view(self.dtype, &self.bytes)
    }

    pub(super) fn cast(&self, dtype: DType) -> Self {
        let stored = Shape::from([self.indices.len()]);
        let values = Dense { dtype: self.dtype, shape: stored, bytes: self.bytes.clone() }.cast(dtype);
        Self { dtype, bytes: values.bytes, ..self.clone() }
    }

    fn to_dense(&self) -> Result<Dense> {
        let item = self.dtype.size_of();
        let cols = self.shape[1];
        let mut bytes = dense_zeros(&self.shape, self.dtype)?;
        for (row, bounds) in self.indptr.windows(2).enumerate() {
            for k in bounds[0] as usize..bounds[1] as usize {
                let at = (row * cols + self.indices[k] as usize) * item;
                bytes[at..at + item].copy_from_slice(&self.bytes[k * item..(k + 1) * item]);
            }
        }
        Dense::new(self.dtype, self.shape.clone(), bytes)
    }
}

impl Tensor {
    /// Converts the array to a dense one.
    ///
    /// # Errors
    /// Returns `LimitExceeded`, `Overflow` or [`mxrs_types::ErrorKind::OutOfMemory`] if a sparse array is too large for
    /// memory, and [`mxrs_types::ErrorKind::InvalidValue`] for a "none" array.
    pub fn to_dense(&self) -> Result<Self> {
        Ok(Self::Dense(Box::new(match self {
            Self::None | Self::Dense(_) => self.as_dense()?.clone(),
            Self::RowSparse(s) => s.to_dense()?,
            Self::Csr(s) => s.to_dense()?,
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(values: &[f32]) -> AlignedBytes {
        AlignedBytes::copy_of(bytemuck::cast_slice(values))
    }

    #[test]
    fn dense_forms() {
        let rows = RowSparse::new(DType::F32, [3, 2].into(), vec![0, 2], data(&[1., 2., 3., 4.])).unwrap();
        let dense = Tensor::RowSparse(Box::new(rows)).to_dense().unwrap();
        assert_eq!(dense.as_slice::<f32>().unwrap(), &[1., 2., 0., 0., 3., 4.]);
        let csr = Csr::new(DType::F32, [2, 3].into(), vec![0, 2, 3], vec![0, 2, 1], data(&[1., 2., 3.])).unwrap();
        let csr = Tensor::Csr(Box::new(csr));
        assert_eq!(csr.to_dense().unwrap().as_slice::<f32>().unwrap(), &[1., 0., 2., 0., 3., 0.]);
        assert_eq!(csr.cast(DType::I32).to_dense().unwrap().as_slice::<i32>().unwrap(), &[1, 0, 2, 0, 3, 0]);
    }

    /// An array without stored rows needs no data, so a file of a few bytes may state any shape.
    #[test]
    fn shapes_that_no_memory_holds_are_errors() {
        for rows in [1 << 33, 1 << 44, 1 << 58] {
            let array = RowSparse::new(DType::F32, [rows, 8].into(), Vec::new(), AlignedBytes::zeroed(0)).unwrap();
            let error = Tensor::RowSparse(Box::new(array)).to_dense().unwrap_err().to_string();
            assert!(error.contains(&rows.to_string()), "{error}");
        }
    }

    #[test]
    fn bad_structure_is_refused() {
        let rows = |indices: &[i64]| {
            RowSparse::new(DType::F32, [3, 1].into(), indices.to_vec(), data(&vec![0.; indices.len()])).is_err()
        };
        assert!(rows(&[1, 1]) && rows(&[2, 1]) && rows(&[-1]) && rows(&[3]) && !rows(&[0, 2]));
        let csr = |indptr: &[i64], indices: &[i64]| {
            let bytes = data(&vec![0.; indices.len()]);
            Csr::new(DType::F32, [3, 4].into(), indptr.to_vec(), indices.to_vec(), bytes).is_err()
        };
        assert!(csr(&[0, 100, -1, 3], &[0, 1, 2]));
        assert!(csr(&[0, 1, 2], &[0, 1]) && csr(&[1, 1, 1, 1], &[0]) && csr(&[0, 1, 1, 1], &[4]));
        assert!(csr(&[0, 2, 2, 2], &[1, 0]) && csr(&[0, 2, 2, 2], &[1, 1]) && csr(&[0, 1, 1, 1], &[-1]));
        assert!(!csr(&[0, 2, 2, 3], &[0, 3, 0]));
    }

    #[test]
    fn sorting_moves_values_with_their_columns() {
        let (csr, moved) =
            Csr::sorting(DType::F32, [1, 4].into(), vec![0, 3], vec![3, 0, 1], data(&[30., 0., 10.])).unwrap();
        assert!(moved);
        assert_eq!((csr.indices(), csr.values::<f32>().unwrap()), (&[0, 1, 3][..], &[0., 10., 30.][..]));
    }
}
