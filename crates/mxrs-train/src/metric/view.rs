//! Read access to an array for a metric: its elements in place, without the rows that are not counted.

use half::{bf16, f16};
use mxrs_types::{DType, Error, Result, Shape};

/// Elements of an array, row-major, in place.
#[derive(Clone, Debug)]
pub struct View<'a> {
    shape: Shape,
    elements: Elements<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Elements<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    F16(&'a [f16]),
    BF16(&'a [bf16]),
    I8(&'a [i8]),
    U8(&'a [u8]),
    I32(&'a [i32]),
    I64(&'a [i64]),
}

impl<'a> View<'a> {
    /// The first `n_rows` rows of an array of this shape and type.
    ///
    /// # Errors
    /// Returns an error if the element type is not a number type that metrics can read, or if the length of `bytes` does not
    /// match shape and type.
    pub(crate) fn new(shape: &Shape, dtype: DType, bytes: &'a [u8], n_rows: usize) -> Result<Self> {
        let mut shape = shape.clone();
        let row = shape.get(1..).unwrap_or_default().iter().product::<usize>() * dtype.size_of();
        let mut bytes = bytes;
        if let Some(rows) = shape.dims_mut().first_mut() {
            *rows = n_rows.min(*rows);
            bytes = bytes.get(..*rows * row).unwrap_or(bytes);
        }
        fn cast<T: bytemuck::Pod>(bytes: &[u8]) -> Result<&[T]> {
            bytemuck::try_cast_slice(bytes)
                .map_err(|e| Error::invalid("memory of an array", e, "whole, aligned elements"))
        }
        let elements = match dtype {
            DType::F32 => Elements::F32(cast(bytes)?),
            DType::F64 => Elements::F64(cast(bytes)?),
            DType::F16 => Elements::F16(cast(bytes)?),
            DType::BF16 => Elements::BF16(cast(bytes)?),
            DType::I8 => Elements::I8(cast(bytes)?),
            DType::U8 | DType::Bool => Elements::U8(cast(bytes)?),
            DType::I32 => Elements::I32(cast(bytes)?),
            DType::I64 => Elements::I64(cast(bytes)?),
            other => return Err(Error::dtype("metric", "array", "a float, int8, uint8, int32 or int64", other.name())),
        };
        Ok(Self { shape, elements })
    }

    /// All elements of an array, as one axis.
    ///
    /// # Errors
    /// Fails as [`Self::new`] does.
    pub(crate) fn whole(dtype: DType, bytes: &'a [u8]) -> Result<Self> {
        let n = bytes.len() / dtype.size_of();
        Self::new(&Shape::from([n]), dtype, bytes, n)
    }

    /// Sizes of the axes. The first axis has only the rows that are counted.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.n_elements()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at index `i`, converted to double precision.
    ///
    /// # Panics
    /// Panics if `i` is not less than `len`.
    #[inline]
    pub fn at(&self, i: usize) -> f64 {
        match self.elements {
            Elements::F32(e) => f64::from(e[i]),
            Elements::F64(e) => e[i],
            Elements::F16(e) => e[i].to_f64(),
            Elements::BF16(e) => e[i].to_f64(),
            Elements::I8(e) => f64::from(e[i]),
            Elements::U8(e) => f64::from(e[i]),
            Elements::I32(e) => f64::from(e[i]),
            Elements::I64(e) => e[i] as f64,
        }
    }

    /// The element at index `i` as a class number: the fraction is cut off.
    #[inline]
    pub fn class(&self, i: usize) -> i64 {
        self.at(i) as i64
    }

    /// All elements, converted to double precision.
    pub fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.len()).map(|i| self.at(i))
    }

    /// Sizes around `axis` (negative values count from the end): the product of the axes before it, its own size, the
    /// product of the axes after it.
    ///
    /// # Errors
    /// Returns an error if the array does not have the axis.
    pub(crate) fn around(&self, axis: i64) -> Result<(usize, usize, usize)> {
        let axis = self.shape.axis(axis)?;
        let product = |dims: &[usize]| dims.iter().product::<usize>();
        Ok((product(&self.shape[..axis]), self.shape[axis], product(&self.shape[axis + 1..])))
    }

    /// The class of each distribution along `axis`: the index of its largest element, the first if several are equal.
    ///
    /// # Errors
    /// Returns an error if the array does not have the axis or the axis has size 0.
    pub(crate) fn argmax(&self, axis: i64) -> Result<Vec<i64>> {
        let (outer, size, inner) = self.around(axis)?;
        if size == 0 {
            return Err(Error::shape("metric", "prediction", "at least one class", &self.shape));
        }
        let best = |o: usize, i: usize| {
            let at = |k: usize| self.at((o * size + k) * inner + i);
            (1..size).fold(0, |best, k| if at(k) > at(best) { k } else { best }) as i64
        };
        Ok((0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))).map(|(o, i)| best(o, i)).collect())
    }
}
