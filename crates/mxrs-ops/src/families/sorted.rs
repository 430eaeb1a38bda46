//! Ranks of elements along an axis, which `sort`, `argsort` and `topk` share.

use crate::families::indexing::around_axis;
use crate::inference::resolve_axis;
use crate::numeric;
use mxrs_op::RefInput;
use mxrs_types::{Result, Shape};

/// An axis of a tensor, or the flattened tensor as one axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    outer: usize,
    /// Number of elements of the axis.
    pub size: usize,
    inner: usize,
}

impl Axis {
    /// The axis of a shape; the flattened tensor if `axis` is absent.
    ///
    /// # Errors
    /// Fails if the shape has no such axis.
    pub fn of(shape: &Shape, axis: Option<i32>) -> Result<Self> {
        let Some(axis) = axis else { return Ok(Self { outer: 1, size: shape.n_elements(), inner: 1 }) };
        let (outer, size, inner) = around_axis(shape, resolve_axis(i64::from(axis), shape.ndim(), "data")?);
        Ok(Self { outer, size, inner })
    }

    /// Number of lines along the axis.
    pub fn n_lines(&self) -> usize {
        self.outer * self.inner
    }

    /// The position of element `i` of a line in a tensor that has `size` elements on the axis.
    pub fn position(&self, line: usize, i: usize, size: usize) -> usize {
        (line / self.inner.max(1) * size + i) * self.inner + line % self.inner.max(1)
    }
}

/// For each line along the axis, the places of its elements in ascending or descending order. Equal elements keep their
/// order; NaN counts as largest.
pub fn ranks(data: &RefInput<'_>, axis: Axis, is_ascending: bool) -> Vec<Vec<usize>> {
    let sort = |compare: &dyn Fn(usize, usize) -> std::cmp::Ordering| {
        let line = |line: usize| {
            let mut places: Vec<usize> = (0..axis.size).collect();
            let at = |i: usize| axis.position(line, i, axis.size);
            places.sort_by(|a, b| {
                let order = compare(at(*a), at(*b));
                if is_ascending { order } else { order.reverse() }
            });
            places
        };
        (0..axis.n_lines()).map(line).collect()
    };
    if data.desc.dtype.is_float() {
        let values = numeric::read(data);
        sort(&|a, b| values[a].partial_cmp(&values[b]).unwrap_or(values[a].is_nan().cmp(&values[b].is_nan())))
    } else {
        let values = numeric::read_integers(data);
        sort(&|a, b| values[a].cmp(&values[b]))
    }
}
