//! Sizes of a call of `RNN`, and the positions of its weights.

use crate::gemm::PANEL;
use crate::layouts::BLOCK;
use mxrs_op::OpCall;
use mxrs_ops::recurrent::rnn::{RnnMode, RnnParams};
use mxrs_types::DType;

/// Rows whose distance in bytes is a multiple of this compete for the same sets of the first-level cache.
const COMPETING: usize = 2048;
/// Multiply-adds per thread and step below which waking another thread costs more than it saves.
const SMALL: f64 = 65536.0;
/// Calls with more values in their gates are refused. No memory holds them, and sizes of scratch memory must not overflow.
const MOST_GATES: f64 = (1_u64 << 40) as f64;

/// Sizes of a call, and what the call has.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// The kind of cell.
    pub mode: RnnMode,
    /// Number of steps in time.
    pub steps: usize,
    /// Number of sequences.
    pub batch: usize,
    /// Features of the data, which the first layer reads.
    pub features: usize,
    /// Hidden units of each direction.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Number of directions.
    pub directions: usize,
    /// Number of visible outputs: the output, and the last states if they are wanted.
    pub n_visible: usize,
    /// Whether the call has a hidden output with the factors of dropout.
    pub has_factors: bool,
    /// Largest number of threads.
    pub threads: usize,
}

/// Positions of the weights of one direction of one layer in the vector of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// Weight of the input: `[gates * hidden][features]`.
    pub input: usize,
    /// Weight of the state: `[gates * hidden][hidden]`.
    pub state: usize,
    /// Bias of the input.
    pub input_bias: usize,
    /// Bias of the state.
    pub state_bias: usize,
}

impl Problem {
    /// The problem of a call.
    ///
    /// # Errors
    /// Returns the reason as text if there is no kernel for the call.
    pub fn of(call: &OpCall<'_>, is_gradient: bool, threads: usize) -> Result<Self, String> {
        let params: &RnnParams = call.params.get();
        if params.use_sequence_length {
            return Err("no kernel for sequences of different lengths".into());
        }
        if params.projection_size.is_some() {
            return Err("no kernel for a projected state".into());
        }
        if params.clip().is_some() {
            return Err("no kernel for bounds of the cell state".into());
        }
        if params.drops() && (is_gradient || call.is_train) {
            return Err("no kernel for dropout between layers".into());
        }
        let mut tensors = call.inputs.iter().chain(call.outputs);
        if let Some(other) = tensors.clone().find(|t| t.dtype != DType::F32) {
            return Err(format!("no kernel for {}", other.dtype));
        }
        if tensors.any(|t| t.shape.n_elements() == 0) {
            return Err("no kernel for tensors without elements".into());
        }
        let data = call.inputs.get(if is_gradient { params.n_visible() } else { 0 }).ok_or("the call lacks data")?;
        let [steps, batch, features] = data.shape[..] else {
            return Err(format!("no kernel for data of shape {}", data.shape));
        };
        let problem = Self {
            mode: params.mode,
            steps,
            batch,
            features,
            hidden: params.state_size as usize,
            layers: params.num_layers as usize,
            directions: params.n_directions(),
            n_visible: params.n_visible(),
            has_factors: params.drops(),
            threads: threads.max(1),
        };
        let n_rows = [steps + 1, batch, problem.layers, problem.directions].map(|n| n as f64).iter().product::<f64>();
        if n_rows * problem.gate_line() as f64 > MOST_GATES {
            return Err("no kernel for gates of this size".into());
        }
        Ok(problem)
    }

    /// Whether cells have a cell state.
    pub fn is_lstm(&self) -> bool {
        self.mode == RnnMode::Lstm
    }

    /// Number of gates.
    pub fn gates(&self) -> usize {
        self.mode.n_gates()
    }

    /// Number of parts in a row of gates.
    pub fn parts(&self) -> usize {
        if self.mode == RnnMode::Gru { 4 } else { self.gates() }
    }

    /// The part of a row of gates to which the product of the state is added.
    pub fn state_part(&self, gate: usize) -> usize {
        if self.is_new_of_gru(gate) { 3 } else { gate }
    }

    /// Whether the gate is the new gate of a GRU, in which the parts of the input and of the state are apart.
    pub fn is_new_of_gru(&self, gate: usize) -> bool {
        self.mode == RnnMode::Gru && gate == 2
    }

    /// Steps of all sequences.
    pub fn rows(&self) -> usize {
        self.steps * self.batch
    }

    /// Hidden units, padded to whole blocks.
    pub fn padded(&self) -> usize {
        self.hidden.next_multiple_of(BLOCK)
    }

    /// Whether parts are longer than the number of hidden units.
    pub fn is_padded(&self) -> bool {
        self.padded() != self.hidden
    }

    /// Distance between two rows of states.
    pub fn line(&self) -> usize {
        spaced(self.padded())
    }

    /// Distance between two rows of gates.
    pub fn gate_line(&self) -> usize {
        spaced(self.parts() * self.padded())
    }

    /// Features that a layer reads.
    pub fn n_features(&self, layer: usize) -> usize {
        if layer == 0 { self.features } else { self.width() }
    }

    /// Values of a row of a layer's output.
    pub fn width(&self) -> usize {
        self.directions * self.hidden
    }

    /// Number of groups of hidden units, which have the columns of a panel and which threads share.
    pub fn units(&self) -> usize {
        self.padded().div_ceil(PANEL)
    }

    /// The first hidden unit of a group, the width of its panel, and how many of its hidden units exist.
    pub fn unit(&self, unit: usize) -> (usize, usize, usize) {
        let first = unit * PANEL;
        (first, (self.padded() - first).min(PANEL), (self.hidden - first).min(PANEL))
    }

    /// Number of threads that share a step.
    pub fn step_threads(&self) -> usize {
        let multiply_adds =
            [self.batch, self.gates(), self.hidden, self.hidden].map(|n| n as f64).iter().product::<f64>();
        ((multiply_adds / SMALL) as usize).clamp(1, self.threads).min(self.units())
    }

    /// Whether the directions run at the same time, each on a thread of its own.
    pub fn at_once(&self) -> bool {
        self.directions > 1 && self.threads > 1 && self.step_threads() <= self.directions
    }

    /// The time of the `i`-th step that a direction makes.
    pub fn time(&self, direction: usize, i: usize) -> usize {
        if direction == 0 { i } else { self.steps - 1 - i }
    }

    /// The slots of the states before and after the step at time `t`. There is a slot more than steps, and slots are in the
    /// order of time: the second direction begins in the last slot.
    pub fn slots(&self, direction: usize, t: usize) -> [usize; 2] {
        [t + direction, t + 1 - direction]
    }

    /// Where the weights of one direction of one layer are.
    pub fn weights(&self, layer: usize, direction: usize) -> Weights {
        let rows = self.gates() * self.hidden;
        let each = |layer: usize| rows * (self.n_features(layer) + self.hidden);
        let start = |which: usize| {
            let first = which.min(self.directions);
            first * each(0) + (which - first) * each(1)
        };
        let which = layer * self.directions + direction;
        let (input, biases) = (start(which), start(self.layers * self.directions) + which * 2 * rows);
        let state = input + rows * self.n_features(layer);
        Weights { input, state, input_bias: biases, state_bias: biases + rows }
    }
}

/// The distance between rows of `n` values: one cache line more if the rows would compete for the same sets of a cache.
fn spaced(n: usize) -> usize {
    if (n * size_of::<f32>()).is_multiple_of(COMPETING) { n + BLOCK } else { n }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(mode: RnnMode, hidden: usize, layers: usize, directions: usize) -> Problem {
        Problem {
            mode,
            steps: 5,
            batch: 2,
            features: 7,
            hidden,
            layers,
            directions,
            n_visible: 1,
            has_factors: false,
            threads: 2,
        }
    }

    #[test]
    fn weights_follow_each_other_and_biases_come_last() {
        let p = problem(RnnMode::Gru, 4, 2, 2);
        // The first layer has 12 rows of 7 + 4 values for each direction, the second 12 rows of 8 + 4.
        assert_eq!(p.weights(0, 0), Weights { input: 0, state: 84, input_bias: 552, state_bias: 564 });
        assert_eq!(p.weights(0, 1), Weights { input: 132, state: 216, input_bias: 576, state_bias: 588 });
        assert_eq!(p.weights(1, 0), Weights { input: 264, state: 360, input_bias: 600, state_bias: 612 });
        assert_eq!(p.weights(1, 1), Weights { input: 408, state: 504, input_bias: 624, state_bias: 636 });
    }

    #[test]
    fn each_direction_uses_every_slot_once() {
        let p = problem(RnnMode::Lstm, 20, 1, 2);
        for direction in 0..2 {
            let mut slot = if direction == 0 { 0 } else { p.steps };
            for i in 0..p.steps {
                let [before, after] = p.slots(direction, p.time(direction, i));
                assert_eq!((before, before.abs_diff(after)), (slot, 1));
                slot = after;
            }
            assert_eq!(slot, if direction == 0 { p.steps } else { 0 });
        }
    }

    #[test]
    fn units_cover_all_hidden_units() {
        for hidden in [1, 16, 17, 32, 33, 48, 100, 128] {
            let p = problem(RnnMode::Tanh, hidden, 1, 1);
            let units: Vec<_> = (0..p.units()).map(|unit| p.unit(unit)).collect();
            assert_eq!(units.iter().map(|(_, _, n)| n).sum::<usize>(), hidden);
            assert_eq!(units.iter().map(|(_, width, _)| width).sum::<usize>(), p.padded());
            assert!(units.iter().all(|(_, width, n)| *n > 0 && n <= width && [16, 32].contains(width)));
        }
        assert_eq!(problem(RnnMode::Lstm, 128, 1, 1).gate_line(), 512 + 16);
    }
}
