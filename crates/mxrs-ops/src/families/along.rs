//! Helpers that build [`MovedParts`], the description of an operator that only moves elements, from one description per
//! axis: [`Along`] says where the elements along one axis of the output come from.

use mxrs_op::{MovedAxis, MovedPart, MovedParts};
use mxrs_types::Shape;

/// The most parts of a description. An operator with more parts has no description, because each part costs time to run.
const MAX_PARTS: usize = 256;

/// Where the elements along one axis of the output come from.
#[derive(Clone, Debug)]
pub struct Along {
    pieces: Vec<Piece>,
    repeats: bool,
}

/// Consecutive elements on an axis of the output that a nest of loops with constant steps reads from the input.
#[derive(Clone, Debug)]
struct Piece {
    /// Position of the first element in the input, counted only along this axis; `None` if the elements are the constant.
    from: Option<usize>,
    /// The loops, outermost first. Each has its number of steps, and the distance in the input from one step to the next.
    loops: Vec<(usize, isize)>,
}

impl Piece {
    fn len(&self) -> usize {
        self.loops.iter().map(|(size, _)| size).product()
    }

    /// The first and the last position that the piece reads.
    fn bounds(&self) -> Option<(isize, isize)> {
        let start = self.from? as isize;
        let reach = |(size, step): &(usize, isize)| (*size as isize - 1) * step;
        let (low, high) =
            self.loops.iter().map(reach).fold((0, 0), |(low, high), reach| (low + reach.min(0), high + reach.max(0)));
        Some((start + low, start + high))
    }
}

impl Along {
    /// No elements yet.
    pub fn new() -> Self {
        Self { pieces: Vec::new(), repeats: false }
    }

    /// `size` elements that are `step` positions apart in the input.
    pub fn whole(size: usize, step: usize) -> Self {
        Self::new().then(0, &[(size, step as isize)])
    }

    /// An axis of the output that combines several axes of the input. There is a loop for each of these axes, outermost
    /// first, with its number of steps and the distance in the input from one step to the next.
    pub fn nest(loops: &[(usize, usize)]) -> Self {
        let loops: Vec<(usize, isize)> = loops.iter().map(|(size, step)| (*size, *step as isize)).collect();
        Self::new().then(0, &loops)
    }

    /// Adds elements at the end. The first one comes from the position `from` in the input, and `loops` walk from there.
    #[must_use]
    pub fn then(mut self, from: usize, loops: &[(usize, isize)]) -> Self {
        let piece = Piece { from: Some(from), loops: loops.to_vec() };
        if piece.len() == 0 {
            return self;
        }
        let is_in_piece = |other: &Piece| match (other.bounds(), piece.bounds()) {
            (Some((low, high)), Some((first, last))) => first <= high && low <= last,
            _ => false,
        };
        self.repeats |= loops.iter().any(|(size, step)| *size > 1 && *step == 0) || self.pieces.iter().any(is_in_piece);
        self.pieces.push(piece);
        self
    }

    /// Adds `n` constants at the end.
    #[must_use]
    pub fn then_constants(mut self, n: usize) -> Self {
        if n > 0 {
            self.pieces.push(Piece { from: None, loops: vec![(n, 0)] });
        }
        self
    }
}

/// The parts of an output whose axes are described one by one. The elements come from input `input`. `None` if there are too
/// many parts.
pub fn parts(input: usize, axes: &[Along], out: &Shape, constant: f64) -> Option<MovedParts> {
    let strides = out.strides();
    let mut parts = vec![MovedPart { input: Some(input), ..MovedPart::default() }];
    for ((axis, size), stride) in axes.iter().zip(out.iter()).zip(strides) {
        let mut longer = Vec::new();
        for part in &parts {
            let whole = [Piece { from: Some(0), loops: vec![(*size, 0)] }];
            // A part that holds the constant is the same at all positions of the later axes, so it is not divided further.
            let pieces = if part.input.is_some() { &axis.pieces[..] } else { &whole };
            let mut at = 0;
            for piece in pieces {
                let mut next = part.clone();
                let mut inner = piece.len();
                next.to += at * stride;
                next.from += piece.from.unwrap_or(0);
                next.input = next.input.filter(|_| piece.from.is_some());
                for (size, step) in &piece.loops {
                    inner /= size.max(&1);
                    next.axes.push(MovedAxis { size: *size, from: *step, to: (inner * stride) as isize });
                }
                at += piece.len();
                longer.push(next);
            }
        }
        if longer.len() > MAX_PARTS {
            return None;
        }
        parts = longer;
    }
    let repeats = axes.iter().any(|axis| axis.repeats);
    Some(MovedParts { parts, constant, repeats, sums: false })
}

/// The parts if axis `order[i]` of the input becomes axis `i` of the output.
pub fn permuted(data: &Shape, order: &[usize], out: &Shape) -> Option<MovedParts> {
    let strides = data.strides();
    let axes: Vec<Along> = order.iter().map(|axis| Along::whole(data[*axis], strides[*axis])).collect();
    parts(0, &axes, out, 0.0)
}

/// The parts of a concatenation of tensors `[outer, len]`, which differ only in `len`. The tensors are the inputs from
/// number `first` on.
pub fn joined(first: usize, outer: usize, lens: &[usize]) -> MovedParts {
    let row: usize = lens.iter().sum();
    let mut start = 0;
    let part = |(i, len): (usize, &usize)| {
        let len = *len;
        let axes = vec![
            MovedAxis { size: outer, from: len as isize, to: row as isize },
            MovedAxis { size: len, from: 1, to: 1 },
        ];
        start += len;
        MovedPart { input: Some(first + i), output: 0, from: 0, to: start - len, axes }
    };
    MovedParts { parts: lens.iter().enumerate().map(part).collect(), ..MovedParts::default() }
}

/// The parts that split the first input into tensors `[outer, len]`, one for each number of `lens`.
pub fn cut(outer: usize, lens: &[usize]) -> MovedParts {
    let mut moved = joined(0, outer, lens);
    for part in &mut moved.parts {
        (part.output, part.input) = (part.input.unwrap_or(0), Some(0));
        std::mem::swap(&mut part.from, &mut part.to);
        part.axes.iter_mut().for_each(|axis| std::mem::swap(&mut axis.from, &mut axis.to));
    }
    moved
}

/// The product of the sizes before `axis`, and for each shape the product of its sizes from `axis` on.
pub fn lens(shapes: &[&Shape], axis: usize) -> (usize, Vec<usize>) {
    let outer = shapes.first().map_or(1, |shape| shape[..axis].iter().product());
    (outer, shapes.iter().map(|shape| shape[axis..].iter().product()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where each element of the output comes from.
    fn sources(moved: &MovedParts, n: usize) -> Vec<Option<usize>> {
        let mut found = vec![Some(usize::MAX); n];
        for part in &moved.parts {
            let sizes: Vec<usize> = part.axes.iter().map(|axis| axis.size).collect();
            crate::families::indexing::for_each_index(&sizes, |index| {
                let at = |start: usize, step: fn(&MovedAxis) -> isize| {
                    let moved: isize = index.iter().zip(&part.axes).map(|(i, axis)| *i as isize * step(axis)).sum();
                    (start as isize + moved) as usize
                };
                found[at(part.to, |axis| axis.to)] = part.input.map(|_| at(part.from, |axis| axis.from));
            });
        }
        found
    }

    #[test]
    fn pieces_of_two_axes_cover_the_output() {
        let rows = Along::new().then_constants(1).then(0, &[(2, 3)]);
        let columns = Along::new().then(0, &[(3, 1)]).then(1, &[(1, 0)]);
        let moved = parts(0, &[rows, columns], &[3, 4].into(), 0.0).expect("few parts");
        let expected = [None, None, None, None, Some(0), Some(1), Some(2), Some(1), Some(3), Some(4), Some(5), Some(4)];
        assert_eq!(sources(&moved, 12), expected);
        assert!(moved.repeats, "the second element is taken twice");
    }

    #[test]
    fn a_cut_axis_moves_like_a_transposed_matrix() {
        let moved = parts(0, &[Along::nest(&[(2, 1), (3, 2)])], &[6].into(), 0.0).expect("one part");
        assert_eq!(sources(&moved, 6), [0, 2, 4, 1, 3, 5].map(Some));
        assert!(!moved.repeats);
    }

    #[test]
    fn joined_parts_lie_side_by_side() {
        let moved = joined(0, 2, &[2, 4]);
        assert_eq!((moved.parts[1].to, moved.parts[1].axes[0].to, moved.parts[1].axes[0].from), (2, 6, 4));
        let cut = cut(2, &[2, 4]);
        assert_eq!((cut.parts[1].from, cut.parts[1].output, cut.parts[1].axes[0].from), (2, 1, 6));
    }

    #[test]
    fn too_many_parts_have_no_description() {
        let axis = Along::new().then(0, &[(1, 1)]).then(1, &[(1, 1)]);
        assert!(parts(0, &vec![axis.clone(); 8], &[2; 8].into(), 0.0).is_some());
        assert!(parts(0, &vec![axis; 9], &[2; 9].into(), 0.0).is_none());
    }
}
