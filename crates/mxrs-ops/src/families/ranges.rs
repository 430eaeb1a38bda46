//! Ranges with steps on several axes, as `slice` and `_slice_assign` take them: `begin`, `end` and `step`, each a tuple whose
//! items may be `None`. Axes after the last item are whole.

use crate::inference::{OP, bad_attribute, learn};
use mxrs_op::op_params;
use mxrs_op::param::OptionalItems;
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `slice` and `_slice_assign`.
    pub struct RangeParams for "slice" {
        /// First positions. A negative one counts from the end; `None` is the first in the direction of the step.
        begin: OptionalItems,
        /// Positions after the last, in the same way.
        end: OptionalItems,
        /// Steps, which may be negative; 1 where they are `None` or absent.
        step: OptionalItems = OptionalItems::default(),
    }
}

/// The range of one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First position.
    pub begin: i64,
    /// Distance of positions; not 0.
    pub step: i64,
    /// Number of positions.
    pub len: usize,
}

/// The ranges on the axes that `begin`, `end` and `step` describe, the first axes of `shape`. A range is `None` if the size
/// of its axis is unknown.
pub fn ranges(
    begin: &OptionalItems,
    end: &OptionalItems,
    step: &OptionalItems,
    shape: &PartialShape,
) -> Result<Vec<Option<Range>>> {
    let (begin, end, step) = (&begin.0, &end.0, &step.0);
    let ndim = shape.ndim().unwrap_or(0);
    if begin.len() != end.len() || (!step.is_empty() && step.len() != begin.len()) {
        let got = format!("{}, {} and {} items", begin.len(), end.len(), step.len());
        return Err(bad_attribute("slice", "begin, end and step", "tuples of one length", got));
    }
    if begin.is_empty() || begin.len() > ndim {
        return Err(Error::shape(
            OP,
            "data",
            format!("{} axes or more, and a range for one", begin.len().max(1)),
            shape,
        ));
    }
    let range = |axis: usize| {
        let step = step.get(axis).copied().flatten().unwrap_or(1);
        if step == 0 {
            return Err(bad_attribute("slice", "step", "no step of 0", step));
        }
        let Some(size) = shape.dim(axis) else { return Ok(None) };
        let size = size as i64;
        // The bounds for begin and end. With a negative step, -1 means that the range goes down to position 0.
        let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
        let place = |item: Option<i64>, absent: i64| match item {
            None => absent,
            Some(at) => (if at < 0 { at.saturating_add(size) } else { at }).clamp(low, high),
        };
        let (first, last) = if step > 0 { (low, high) } else { (high, low) };
        let (begin, end) = (place(begin[axis], first), place(end[axis], last));
        let distance = if step > 0 { end - begin } else { begin - end };
        let len = if distance <= 0 { 0 } else { 1 + (distance - 1) / step.saturating_abs() };
        Ok(Some(Range { begin, step, len: len as usize }))
    };
    (0..begin.len()).map(range).collect()
}

impl RangeParams {
    /// The ranges of the first axes of a shape; `None` for axes of unknown size.
    pub fn ranges(&self, shape: &PartialShape) -> Result<Vec<Option<Range>>> {
        ranges(&self.begin, &self.end, &self.step, shape)
    }
}

/// The ranges on the first axes of a shape whose sizes are all known, so that none of the ranges is `None`.
pub fn known(found: Result<Vec<Option<Range>>>) -> Result<Vec<Range>> {
    Ok(found?.into_iter().flatten().collect())
}

/// Infers the shape of the part of `data` in the ranges. On axes without a range, infers the sizes of `data` from the part
/// too.
pub fn learn_part(ranges: &[Option<Range>], data: &mut PartialShape, part: &mut PartialShape) -> Result<()> {
    let Some(ndim) = data.ndim() else { return Ok(()) };
    let dim = |axis: usize, whole: &PartialShape| match ranges.get(axis) {
        Some(range) => range.map(|range| range.len),
        None => whole.dim(axis),
    };
    learn(part, &PartialShape::new((0..ndim).map(|axis| dim(axis, data))), "output")?;
    let uncut = (0..ndim).map(|axis| if axis < ranges.len() { None } else { part.dim(axis) });
    learn(data, &PartialShape::new(uncut), "data")
}

/// The position in a tensor of shape `data` of the element that has this index in the part.
pub fn position(ranges: &[Range], data: &Shape, index: &[usize]) -> usize {
    let place = |(axis, i): (usize, &usize)| match ranges.get(axis) {
        Some(range) => (range.begin + *i as i64 * range.step) as usize,
        None => *i,
    };
    index.iter().enumerate().map(place).zip(data.strides()).map(|(at, stride)| at * stride).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::param::Field;

    fn of(begin: &str, end: &str, step: &str, size: usize) -> (i64, usize) {
        let items = |text: &str| OptionalItems::parse(text).expect("a tuple");
        let params = RangeParams { begin: items(begin), end: items(end), step: items(step) };
        let range = params.ranges(&Shape::from([size]).into()).expect("a range")[0].expect("a known size");
        (range.begin, range.len)
    }

    #[test]
    fn ranges_are_those_of_python() {
        assert_eq!(of("(1,)", "(4,)", "()", 5), (1, 3));
        assert_eq!(of("(-3,)", "(None,)", "(2,)", 5), (2, 2));
        assert_eq!(of("(None,)", "(None,)", "(-1,)", 5), (4, 5));
        assert_eq!(of("(3,)", "(0,)", "(-2,)", 5), (3, 2));
        assert_eq!(of("(9,)", "(12,)", "()", 5), (5, 0));
    }
}
