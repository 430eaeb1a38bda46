//! The loop nest of one part of a move: its loops in the order in which they visit the output.

use mxrs_op::{MovedAxis, MovedPart};
use smallvec::SmallVec;

/// Loops over fewer elements than this are not worth a transposition in blocks.
const LEAST_TURNED: usize = 8;

/// The loops of a nest, outermost first.
pub type Loops = SmallVec<[MovedAxis; 6]>;

/// A part of a move. The strides in the output are positive and become smaller from loop to loop. Every loop has more than
/// one iteration.
#[derive(Clone, Debug)]
pub struct Nest {
    /// The input; `None` for the constant.
    pub input: Option<usize>,
    /// The output.
    pub output: usize,
    /// Position of the first element in the input and in the output.
    pub start: [isize; 2],
    /// The loops.
    pub loops: Loops,
}

impl Nest {
    /// The nest of a part; `None` if the part has no elements.
    pub fn new(part: &MovedPart) -> Option<Self> {
        let mut start = [part.from as isize, part.to as isize];
        if part.axes.iter().any(|axis| axis.size == 0) {
            return None;
        }
        let mut loops: Loops = part.axes.iter().filter(|axis| axis.size > 1).copied().collect();
        for axis in loops.iter_mut().filter(|axis| axis.to < 0) {
            let last = axis.size as isize - 1;
            start = [start[0] + axis.from * last, start[1] + axis.to * last];
            (axis.from, axis.to) = (-axis.from, -axis.to);
        }
        if part.input.is_none() {
            start[0] = 0;
            loops.iter_mut().for_each(|axis| axis.from = 0);
        }
        loops.sort_by_key(|axis| std::cmp::Reverse(axis.to));
        let mut merged = Loops::new();
        for axis in loops {
            let size = axis.size as isize;
            match merged.last_mut() {
                Some(outer) if outer.from == axis.from * size && outer.to == axis.to * size => {
                    *outer = MovedAxis { size: outer.size * axis.size, ..axis };
                }
                _ => merged.push(axis),
            }
        }
        Some(Self { input: part.input, output: part.output, start, loops: merged })
    }

    /// A nest that clears an output of `n` elements; `None` if the nests in `others` set all elements of the output, or if
    /// the output has no elements.
    pub fn cleared<'a>(output: usize, n: usize, others: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let covered: usize = others.filter(|nest| nest.output == output).map(Self::n_elements).sum();
        let axes = vec![MovedAxis { size: n, from: 0, to: 1 }];
        let all = MovedPart { output, axes, ..MovedPart::default() };
        if covered < n { Self::new(&all) } else { None }
    }

    /// Number of elements that move.
    pub fn n_elements(&self) -> usize {
        self.loops.iter().map(|axis| axis.size).product()
    }

    /// Whether all positions are within tensors of these numbers of elements.
    pub fn is_within(&self, sizes: [usize; 2]) -> bool {
        let steps: [fn(&MovedAxis) -> isize; 2] = [|axis| axis.from, |axis| axis.to];
        (0..2).all(|t| {
            let reach = |axis: &MovedAxis| steps[t](axis).checked_mul(axis.size as isize - 1);
            let bounds = self.loops.iter().try_fold((self.start[t], self.start[t]), |(low, high), axis| {
                let reach = reach(axis)?;
                Some((low.checked_add(reach.min(0))?, high.checked_add(reach.max(0))?))
            });
            bounds.is_some_and(|(low, high)| low >= 0 && high < sizes[t] as isize)
        })
    }

    /// The loop along which the input is contiguous, if the output is contiguous along another one and both are long enough
    /// to transpose blocks.
    pub fn turned_axis(&self) -> Option<usize> {
        let (inner, outer) = self.loops.split_last()?;
        if self.input.is_none() || inner.to != 1 || inner.from.abs() <= 1 || inner.size < LEAST_TURNED {
            return None;
        }
        outer.iter().position(|axis| axis.from.abs() == 1 && axis.size >= LEAST_TURNED)
    }
}

/// How far the positions in the input and in the output have moved at iteration `step` of the loops.
pub fn moved_by(loops: &[MovedAxis], step: usize) -> [isize; 2] {
    let mut rest = step;
    let mut moved = [0; 2];
    for axis in loops.iter().rev() {
        let i = (rest % axis.size) as isize;
        rest /= axis.size;
        moved = [moved[0] + i * axis.from, moved[1] + i * axis.to];
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nest(axes: &[(usize, isize, isize)], from: usize, to: usize) -> Option<Nest> {
        let axes = axes.iter().map(|(size, from, to)| MovedAxis { size: *size, from: *from, to: *to }).collect();
        Nest::new(&MovedPart { input: Some(0), output: 0, from, to, axes })
    }

    #[test]
    fn loops_follow_the_output_and_are_merged() {
        let merged = nest(&[(3, 4, 4), (1, 9, 9), (4, 1, 1)], 0, 0).expect("elements");
        assert_eq!(merged.loops[..], [MovedAxis { size: 12, from: 1, to: 1 }]);
        let turned = nest(&[(3, 1, 5), (5, -3, -1)], 12, 4).expect("elements");
        assert_eq!((turned.start, turned.loops[1]), ([0, 0], MovedAxis { size: 5, from: 3, to: 1 }));
        assert!(nest(&[(0, 1, 1)], 0, 0).is_none());
    }

    #[test]
    fn positions_outside_a_tensor_are_found() {
        let back = nest(&[(3, -2, 1)], 4, 0).expect("elements");
        assert!(back.is_within([5, 3]) && !back.is_within([4, 3]) && !back.is_within([5, 2]));
        assert!(!nest(&[(4, -2, 1)], 4, 0).expect("elements").is_within([9, 9]));
    }

    #[test]
    fn steps_are_counted_from_the_innermost_loop() {
        let loops = [MovedAxis { size: 2, from: 10, to: 3 }, MovedAxis { size: 3, from: -1, to: 1 }];
        assert_eq!(moved_by(&loops, 4), [9, 4]);
    }
}
