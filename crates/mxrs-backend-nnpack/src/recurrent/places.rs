//! Where the parts of the scratch memory are. All positions are in values, and each part begins at a cache line.

use super::problem::Problem;
use crate::layouts::BLOCK;

/// The parts of the scratch memory.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Number of layers whose gates, states and outputs are kept. If it is 1, each layer overwrites those of the layer before.
    kept: usize,
    directions: usize,
    gates: [usize; 2],
    states: [usize; 2],
    cells: [usize; 2],
    outputs: [usize; 2],
    packed: [usize; 2],
    running: [usize; 2],
    /// A bias of one gate.
    pub bias: usize,
    /// The gradient of the output of a layer that is not the last.
    pub between: usize,
    /// The second direction's part of a gradient of the data.
    pub second: usize,
    /// Gradients of gates without padding.
    pub compact: usize,
    /// Memory of products.
    pub work: usize,
    /// Number of values of all parts.
    pub len: usize,
}

impl Places {
    /// Divides the memory. `work` is the number of values that products need.
    pub fn new(p: &Problem, is_gradient: bool, work: usize) -> Self {
        let mut end = 0;
        // Each kind of memory has `n` parts of one size. It is described by its first position and this size.
        let mut take = |n: usize, size: usize| {
            let size = size.next_multiple_of(BLOCK);
            let first = end;
            end += n * size;
            [first, size]
        };
        let (kept, directions) = (if is_gradient { p.layers } else { 1 }, p.directions);
        let state = (p.steps + 1) * p.batch * p.line();
        let gates = take(kept * directions, p.rows() * p.gate_line());
        let states = take(kept * directions, state);
        let cells = if p.is_lstm() { take(kept * directions, state) } else { states };
        // A layer reads the output of the layer before while it writes its own. The last layer's output is not in this memory.
        let n_outputs = if is_gradient { p.layers - 1 } else { (p.layers - 1).min(2) };
        let outputs = take(n_outputs, p.rows() * p.width());
        let packed = take(directions, p.gates() * p.padded() * p.padded());
        let bias = take(1, p.hidden)[0];
        let of_gradient = |n: usize| if is_gradient { n } else { 0 };
        let running = take(of_gradient(2 * directions), p.batch * p.line());
        let between = take(of_gradient((p.layers - 1).min(1)), p.rows() * p.width())[0];
        let most_features = if p.layers > 1 { p.features.max(p.width()) } else { p.features };
        let second = take(of_gradient(directions - 1), p.rows() * most_features)[0];
        let compact = take(of_gradient(usize::from(p.is_padded())), p.rows() * p.gates() * p.hidden)[0];
        let work = take(1, work)[0];
        Self {
            kept,
            directions,
            gates,
            states,
            cells,
            outputs,
            packed,
            running,
            bias,
            between,
            second,
            compact,
            work,
            len: end,
        }
    }

    fn of([first, size]: [usize; 2], i: usize) -> usize {
        first + i * size
    }

    fn which(&self, layer: usize, direction: usize) -> usize {
        layer % self.kept * self.directions + direction
    }

    /// The gates of one direction of a layer: a row for each step of each sequence.
    pub fn gates(&self, layer: usize, direction: usize) -> usize {
        Self::of(self.gates, self.which(layer, direction))
    }

    /// The states of one direction of a layer: slots of a row for each sequence.
    pub fn states(&self, layer: usize, direction: usize) -> usize {
        Self::of(self.states, self.which(layer, direction))
    }

    /// The cell states of an LSTM, like the states. For other cells these are the states.
    pub fn cells(&self, layer: usize, direction: usize) -> usize {
        Self::of(self.cells, self.which(layer, direction))
    }

    /// The output of a layer that is not the last.
    pub fn output(&self, layer: usize) -> usize {
        Self::of(self.outputs, if self.kept > 1 { layer } else { layer % 2 })
    }

    /// The packed weight of the state of one direction. All layers use the same memory in turn.
    pub fn packed(&self, direction: usize) -> usize {
        Self::of(self.packed, direction)
    }

    /// The gradients of the state and of the cell state of one direction.
    pub fn running(&self, direction: usize) -> [usize; 2] {
        [0, 1].map(|i| Self::of(self.running, 2 * direction + i))
    }
}
