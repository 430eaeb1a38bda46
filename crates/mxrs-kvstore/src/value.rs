//! What is pushed to a store and pulled from it.

use mxrs_ndarray::NdArray;
use mxrs_types::{Device, Error, Result, Shape};
use std::sync::Arc;

/// A value for a key, from one device.
#[derive(Clone, Debug)]
pub enum Value {
    /// All elements.
    Dense(NdArray),
    /// Some rows; the others are zero.
    RowSparse(RowSparse),
}

impl Value {
    /// The device of the value.
    pub fn device(&self) -> Device {
        match self {
            Self::Dense(array) => array.device(),
            Self::RowSparse(rows) => rows.rows.device(),
        }
    }
}

impl From<NdArray> for Value {
    fn from(array: NdArray) -> Self {
        Self::Dense(array)
    }
}

impl From<&NdArray> for Value {
    fn from(array: &NdArray) -> Self {
        Self::Dense(array.clone())
    }
}

impl From<RowSparse> for Value {
    fn from(rows: RowSparse) -> Self {
        Self::RowSparse(rows)
    }
}

/// Some rows of an array. The numbers of the rows are known when the value is made; the content of the rows may be pending.
#[derive(Clone, Debug)]
pub struct RowSparse {
    ids: Arc<[i64]>,
    rows: NdArray,
}

impl RowSparse {
    /// Makes a value of row numbers, which ascend, and the rows: axis 0 of `rows` is as long as `ids`.
    ///
    /// # Errors
    /// Fails if the numbers do not ascend, if one is negative, or if there is another number of rows.
    pub fn new(ids: impl Into<Arc<[i64]>>, rows: NdArray) -> Result<Self> {
        let ids = ids.into();
        if rows.shape().first() != Some(&ids.len()) {
            let got = format!("shape {} for {} row numbers", rows.shape(), ids.len());
            return Err(Error::invalid("rows of a row-sparse value", got, "one row per number, along axis 0"));
        }
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] >= pair[1]) {
            let got = format!("{} after {}", pair[1], pair[0]);
            return Err(Error::invalid("row numbers of a row-sparse value", got, "ascending numbers"));
        }
        if let Some(first) = ids.first().filter(|&&first| first < 0) {
            return Err(Error::invalid("row number of a row-sparse value", first, "a number from 0"));
        }
        Ok(Self { ids, rows })
    }

    /// The row numbers, ascending.
    pub fn ids(&self) -> &[i64] {
        &self.ids
    }

    /// The row numbers, to be shared.
    pub(crate) fn shared_ids(&self) -> Arc<[i64]> {
        self.ids.clone()
    }

    /// The rows, in the order of [`Self::ids`].
    pub fn rows(&self) -> &NdArray {
        &self.rows
    }

    /// Checks that these are rows of an array of shape `full`.
    pub(crate) fn check_fits(&self, full: &Shape, argument: impl FnOnce() -> String) -> Result<()> {
        let n_rows = full.first().copied().unwrap_or(0);
        if full.is_empty() || self.rows.shape()[1..] != full[1..] {
            return Err(Error::shape("push", argument(), format!("rows of {full}"), self.rows.shape()));
        }
        match self.ids.last() {
            Some(&last) if last as u64 >= n_rows as u64 => {
                Err(Error::invalid(format!("row number of {}", argument()), last, format!("below {n_rows}")))
            }
            _ => Ok(()),
        }
    }
}
