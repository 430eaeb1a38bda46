//! One direction of one recurrent layer: the pass over the steps of one sequence, and back.

use super::rnn::RnnMode;
use crate::numeric::sigmoid;

/// Weights of one direction of one layer, as positions in the vector of parameters.
#[derive(Clone, Debug)]
pub struct Weights {
    /// Weight of the input `[gates · hidden, input]`.
    pub input: usize,
    /// Weight of the state `[gates · hidden, state]`.
    pub state: usize,
    /// Weight of the projection `[state, hidden]`, if there is one.
    pub projection: Option<usize>,
    /// Bias of the input `[gates · hidden]`.
    pub input_bias: usize,
    /// Bias of the state `[gates · hidden]`.
    pub state_bias: usize,
}

/// One direction of one layer.
pub struct Cell<'a> {
    /// The kind of cell.
    pub mode: RnnMode,
    /// All parameters of the call.
    pub parameters: &'a [f64],
    /// Where the weights of this direction are in `parameters`.
    pub weights: &'a Weights,
    /// Number of input features.
    pub n_input: usize,
    /// Number of hidden units.
    pub n_hidden: usize,
    /// Number of elements of the state: that of hidden units, or of the projection.
    pub n_state: usize,
    /// The bounds of the cell state of an LSTM, if it is clipped.
    pub clip: Option<[f64; 2]>,
    /// Whether a NaN in the cell state is clipped to the lower bound.
    pub clip_nan: bool,
}

/// What a forward step keeps for the backward pass.
pub struct Step {
    x: Vec<f64>,
    h: Vec<f64>,
    c: Vec<f64>,
    /// The gates after their activation functions.
    gates: Vec<f64>,
    /// For a GRU, the state's part of the new gate before it is multiplied by the reset gate.
    reset: Vec<f64>,
    /// The new cell state of an LSTM.
    c_new: Vec<f64>,
    is_clipped: Vec<bool>,
    /// The hidden units before the projection.
    hidden: Vec<f64>,
}

/// The gradients to which the steps of a backward pass add.
pub struct Gradients<'a> {
    /// The gradients of all parameters of the call.
    pub parameters: &'a mut [f64],
    /// The gradient of the state.
    pub h: Vec<f64>,
    /// The gradient of the cell state of an LSTM.
    pub c: Vec<f64>,
}

impl Cell<'_> {
    /// Computes `W x + b` for all gates. W begins at position `weight` of the parameters, and b at position `bias`.
    fn product(&self, weight: usize, bias: usize, x: &[f64]) -> Vec<f64> {
        let rows = self.mode.n_gates() * self.n_hidden;
        let row = |row: usize| {
            let weights = &self.parameters[weight + row * x.len()..][..x.len()];
            self.parameters[bias + row] + weights.iter().zip(x).map(|(w, x)| w * x).sum::<f64>()
        };
        (0..rows).map(row).collect()
    }

    /// Computes one step: the state and the cell state are replaced by the new ones.
    pub fn step(&self, x: &[f64], h: &mut Vec<f64>, c: &mut Vec<f64>) -> Step {
        let n = self.n_hidden;
        let by_input = self.product(self.weights.input, self.weights.input_bias, x);
        let by_state = self.product(self.weights.state, self.weights.state_bias, h);
        let sum = |at: usize| by_input[at] + by_state[at];
        let mut step = Step {
            x: x.to_vec(),
            h: h.clone(),
            c: c.clone(),
            gates: Vec::new(),
            reset: Vec::new(),
            c_new: Vec::new(),
            is_clipped: Vec::new(),
            hidden: Vec::new(),
        };
        match self.mode {
            RnnMode::Relu => step.hidden = (0..n).map(|i| crate::numeric::relu(sum(i))).collect(),
            RnnMode::Tanh => step.hidden = (0..n).map(|i| sum(i).tanh()).collect(),
            RnnMode::Lstm => {
                let gate = |at: usize| if at / n == 2 { sum(at).tanh() } else { sigmoid(sum(at)) };
                step.gates = (0..4 * n).map(gate).collect();
                for i in 0..n {
                    let [input, forget, new, out] = [0, 1, 2, 3].map(|gate| step.gates[gate * n + i]);
                    let raw = forget * c[i] + input * new;
                    let value = self.clipped(raw);
                    step.is_clipped.push(value.to_bits() != raw.to_bits());
                    step.c_new.push(value);
                    step.hidden.push(out * value.tanh());
                }
                c.clone_from(&step.c_new);
            }
            RnnMode::Gru => {
                step.gates = (0..2 * n).map(|at| sigmoid(sum(at))).collect();
                step.reset = by_state[2 * n..].to_vec();
                for i in 0..n {
                    let new = (by_input[2 * n + i] + step.gates[i] * step.reset[i]).tanh();
                    step.gates.push(new);
                    step.hidden.push((1.0 - step.gates[n + i]) * new + step.gates[n + i] * h[i]);
                }
            }
        }
        match self.weights.projection {
            None => h.clone_from(&step.hidden),
            Some(at) => {
                let row = |row: usize| &self.parameters[at + row * n..][..n];
                *h = (0..self.n_state).map(|i| row(i).iter().zip(&step.hidden).map(|(w, x)| w * x).sum()).collect();
            }
        }
        step
    }

    fn clipped(&self, c: f64) -> f64 {
        match self.clip {
            Some([low, _]) if c.is_nan() && self.clip_nan => low,
            Some([low, high]) => crate::numeric::clip(c, low, high),
            None => c,
        }
    }

    /// Goes back one step. `grads.h` and `grads.c` hold the gradients of the new states, and get those of the states before the
    /// step. Returns the gradient of the input of the step.
    pub fn back(&self, step: &Step, grads: &mut Gradients<'_>) -> Vec<f64> {
        let n = self.n_hidden;
        let mut hidden = grads.h.clone();
        if let Some(at) = self.weights.projection {
            hidden = vec![0.0; n];
            for (row, g) in grads.h.iter().enumerate() {
                for i in 0..n {
                    hidden[i] += g * self.parameters[at + row * n + i];
                    grads.parameters[at + row * n + i] += g * step.hidden[i];
                }
            }
        }
        let rows = self.mode.n_gates() * n;
        // The gradients of the sums before the activation functions: of the input's part and of the state's part.
        let (mut by_input, mut by_state) = (vec![0.0; rows], vec![0.0; rows]);
        let mut h = vec![0.0; self.n_state];
        for i in 0..n {
            let g = hidden[i];
            match self.mode {
                RnnMode::Relu => by_input[i] = if step.hidden[i] > 0.0 { g } else { 0.0 },
                RnnMode::Tanh => by_input[i] = g * (1.0 - step.hidden[i] * step.hidden[i]),
                RnnMode::Lstm => {
                    let [input, forget, new, out] = [0, 1, 2, 3].map(|gate| step.gates[gate * n + i]);
                    let tanh = step.c_new[i].tanh();
                    let whole = grads.c[i] + g * out * (1.0 - tanh * tanh);
                    let c = if step.is_clipped[i] { 0.0 } else { whole };
                    by_input[i] = c * new * input * (1.0 - input);
                    by_input[n + i] = c * step.c[i] * forget * (1.0 - forget);
                    by_input[2 * n + i] = c * input * (1.0 - new * new);
                    by_input[3 * n + i] = g * tanh * out * (1.0 - out);
                    grads.c[i] = c * forget;
                }
                RnnMode::Gru => {
                    let [reset, update, new] = [0, 1, 2].map(|gate| step.gates[gate * n + i]);
                    let inner = g * (1.0 - update) * (1.0 - new * new);
                    by_input[i] = inner * step.reset[i] * reset * (1.0 - reset);
                    by_input[n + i] = g * (step.h[i] - new) * update * (1.0 - update);
                    by_input[2 * n + i] = inner;
                    by_state[2 * n + i] = inner * reset;
                    h[i] += g * update;
                }
            }
        }
        let n_shared = if self.mode == RnnMode::Gru { 2 * n } else { rows };
        by_state[..n_shared].copy_from_slice(&by_input[..n_shared]);
        let mut x = vec![0.0; self.n_input];
        self.back_product(self.weights.input, self.weights.input_bias, &by_input, &step.x, &mut x, grads.parameters);
        self.back_product(self.weights.state, self.weights.state_bias, &by_state, &step.h, &mut h, grads.parameters);
        grads.h = h;
        x
    }

    /// Adds the gradients of a product `W x + b`, given that of its result.
    fn back_product(&self, weight: usize, bias: usize, by: &[f64], x: &[f64], to_x: &mut [f64], to: &mut [f64]) {
        for (row, g) in by.iter().enumerate() {
            to[bias + row] += g;
            for (column, x) in x.iter().enumerate() {
                let at = weight + row * to_x.len() + column;
                to_x[column] += g * self.parameters[at];
                to[at] += g * x;
            }
        }
    }
}
