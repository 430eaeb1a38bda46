//! Loop nests over the axes of several tensors together: merging loops, and visiting their steps in order.

use smallvec::SmallVec;

/// One loop: its number of steps, and the distance that each of `N` tensors moves per step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis<const N: usize> {
    /// Number of steps.
    pub size: usize,
    /// Distance in elements between the steps of each tensor; 0 for a tensor that does not move.
    pub strides: [usize; N],
}

/// A loop nest, outermost first.
pub type Axes<const N: usize> = SmallVec<[Axis<N>; 5]>;

/// Returns a nest with the same steps in as few loops as possible. Axes of size 1 are dropped. Two neighboring axes are
/// merged if in each tensor all their steps together have one constant stride.
pub fn coalesce<const N: usize>(axes: impl IntoIterator<Item = Axis<N>>) -> Axes<N> {
    let mut joined: Axes<N> = SmallVec::new();
    for axis in axes.into_iter().filter(|axis| axis.size != 1) {
        if let Some(outer) = joined.last_mut()
            && (0..N).all(|t| outer.strides[t] == axis.strides[t] * axis.size)
        {
            *outer = Axis { size: outer.size * axis.size, strides: axis.strides };
        } else {
            joined.push(axis);
        }
    }
    joined
}

/// Number of steps of the whole nest.
pub fn n_steps<const N: usize>(axes: &[Axis<N>]) -> usize {
    axes.iter().map(|axis| axis.size).product()
}

/// Returns the axes of the shape `to`, with the strides of row-major tensors of `shapes`, aligned at the last axis. A
/// missing axis, or one of size 1, has stride 0.
pub fn broadcast<const N: usize>(shapes: [&[usize]; N], to: &[usize]) -> Axes<N> {
    let mut strides = [1; N];
    let mut axes: Axes<N> = SmallVec::new();
    for (from_last, &size) in to.iter().rev().enumerate() {
        let mut of_axis = [0; N];
        for t in 0..N {
            let mine = shapes[t].len().checked_sub(from_last + 1).map_or(1, |axis| shapes[t][axis]);
            if mine != 1 {
                of_axis[t] = strides[t];
                strides[t] *= mine;
            }
        }
        axes.push(Axis { size, strides: of_axis });
    }
    axes.reverse();
    axes
}

/// A position in a loop nest, with the offset of each tensor.
pub struct Cursor<'a, const N: usize> {
    axes: &'a [Axis<N>],
    index: SmallVec<[usize; 5]>,
    /// Offset in elements from the start of each tensor.
    pub offsets: [usize; N],
}

impl<'a, const N: usize> Cursor<'a, N> {
    /// The position at step `start` of the nest, which must have more than `start` steps.
    pub fn new(axes: &'a [Axis<N>], start: usize) -> Self {
        let mut cursor = Self { axes, index: SmallVec::from_elem(0, axes.len()), offsets: [0; N] };
        let mut rest = start;
        for (i, axis) in axes.iter().enumerate().rev() {
            cursor.index[i] = rest % axis.size;
            rest /= axis.size;
            (0..N).for_each(|t| cursor.offsets[t] += cursor.index[i] * axis.strides[t]);
        }
        cursor
    }

    /// Advances by one step; the last step is followed by the first.
    pub fn advance(&mut self) {
        for (i, axis) in self.axes.iter().enumerate().rev() {
            self.index[i] += 1;
            (0..N).for_each(|t| self.offsets[t] += axis.strides[t]);
            if self.index[i] < axis.size {
                return;
            }
            self.index[i] = 0;
            (0..N).for_each(|t| self.offsets[t] -= axis.size * axis.strides[t]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_that_move_evenly_are_one() {
        let of = |left: &[usize], right: &[usize], to: &[usize]| coalesce(broadcast([left, right], to)).to_vec();
        assert_eq!(of(&[2, 3, 5], &[2, 3, 5], &[2, 3, 5]), [Axis { size: 30, strides: [1, 1] }]);
        let channels = [
            Axis { size: 2, strides: [105, 0] },
            Axis { size: 3, strides: [35, 1] },
            Axis { size: 35, strides: [1, 0] },
        ];
        assert_eq!(of(&[2, 3, 5, 7], &[1, 3, 1, 1], &[2, 3, 5, 7]), channels);
        assert_eq!(
            of(&[2, 3, 5], &[5], &[2, 3, 5]),
            [Axis { size: 6, strides: [5, 0] }, Axis { size: 5, strides: [1, 1] }]
        );
        assert!(of(&[1], &[], &[1]).is_empty());
    }

    #[test]
    fn a_cursor_visits_every_step_in_order() {
        let axes = broadcast([&[2, 1, 4], &[1, 3, 1]], &[2, 3, 4]);
        let mut cursor = Cursor::new(&axes, 0);
        for step in 0..24 {
            let (a, b, c) = (step / 12, step / 4 % 3, step % 4);
            assert_eq!(cursor.offsets, [a * 4 + c, b], "step {step}");
            assert_eq!(Cursor::new(&axes, step).offsets, cursor.offsets, "step {step}");
            cursor.advance();
        }
        assert_eq!(cursor.offsets, [0, 0]);
    }
}
