//! A shape in which some sizes, or even the number of axes, are unknown.

use crate::Shape;
use smallvec::SmallVec;
use std::fmt;

/// A partially known shape, as shape inference computes it. Either the rank is unknown, or it is known and each size is
/// known or unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct PartialShape(Option<SmallVec<[Option<usize>; 5]>>);

impl PartialShape {
    /// A shape of which nothing is known, not even the number of axes.
    pub fn unknown() -> Self {
        Self(None)
    }

    /// A shape whose number of axes is known, but not their sizes.
    pub fn of_rank(ndim: usize) -> Self {
        Self(Some(SmallVec::from_elem(None, ndim)))
    }

    /// Makes a shape from sizes; `None` means unknown.
    pub fn new(dims: impl IntoIterator<Item = Option<usize>>) -> Self {
        Self(Some(dims.into_iter().collect()))
    }

    /// The sizes, if the rank is known.
    pub fn dims(&self) -> Option<&[Option<usize>]> {
        self.0.as_deref()
    }

    /// The number of axes, if known.
    pub fn ndim(&self) -> Option<usize> {
        self.0.as_ref().map(|d| d.len())
    }

    /// The size of one axis, if the axis exists and its size is known.
    pub fn dim(&self, axis: usize) -> Option<usize> {
        self.0.as_ref()?.get(axis).copied().flatten()
    }

    /// The shape, if every size is known.
    pub fn known(&self) -> Option<Shape> {
        self.0.as_ref()?.iter().copied().collect::<Option<Shape>>()
    }

    /// Whether every size is known.
    pub fn is_known(&self) -> bool {
        self.0.as_ref().is_some_and(|d| d.iter().all(Option::is_some))
    }

    /// Adds the sizes that `other` knows. Returns whether a size or the rank became known. Returns `Err(())` if the two
    /// shapes contradict each other; the caller makes the error, because it knows the operator and the argument to name.
    #[allow(clippy::result_unit_err)]
    pub fn merge(&mut self, other: &Self) -> Result<bool, ()> {
        let Some(theirs) = &other.0 else { return Ok(false) };
        let Some(ours) = &mut self.0 else {
            self.0 = Some(theirs.clone());
            return Ok(true);
        };
        if ours.len() != theirs.len() {
            return Err(());
        }
        let mut learnt = false;
        for (a, b) in ours.iter_mut().zip(theirs) {
            match (*a, *b) {
                (Some(x), Some(y)) if x != y => return Err(()),
                (None, Some(y)) => {
                    *a = Some(y);
                    learnt = true;
                }
                _ => {}
            }
        }
        Ok(learnt)
    }
}

impl From<&Shape> for PartialShape {
    fn from(shape: &Shape) -> Self {
        Self::new(shape.iter().map(|&d| Some(d)))
    }
}

impl From<Shape> for PartialShape {
    fn from(shape: Shape) -> Self {
        Self::from(&shape)
    }
}

impl fmt::Display for PartialShape {
    /// Prints like [`Shape`], with `?` for an unknown size and `(...)` for an unknown rank.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(dims) = &self.0 else { return f.write_str("(...)") };
        f.write_str("(")?;
        for (i, d) in dims.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            match d {
                Some(d) => write!(f, "{d}")?,
                None => f.write_str("?")?,
            }
        }
        f.write_str(if dims.len() == 1 { ",)" } else { ")" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_learns_and_finds_conflicts() {
        let mut a = PartialShape::unknown();
        assert_eq!(a.merge(&PartialShape::new([None, Some(3)])), Ok(true));
        assert_eq!(a.merge(&PartialShape::new([Some(2), None])), Ok(true));
        assert_eq!(a.known(), Some(Shape::from([2, 3])));
        assert_eq!(a.merge(&PartialShape::new([Some(2), Some(3)])), Ok(false));
        assert_eq!(a.merge(&PartialShape::new([Some(2), Some(4)])), Err(()));
        assert_eq!(a.merge(&PartialShape::of_rank(3)), Err(()));
    }

    #[test]
    fn prints_unknowns() {
        assert_eq!(PartialShape::unknown().to_string(), "(...)");
        assert_eq!(PartialShape::new([None, Some(3)]).to_string(), "(?, 3)");
    }
}
