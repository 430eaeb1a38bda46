//! For operators that only move or select elements: [`Moves`] describes where each element of the output comes from, so that
//! a kernel can copy many elements at once.

use crate::{OpParams, RefInput};
use mxrs_types::{Result, Shape};

/// Where the elements of a call go. An operator that declares this needs no kernel of its own in a backend that knows the
/// description.
#[derive(Clone, Copy, Debug)]
pub enum Moves {
    /// Not described.
    No,
    /// The parameters and the shapes say where elements go.
    Parts(PartsFn),
    /// The content of inputs says which rows go where.
    Rows {
        /// Returns the rows. For a backward operator the inputs are those of the forward operator, without `ograd`, and the
        /// shape is that of `ograd`.
        rows: RowsFn,
        /// The input whose rows are moved. For a backward operator, the index of this input after `ograd`, so at least 1.
        moved: usize,
        /// Whether the operator is the gradient: its first input is `ograd`, and each row of its output gets the sum of the
        /// gradients of its copies.
        is_backward: bool,
    },
}

/// Describes a call by its parameters, the shapes of its inputs and those of its outputs. `None` if there is no description
/// for these parameters.
pub type PartsFn = fn(&OpParams, &[&Shape], &[&Shape]) -> Result<Option<MovedParts>>;

/// Describes a call by its parameters, its inputs and the shape of its output.
pub type RowsFn = fn(&OpParams, &[RefInput<'_>], &Shape) -> Result<MovedRows>;

/// Where all elements of a call go, described by parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MovedParts {
    /// The parts.
    pub parts: Vec<MovedPart>,
    /// The value of parts that have no source.
    pub constant: f64,
    /// Whether two elements of the outputs may have the same source.
    pub repeats: bool,
    /// Whether each element of an output is the sum of all elements that move there, and 0 if there is none. Otherwise the
    /// parts set each element of the outputs exactly once.
    pub sums: bool,
}

/// Elements that are moved by nested loops. Each loop advances the positions in the input and in the output by fixed
/// distances, and the innermost step moves one element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MovedPart {
    /// The input that elements come from; `None` if they are set to [`MovedParts::constant`].
    pub input: Option<usize>,
    /// The output that they go to.
    pub output: usize,
    /// Position of the first element in the input.
    pub from: usize,
    /// Position of the first element in the output.
    pub to: usize,
    /// The loops.
    pub axes: Vec<MovedAxis>,
}

/// One loop of a [`MovedPart`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedAxis {
    /// Number of steps.
    pub size: usize,
    /// Distance of a step in the input, in elements; 0 if the same elements are repeated.
    pub from: isize,
    /// Distance of a step in the output, in elements.
    pub to: isize,
}

/// Rows that are chosen by the content of an input. The moved tensor is `[outer, n_rows, len]`, and the output
/// `[outer, rows.len(), len]`.
#[derive(Clone, Debug, PartialEq)]
pub struct MovedRows {
    /// Number of times that the same rows are chosen.
    pub outer: usize,
    /// Number of rows of the moved tensor.
    pub n_rows: usize,
    /// Number of elements of a row.
    pub len: usize,
    /// For each row of the output, the row that goes there; `None` if the output row is filled with `constant`.
    pub rows: Vec<Option<usize>>,
    /// The value of output rows to which no row goes.
    pub constant: f64,
}

impl MovedParts {
    /// The parts that move elements back: the gradient of an operator whose input `moved` has these parts. The gradient has
    /// `ograd` as its first input; parts without a source are dropped.
    #[must_use]
    pub fn back(&self, moved: usize) -> Self {
        let turn = |part: &MovedPart| MovedPart {
            input: Some(part.output),
            output: 0,
            from: part.to,
            to: part.from,
            axes: part.axes.iter().map(|axis| MovedAxis { from: axis.to, to: axis.from, ..*axis }).collect(),
        };
        let parts = self.parts.iter().filter(|part| part.input == Some(moved)).map(turn).collect();
        Self { parts, constant: 0.0, repeats: self.repeats, sums: true }
    }
}

impl MovedRows {
    /// For each element of the output in row-major order, the position of the element that goes there; `None` for the
    /// constant.
    pub fn sources(&self) -> Vec<Option<usize>> {
        if self.len == 0 || self.rows.is_empty() {
            return Vec::new();
        }
        let rows = (0..self.outer).flat_map(|o| self.rows.iter().map(move |row| row.map(|row| o * self.n_rows + row)));
        rows.flat_map(|row| (0..self.len).map(move |i| row.map(|row| row * self.len + i))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_repeat_for_every_outer_step() {
        let rows = MovedRows { outer: 2, n_rows: 3, len: 2, rows: vec![Some(2), None], constant: 0.0 };
        let expected = [Some(4), Some(5), None, None, Some(10), Some(11), None, None];
        assert_eq!(rows.sources(), expected);
    }

    #[test]
    fn a_gradient_moves_back_and_drops_constants() {
        let axes = vec![MovedAxis { size: 2, from: -3, to: 1 }];
        let moved = MovedPart { input: Some(1), output: 0, from: 5, to: 7, axes };
        let parts = MovedParts { parts: vec![moved, MovedPart::default()], constant: 4.0, ..MovedParts::default() };
        let back = parts.back(1);
        assert!(back.sums && back.parts.len() == 1);
        assert_eq!((back.parts[0].from, back.parts[0].to, back.parts[0].input), (7, 5, Some(0)));
        assert_eq!(back.parts[0].axes, [MovedAxis { size: 2, from: 1, to: -3 }]);
    }
}
