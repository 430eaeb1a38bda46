//! Arrays as files store them: host memory with a type and a shape, dense or sparse.

mod convert;
mod element;
mod sparse;

pub use element::Element;
pub use sparse::{Csr, RowSparse};

use crate::{AlignedBytes, fault};
use mxrs_types::{DType, Error, FormatErrorKind, Result, Shape, StorageType};

/// One array of a file. The value itself is small: its contents are behind a `Box`.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Tensor {
    /// A "none" array: no shape, no type, no data.
    #[default]
    None,
    /// All elements, row-major.
    Dense(Box<Dense>),
    /// Some rows of an array.
    RowSparse(Box<RowSparse>),
    /// The non-zeros of a matrix.
    Csr(Box<Csr>),
}

/// A dense row-major array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dense {
    dtype: DType,
    shape: Shape,
    bytes: AlignedBytes,
}

impl Dense {
    /// A dense array from elements in row-major order and the host's byte order.
    ///
    /// # Errors
    /// Returns `Overflow` if the shape does not fit in memory, `Inconsistent` if the length of `bytes` differs from what
    /// shape and dtype require, and `InvalidValue` for a bool other than 0 and 1.
    pub fn new(dtype: DType, shape: Shape, bytes: AlignedBytes) -> Result<Self> {
        let need = size_bytes(&shape, dtype)?;
        if need != bytes.len() {
            let context = format!("{} bytes of data for shape {shape} {dtype}, expected {need}", bytes.len());
            return Err(fault::whole(FormatErrorKind::Inconsistent, context));
        }
        check_bools(dtype, &bytes)?;
        Ok(Self { dtype, shape, bytes })
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The elements, row-major, in the host's byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The elements as a slice of `T`.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if the array has another type.
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        view(self.dtype, &self.bytes)
    }

    /// Splits the array into element type, shape and elements.
    pub fn into_parts(self) -> (DType, Shape, AlignedBytes) {
        (self.dtype, self.shape, self.bytes)
    }
}

/// Views aligned bytes of `dtype` as `T`.
fn view<T: Element>(dtype: DType, bytes: &AlignedBytes) -> Result<&[T]> {
    let wrong = || Error::invalid("element type asked of an array", T::DTYPE, dtype.name());
    if dtype != T::DTYPE {
        return Err(wrong());
    }
    bytemuck::try_cast_slice(bytes).map_err(|_| wrong())
}

/// Size in bytes of a dense array; a format error if it overflows.
pub(crate) fn size_bytes(shape: &Shape, dtype: DType) -> Result<usize> {
    shape
        .checked_size_bytes(dtype)
        .map_err(|_| fault::whole(FormatErrorKind::Overflow, format!("shape {shape} {dtype} has too many elements")))
}

/// Checks that bools are 0 or 1. Elements of other types are not read: they may be in lent memory whose owner loads them
/// later.
pub(crate) fn check_bools(dtype: DType, bytes: &[u8]) -> Result<()> {
    if dtype != DType::Bool {
        return Ok(());
    }
    match bytes.iter().find(|&&b| b > 1) {
        Some(odd) => Err(fault::whole(FormatErrorKind::InvalidValue, format!("bool element {odd}, expected 0 or 1"))),
        None => Ok(()),
    }
}

impl Tensor {
    /// A dense array from its elements.
    ///
    /// # Errors
    /// Returns the errors of [`Dense::new`].
    ///
    /// ```
    /// use mxrs_format::Tensor;
    /// let t = Tensor::from_slice([3], &[1i64, 2, 3])?;
    /// assert_eq!(t.to_f32_vec()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), mxrs_types::Error>(())
    /// ```
    pub fn from_slice<T: Element>(shape: impl Into<Shape>, elements: &[T]) -> Result<Self> {
        Self::dense(T::DTYPE, shape, AlignedBytes::copy_of(bytemuck::cast_slice(elements)))
    }

    /// A dense array from row-major elements in the host's byte order.
    ///
    /// # Errors
    /// Returns the errors of [`Dense::new`].
    pub fn dense(dtype: DType, shape: impl Into<Shape>, bytes: AlignedBytes) -> Result<Self> {
        Ok(Self::Dense(Box::new(Dense::new(dtype, shape.into(), bytes)?)))
    }

    /// Element type; `None` for a "none" array.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Self::None => None,
            Self::Dense(d) => Some(d.dtype()),
            Self::RowSparse(s) => Some(s.dtype()),
            Self::Csr(s) => Some(s.dtype()),
        }
    }

    /// Sizes of the axes of the whole array; `None` for a "none" array.
    pub fn shape(&self) -> Option<&Shape> {
        match self {
            Self::None => None,
            Self::Dense(d) => Some(d.shape()),
            Self::RowSparse(s) => Some(s.shape()),
            Self::Csr(s) => Some(s.shape()),
        }
    }

    /// Storage type of the array; a "none" array counts as dense.
    pub fn storage_type(&self) -> StorageType {
        match self {
            Self::None | Self::Dense(_) => StorageType::Dense,
            Self::RowSparse(_) => StorageType::RowSparse,
            Self::Csr(_) => StorageType::Csr,
        }
    }

    /// Bytes of the stored elements in the host's byte order: all elements of a dense array, the nonzero ones of a sparse
    /// array.
    pub fn stored_bytes(&self) -> &[u8] {
        match self {
            Self::None => &[],
            Self::Dense(d) => d.bytes(),
            Self::RowSparse(s) => s.bytes(),
            Self::Csr(s) => s.bytes(),
        }
    }

    /// A reference to the dense array.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if the array is not dense; [`Self::to_dense`] converts it.
    pub fn as_dense(&self) -> Result<&Dense> {
        match self {
            Self::Dense(d) => Ok(d),
            Self::None => Err(Error::invalid("array", "a none array", "a dense array")),
            _ => Err(Error::invalid("array", self.storage_type(), "a dense array; convert it with `to_dense`")),
        }
    }

    /// Takes the dense array out.
    ///
    /// # Errors
    /// Returns the errors of [`Self::as_dense`].
    pub fn into_dense(self) -> Result<Dense> {
        match self {
            Self::Dense(dense) => Ok(*dense),
            other => other.as_dense().cloned(),
        }
    }

    /// The elements of a dense array as a slice of `T`, row-major.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if the array is not dense or has another type.
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        self.as_dense()?.as_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::category;

    #[test]
    fn a_tensor_is_two_words() {
        assert_eq!(size_of::<Tensor>(), 16);
    }

    #[test]
    fn views_check_the_type() {
        let t = Tensor::from_slice([2], &[1.5f32, 2.5]).unwrap();
        assert_eq!(t.as_slice::<f32>().unwrap(), &[1.5, 2.5]);
        assert!(t.as_slice::<i32>().unwrap_err().to_string().contains("got int32, expected float32"));
        assert!(Tensor::None.as_slice::<f32>().is_err());
    }

    #[test]
    fn sizes_and_bools_are_checked() {
        let kind = |r: Result<Tensor>| r.unwrap_err().kind().clone();
        let inconsistent = kind(Tensor::from_slice([3], &[1u8, 2]));
        assert!(inconsistent.to_string().contains("2 bytes of data for shape (3,) uint8, expected 3"));
        let huge = Tensor::dense(DType::F32, [1 << 40, 1 << 40], AlignedBytes::default()).unwrap_err();
        assert_eq!(category(&huge), Some(&FormatErrorKind::Overflow));
        let bools = Tensor::dense(DType::Bool, [3], AlignedBytes::copy_of(&[0, 1, 2])).unwrap_err();
        assert_eq!(category(&bools), Some(&FormatErrorKind::InvalidValue));
    }
}
