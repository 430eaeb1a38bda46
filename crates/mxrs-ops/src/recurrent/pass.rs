//! The reference kernels of `RNN`: all layers forward, and back.

use super::cell::{Cell, Gradients, Step, Weights};
use super::rnn::RnnParams;
use crate::families::random::uniform;
use crate::numeric;
use mxrs_op::{OpParams, RefInput, RefOutput, RunMode};
use mxrs_types::{Error, Result};

/// The inputs of a call as `f64`, and its sizes.
struct Numbers {
    data: Vec<f64>,
    parameters: Vec<f64>,
    state: Vec<f64>,
    /// The cell state of an LSTM; empty for other cells.
    cell: Vec<f64>,
    lengths: Vec<usize>,
    n_steps: usize,
    n_batch: usize,
    n_input: usize,
}

impl Numbers {
    fn read(params: &RnnParams, inputs: &[RefInput<'_>]) -> Result<Self> {
        let shape = &inputs[0].desc.shape;
        let (n_steps, n_batch, n_input) = (shape[0], shape[1], shape[2]);
        let is_lstm = params.mode == super::rnn::RnnMode::Lstm;
        let length = |length: f64| match length {
            length if (0.0..=n_steps as f64).contains(&length) => Ok(length as usize),
            length => Err(Error::invalid("a sequence length", length, format!("a number from 0 to {n_steps}"))),
        };
        let lengths = match params.use_sequence_length {
            true => {
                numeric::read(&inputs[if is_lstm { 4 } else { 3 }]).into_iter().map(length).collect::<Result<_>>()?
            }
            false => vec![n_steps; n_batch],
        };
        Ok(Self {
            data: numeric::read(&inputs[0]),
            parameters: numeric::read(&inputs[1]),
            state: numeric::read(&inputs[2]),
            cell: if is_lstm { numeric::read(&inputs[3]) } else { Vec::new() },
            lengths,
            n_steps,
            n_batch,
            n_input,
        })
    }

    /// Where the weights of all layers and directions are in the parameters: those of a layer's directions follow each
    /// other.
    fn weights(&self, params: &RnnParams) -> Vec<Weights> {
        let (hidden, state) = (params.state_size as usize, params.n_state());
        let rows = params.mode.n_gates() * hidden;
        let n = params.num_layers as usize * params.n_directions();
        let mut at = 0;
        let mut take = |size: usize| {
            at += size;
            at - size
        };
        let mut weights: Vec<Weights> = (0..n)
            .map(|i| Weights {
                input: take(rows * self.features(params, i / params.n_directions())),
                state: take(rows * state),
                projection: params.projection_size.map(|_| take(state * hidden)),
                input_bias: 0,
                state_bias: 0,
            })
            .collect();
        for weights in &mut weights {
            (weights.input_bias, weights.state_bias) = (take(rows), take(rows));
        }
        weights
    }

    /// Number of input features of a layer.
    fn features(&self, params: &RnnParams, layer: usize) -> usize {
        if layer == 0 { self.n_input } else { params.n_directions() * params.n_state() }
    }
}

/// What a forward pass over all layers returns and keeps for the backward pass.
struct Pass {
    /// The outputs of the last layer.
    out: Vec<f64>,
    state: Vec<f64>,
    cell: Vec<f64>,
    /// For each layer, direction and sequence, the steps in the order in which they were made, with their times.
    steps: Vec<Vec<(usize, Step)>>,
}

fn run(params: &RnnParams, numbers: &Numbers, factors: &[f64]) -> Pass {
    let (directions, n_state, n_hidden) = (params.n_directions(), params.n_state(), params.state_size as usize);
    let width = directions * n_state;
    let weights = numbers.weights(params);
    let mut input = numbers.data.clone();
    let mut pass = Pass { out: Vec::new(), state: Vec::new(), cell: Vec::new(), steps: Vec::new() };
    for layer in 0..params.num_layers as usize {
        let n_input = numbers.features(params, layer);
        let mut out = vec![0.0; numbers.n_steps * numbers.n_batch * width];
        for direction in 0..directions {
            let which = layer * directions + direction;
            let cell = cell_of(params, &numbers.parameters, &weights[which], n_input);
            for n in 0..numbers.n_batch {
                let first = which * numbers.n_batch + n;
                let mut h = numbers.state[first * n_state..][..n_state].to_vec();
                let mut c = numbers.cell.get(first * n_hidden..(first + 1) * n_hidden).unwrap_or_default().to_vec();
                let mut steps = Vec::new();
                for i in 0..numbers.lengths[n] {
                    let t = if direction == 0 { i } else { numbers.lengths[n] - 1 - i };
                    let row = t * numbers.n_batch + n;
                    let step = cell.step(&input[row * n_input..][..n_input], &mut h, &mut c);
                    out[row * width + direction * n_state..][..n_state].copy_from_slice(&h);
                    steps.push((t, step));
                }
                pass.steps.push(steps);
                pass.state.extend(h);
                pass.cell.extend(c);
            }
        }
        if let Some(factors) = factors.get(layer * out.len()..(layer + 1) * out.len()) {
            out.iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor);
        }
        input = out;
    }
    pass.out = input;
    pass
}

fn cell_of<'a>(params: &RnnParams, parameters: &'a [f64], weights: &'a Weights, n_input: usize) -> Cell<'a> {
    Cell {
        mode: params.mode,
        parameters,
        weights,
        n_input,
        n_hidden: params.state_size as usize,
        n_state: params.n_state(),
        clip: params.clip(),
        clip_nan: params.lstm_state_clip_nan,
    }
}

/// The reference kernel of `RNN`.
///
/// # Errors
/// Fails if a sequence is longer than data, or if elements are to be dropped without random numbers.
pub fn forward(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    let params: &RnnParams = params.get();
    let numbers = Numbers::read(params, inputs)?;
    let mut factors = Vec::new();
    if params.drops()
        && let Some(output) = outputs.last_mut()
    {
        factors = vec![1.0; output.desc.shape.n_elements()];
        if mode.is_train {
            let random = mode.random.ok_or_else(|| Error::invalid("random numbers", "none", "a seed and a number"))?;
            for (i, factor) in factors.iter_mut().enumerate() {
                let [a, b, ..] = random.block(i as u64);
                *factor = if uniform([a, b]) < f64::from(params.p) { 0.0 } else { 1.0 / (1.0 - f64::from(params.p)) };
            }
        }
        numeric::write(output, &factors);
    }
    let pass = run(params, &numbers, &factors);
    let n_visible = params.n_visible();
    for (output, values) in outputs[..n_visible].iter_mut().zip([&pass.out, &pass.state, &pass.cell]) {
        numeric::write(output, values);
    }
    Ok(())
}

/// The reference kernel of `_backward_RNN`.
///
/// # Errors
/// Fails if a sequence is longer than data.
pub fn backward(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params: &RnnParams = params.get();
    let (ograds, inputs) = inputs.split_at(params.n_visible());
    let numbers = Numbers::read(params, inputs)?;
    let factors = if params.drops() { inputs.last().map(numeric::read).unwrap_or_default() } else { Vec::new() };
    let pass = run(params, &numbers, &factors);
    let (directions, n_state, n_hidden) = (params.n_directions(), params.n_state(), params.state_size as usize);
    let width = directions * n_state;
    let weights = numbers.weights(params);
    let ograds: Vec<Vec<f64>> = ograds.iter().map(numeric::read).collect();
    let mut by_out = ograds[0].clone();
    let mut to_parameters = vec![0.0; numbers.parameters.len()];
    let mut to_state = vec![0.0; numbers.state.len()];
    let mut to_cell = vec![0.0; numbers.cell.len()];
    for layer in (0..params.num_layers as usize).rev() {
        if let Some(factors) = factors.get(layer * by_out.len()..(layer + 1) * by_out.len()) {
            by_out.iter_mut().zip(factors).for_each(|(g, factor)| *g *= factor);
        }
        let n_input = numbers.features(params, layer);
        let mut by_input = vec![0.0; numbers.n_steps * numbers.n_batch * n_input];
        for direction in 0..directions {
            let which = layer * directions + direction;
            let cell = cell_of(params, &numbers.parameters, &weights[which], n_input);
            for n in 0..numbers.n_batch {
                let first = which * numbers.n_batch + n;
                let last = |output: usize, size: usize| match ograds.get(output) {
                    Some(ograd) => ograd[first * size..][..size].to_vec(),
                    None => vec![0.0; size],
                };
                let (h, c) = (last(1, n_state), last(2, n_hidden));
                let mut grads = Gradients { parameters: &mut to_parameters, h, c };
                for (t, step) in pass.steps[first].iter().rev() {
                    let row = t * numbers.n_batch + n;
                    let of_out = &by_out[row * width + direction * n_state..][..n_state];
                    grads.h.iter_mut().zip(of_out).for_each(|(to, g)| *to += g);
                    let x = cell.back(step, &mut grads);
                    by_input[row * n_input..][..n_input].iter_mut().zip(x).for_each(|(to, g)| *to += g);
                }
                to_state[first * n_state..][..n_state].copy_from_slice(&grads.h);
                if let Some(to) = to_cell.get_mut(first * n_hidden..(first + 1) * n_hidden) {
                    to.copy_from_slice(&grads.c);
                }
            }
        }
        by_out = by_input;
    }
    for (output, values) in outputs.iter_mut().zip([by_out, to_parameters, to_state, to_cell]) {
        numeric::write(output, &values);
    }
    Ok(())
}
