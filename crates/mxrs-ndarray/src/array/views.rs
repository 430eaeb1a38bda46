//! Views: arrays that share the storage of another array.

use super::{Handle, NdArray};
use crate::ViewOf;
use crate::recorded::Slot;
use mxrs_types::{Error, Result, Shape};
use std::panic::Location;
use std::sync::Arc;

impl NdArray {
    /// Rows `begin..end` of axis 0; shares storage.
    ///
    /// # Errors
    /// Fails for a scalar, and for a range outside the axis.
    #[track_caller]
    pub fn slice(&self, begin: usize, end: usize) -> Result<Self> {
        let Some(&n_rows) = self.0.shape.first() else {
            return Err(Error::shape("slice", "data", "at least one axis", &self.0.shape));
        };
        if begin > end || end > n_rows {
            return Err(Error::invalid("slice", format!("{begin}..{end}"), format!("a range within 0..{n_rows}")));
        }
        let mut shape = self.0.shape.clone();
        shape.dims_mut()[0] = end - begin;
        let row_bytes = self.0.shape[1..].iter().product::<usize>() * self.0.dtype.size_of();
        self.view(shape, self.0.offset_bytes + begin * row_bytes, ViewOf::Rows { begin, end })
    }

    #[track_caller]
    fn view(&self, shape: Shape, offset_bytes: usize, how: ViewOf) -> Result<Self> {
        let view = self.handle(shape, offset_bytes);
        if let Some(recorded) = self.recorded() {
            recorded.on_view(&view, how, Location::caller())?;
        }
        Ok(view)
    }

    fn handle(&self, shape: Shape, offset_bytes: usize) -> Self {
        let (chunk, dtype, device) = (self.0.chunk.clone(), self.0.dtype, self.0.device);
        Self(Arc::new(Handle { chunk, shape, dtype, device, offset_bytes, slot: Slot::default() }))
    }

    /// An array of the same memory and shape, to which no [recorder](crate::Recorded) has attached a value.
    pub fn detach(&self) -> Self {
        self.handle(self.0.shape.clone(), self.0.offset_bytes)
    }

    /// Row `index` of axis 0, without that axis; shares storage.
    ///
    /// # Errors
    /// Returns the errors of [`Self::slice`].
    #[track_caller]
    pub fn at(&self, index: usize) -> Result<Self> {
        let end = index.checked_add(1).ok_or_else(|| Error::invalid("at", index, "a row number"))?;
        let row = self.slice(index, end)?;
        row.reshape(&row.shape()[1..])
    }

    /// A view of the same elements in another shape; shares storage.
    ///
    /// # Errors
    /// Fails if the shape has another number of elements.
    #[track_caller]
    pub fn reshape(&self, shape: impl Into<Shape>) -> Result<Self> {
        let shape = shape.into();
        if shape.checked_size_bytes(self.0.dtype)? != self.size_bytes() {
            let expected = format!("{} elements as in {}", self.0.shape.n_elements(), self.0.shape);
            return Err(Error::shape("reshape", "shape", expected, shape));
        }
        self.view(shape, self.0.offset_bytes, ViewOf::Reshape)
    }
}
