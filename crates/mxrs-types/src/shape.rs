//! A fully known shape.

use crate::{DType, Error, ErrorKind};
use smallvec::SmallVec;
use std::fmt;
use std::ops::Deref;

/// The sizes of the axes of a tensor, outermost first; a scalar has no axes.
///
/// Dereferences to `[usize]`. Elements lie in memory in row-major (C) order unless a [`crate::Layout`] says otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Shape(SmallVec<[usize; 5]>);

impl Shape {
    /// The largest number of axes that a shape read from a file may have.
    pub const MAX_NDIM: usize = 32;

    /// The largest number of elements that a tensor of a graph may have: 2^40, or 4 TiB of float32. This limit far exceeds
    /// the memory of machines. It is so far below 2^63 that no size computed from it overflows: bytes, padding to blocks of
    /// channels, sums over a graph.
    pub const MAX_ELEMENTS: usize = 1 << 40;

    /// The largest product of the other sizes, if a size of a tensor of a graph is 0. Such a tensor takes no memory whatever its
    /// other sizes are, but kernels loop over axes, so a malicious file could let them run for hours.
    pub const MAX_EMPTY: usize = 1 << 27;

    /// The shape of a scalar.
    pub fn scalar() -> Self {
        Self::default()
    }

    /// Makes a shape from sizes.
    pub fn new(dims: impl IntoIterator<Item = usize>) -> Self {
        Self(dims.into_iter().collect())
    }

    /// The number of axes.
    pub fn ndim(&self) -> usize {
        self.0.len()
    }

    /// The product of the sizes; 1 for a scalar, 0 if any size is 0. It saturates at `usize::MAX` instead of wrapping,
    /// so that an overflowing size is never mistaken for a small one.
    pub fn n_elements(&self) -> usize {
        if self.0.contains(&0) {
            return 0;
        }
        self.0.iter().fold(1, |n, &size| n.saturating_mul(size))
    }

    /// The number of elements, checked. This is for tensors of graphs, because their shapes may come from a malicious file.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Overflow`] if the shape has more than [`Self::MAX_ELEMENTS`] elements, or none, while the product of
    /// the sizes that are not 0 is above [`Self::MAX_EMPTY`].
    pub fn checked_n_elements(&self) -> Result<usize, Error> {
        let is_empty = self.0.contains(&0);
        let product = self.0.iter().filter(|size| **size > 0).fold(1, |n: usize, size| n.saturating_mul(*size));
        match product {
            n if is_empty && n <= Self::MAX_EMPTY => Ok(0),
            n if !is_empty && n <= Self::MAX_ELEMENTS => Ok(n),
            _ => Err(Error::new(ErrorKind::Overflow { what: format!("the number of elements of shape {self}") })),
        }
    }

    /// The size of a dense tensor of this shape in bytes.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Overflow`] if the product exceeds `isize::MAX`.
    pub fn checked_size_bytes(&self, dtype: DType) -> Result<usize, Error> {
        // If a size is 0, the product is 0, even if the product of the other sizes would overflow.
        let total = if self.0.contains(&0) {
            Some(0)
        } else {
            self.0.iter().try_fold(dtype.size_of(), |n, &d| n.checked_mul(d))
        };
        total
            .filter(|&n| isize::try_from(n).is_ok())
            .ok_or_else(|| Error::new(ErrorKind::Overflow { what: format!("size of {self} {dtype}") }))
    }

    /// The strides of row-major order, in elements.
    pub fn strides(&self) -> SmallVec<[usize; 5]> {
        let mut strides: SmallVec<[usize; 5]> = SmallVec::from_elem(1, self.ndim());
        for axis in (1..self.ndim()).rev() {
            strides[axis - 1] = strides[axis].saturating_mul(self.0[axis].max(1));
        }
        strides
    }

    /// Converts an axis index that may be negative to a non-negative one.
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidValue`] if the index is out of range.
    pub fn axis(&self, index: i64) -> Result<usize, Error> {
        let ndim = self.ndim() as i64;
        let axis = if index < 0 { index + ndim } else { index };
        if (0..ndim).contains(&axis) {
            Ok(axis as usize)
        } else {
            Err(Error::new(ErrorKind::InvalidValue {
                what: "axis".into(),
                got: index.to_string(),
                expected: format!("-{ndim} to {} for shape {self}", ndim - 1),
            }))
        }
    }

    /// The sizes as a mutable slice.
    pub fn dims_mut(&mut self) -> &mut [usize] {
        &mut self.0
    }

    /// Adds an innermost axis.
    pub fn push(&mut self, size: usize) {
        self.0.push(size);
    }
}

impl Deref for Shape {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(dims: [usize; N]) -> Self {
        Self::new(dims)
    }
}

impl From<&[usize]> for Shape {
    fn from(dims: &[usize]) -> Self {
        Self::new(dims.iter().copied())
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(dims: I) -> Self {
        Self::new(dims)
    }
}

impl fmt::Display for Shape {
    /// Prints the sizes as a Python tuple: `()`, `(3,)`, `(3, 4)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => write!(f, "({one},)"),
            dims => {
                f.write_str("(")?;
                for (i, d) in dims.iter().enumerate() {
                    write!(f, "{}{d}", if i == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_strides() {
        let s = Shape::from([2, 3, 4]);
        assert_eq!(s.strides().as_slice(), &[12, 4, 1]);
        assert_eq!(s.checked_size_bytes(DType::F32).unwrap(), 96);
        assert_eq!(Shape::scalar().n_elements(), 1);
        assert_eq!(Shape::from([0, usize::MAX, usize::MAX]).checked_size_bytes(DType::F64).unwrap(), 0);
        assert!(Shape::from([1 << 40, 1 << 40]).checked_size_bytes(DType::U8).is_err());
        assert_eq!(Shape::from([1 << 40, 1 << 40]).n_elements(), usize::MAX, "it does not wrap to 0");
        assert_eq!(Shape::from([1 << 40, 1 << 40, 0]).n_elements(), 0);
        assert_eq!(Shape::from([1 << 20, 1 << 20]).checked_n_elements().unwrap(), 1 << 40);
        let error = Shape::from([1 << 20, (1 << 20) + 1]).checked_n_elements().unwrap_err().to_string();
        assert!(error.contains("(1048576, 1048577)"), "{error}");
    }

    #[test]
    fn prints_as_python_tuples() {
        assert_eq!(Shape::scalar().to_string(), "()");
        assert_eq!(Shape::from([3]).to_string(), "(3,)");
        assert_eq!(Shape::from([3, 4]).to_string(), "(3, 4)");
    }

    #[test]
    fn negative_axes_count_from_the_end() {
        let s = Shape::from([2, 3]);
        assert_eq!(s.axis(-1).unwrap(), 1);
        assert!(s.axis(2).is_err() && s.axis(-3).is_err());
    }
}
