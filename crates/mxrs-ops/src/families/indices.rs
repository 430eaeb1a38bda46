//! What operators with indices in a tensor do with an index that lies outside its axis.

use crate::inference::{OP, bad_attribute, unify_dtypes};
use mxrs_op::op_enum;
use mxrs_types::{DType, Error, Result, Shape};

op_enum! {
    /// How an index outside the axis is treated: moved to the end of the axis, wrapped around, or refused.
    pub enum IndexMode { Clip = "clip", Raise = "raise", Wrap = "wrap" }
}

impl IndexMode {
    /// The position that an index means on an axis of `size` elements. Fractions are truncated, and NaN is 0.
    ///
    /// # Errors
    /// Fails if the axis is empty, or if the mode refuses the index.
    pub fn place(self, index: f64, size: usize) -> Result<usize> {
        let (index, count) = (index as i64, size as i64);
        if size == 0 {
            return Err(Error::shape(OP, "data", "an axis with elements", Shape::from([0])));
        }
        Ok(match self {
            Self::Clip => index.clamp(0, count - 1) as usize,
            Self::Wrap => index.rem_euclid(count) as usize,
            Self::Raise if (0..count).contains(&index) => index as usize,
            Self::Raise => {
                return Err(Error::invalid("an index", index, format!("a position from 0 to {}", count - 1)));
            }
        })
    }
}

/// The positions of a Python slice `[start, stop, step]` of an axis with `size` elements: the first one, their distance, and their
/// number. Ends outside the axis are moved to its ends.
///
/// # Errors
/// Fails if the step is 0.
pub fn slice_places(op: &str, [start, stop, step]: [Option<i32>; 3], size: usize) -> Result<(i64, i64, usize)> {
    let (n, step) = (size as i64, i64::from(step.unwrap_or(1)));
    if step == 0 {
        return Err(bad_attribute(op, "step", "a number other than 0", 0));
    }
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let bound = |end: Option<i32>, default: i64| match end.map(i64::from) {
        None => default,
        Some(end) => (if end < 0 { end + n } else { end }).clamp(low, high),
    };
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let (start, stop) = (bound(start, first), bound(stop, last));
    let distance = if step > 0 { stop - start } else { start - stop };
    let count = if distance <= 0 { 0 } else { (distance - 1) / step.abs() + 1 };
    Ok((start, step, count as usize))
}

/// Infers the types of data, of an index and of an output that has data's type. An index of unknown type has data's type.
pub fn infer_dtype(data: &mut Option<DType>, index: &mut Option<DType>, out: &mut Option<DType>) -> Result<()> {
    unify_dtypes([&mut *data, out], "output")?;
    *index = index.or(*data);
    Ok(())
}
