//! Axes that a reduction runs over.

use std::ops::RangeFull;

/// Axes of a reduction: `..` for all of them, one axis, or several; negative ones count from the end.
pub trait Axes {
    /// The axes. An empty list means all axes.
    fn axes(&self) -> &[i64];
}

impl Axes for RangeFull {
    fn axes(&self) -> &[i64] {
        &[]
    }
}

impl Axes for i64 {
    fn axes(&self) -> &[i64] {
        std::slice::from_ref(self)
    }
}

impl<const N: usize> Axes for [i64; N] {
    fn axes(&self) -> &[i64] {
        self
    }
}

impl Axes for &[i64] {
    fn axes(&self) -> &[i64] {
        self
    }
}
