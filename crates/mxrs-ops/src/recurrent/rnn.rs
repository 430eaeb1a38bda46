//! Recurrent layers: `rnn_relu`, `rnn_tanh`, `lstm` and `gru`, in one or two directions, stacked.
//!
//! Data `[t, n, c]` and state `[layers · directions, n, h]` give `[t, n, directions · h]`; with `state_outputs` also the last
//! state and, of an LSTM, the last cell state. An LSTM has the further input state_cell; with `projection_size` p, its state
//! and output have p elements instead of h. With `use_sequence_length` there is an input of lengths `[n]`: steps after the
//! end of a sequence give 0, and the second direction begins at its end.
//!
//! Gates: LSTM input, forget, new, output; GRU reset, update, new, with `new = tanh(W x + b + reset · (R h + b'))`. The vector
//! of parameters holds, for each layer and direction, the weights of the input and of the state, and that of the projection;
//! after all of these, for each layer and direction, the bias of the input and of the state.
//!
//! In training, elements between layers are dropped with the probability `p`, and the others are divided by `1 - p`. The last
//! output, which is hidden and exists only if `p` is not 0, holds these factors.
//!
//! Gradient: of data, parameters and states.
//!
//! MXNet: `RNN`, also `_npx_rnn`. Dtypes: f32 f64 f16 bf16. MXNet drops elements in the same way, but draws other numbers.

use super::pass;
use crate::dtypes::FLOATS;
use crate::inference::{bad_attribute, learn, learn_dim, require_ndim, unify_dtypes};
use mxrs_op::{
    Accuracy, Fill, Gradient, GradientScope, InputNames, OpDef, OpParams, OutputCount, Precision, Sample, op_enum,
    op_params,
};
use mxrs_types::{DType, PartialShape, Result};

op_enum! {
    /// The kind of cell.
    pub enum RnnMode { Relu = "rnn_relu", Tanh = "rnn_tanh", Lstm = "lstm", Gru = "gru" }
}

impl RnnMode {
    /// The number of gates of a cell.
    pub const fn n_gates(self) -> usize {
        match self {
            Self::Relu | Self::Tanh => 1,
            Self::Lstm => 4,
            Self::Gru => 3,
        }
    }
}

op_params! {
    /// Parameters of `RNN`.
    pub struct RnnParams for "RNN" {
        /// Number of hidden units.
        state_size: u32,
        /// Number of layers.
        num_layers: u32,
        /// Whether each layer also passes over the steps in reverse order.
        bidirectional: bool = false,
        /// The kind of cell.
        mode: RnnMode,
        /// Probability of dropping an element between layers, in training.
        p: f32 = 0.0,
        /// Whether the last states are outputs.
        state_outputs: bool = false,
        /// Number of elements of the projected state of an LSTM.
        projection_size: Option<i32> = None,
        /// Lower bound of the cell state of an LSTM.
        lstm_state_clip_min: Option<f64> = None,
        /// Upper bound of the cell state of an LSTM.
        lstm_state_clip_max: Option<f64> = None,
        /// Whether NaN in the cell state is clipped too.
        lstm_state_clip_nan: bool = false,
        /// Whether there is an input of the lengths of the sequences.
        use_sequence_length: bool = false,
    }
}

/// The largest value of a size parameter. With it, products of sizes do not overflow.
const MAX_SIZE: u32 = 1 << 20;

impl RnnParams {
    fn is_lstm(&self) -> bool {
        self.mode == RnnMode::Lstm
    }

    /// Number of directions.
    pub fn n_directions(&self) -> usize {
        if self.bidirectional { 2 } else { 1 }
    }

    /// Number of elements of a state.
    pub fn n_state(&self) -> usize {
        self.projection_size.and_then(|size| usize::try_from(size).ok()).unwrap_or(self.state_size as usize)
    }

    /// Whether a call has an output with the factors by which dropout multiplies elements.
    pub fn drops(&self) -> bool {
        self.p > 0.0 && self.num_layers > 1
    }

    /// Bounds of the cell state.
    pub fn clip(&self) -> Option<[f64; 2]> {
        self.lstm_state_clip_min.zip(self.lstm_state_clip_max).map(|(low, high)| [low, high])
    }

    fn check(&self) -> Result<()> {
        let wrong = |name, expected: &str, got: String| Err(bad_attribute("RNN", name, expected, got));
        for (name, size) in [("state_size", self.state_size), ("num_layers", self.num_layers)] {
            if !(1..=MAX_SIZE).contains(&size) {
                return wrong(name, &format!("1 to {MAX_SIZE}"), size.to_string());
            }
        }
        if !(0.0..1.0).contains(&self.p) {
            return wrong("p", "a probability from 0 to less than 1", self.p.to_string());
        }
        if let Some(size) = self.projection_size
            && (!self.is_lstm() || !(1..=MAX_SIZE as i32).contains(&size))
        {
            return wrong("projection_size", "a positive size, with the mode lstm", size.to_string());
        }
        if self.lstm_state_clip_min.is_some() != self.lstm_state_clip_max.is_some() {
            return wrong("lstm_state_clip_min", "both bounds, or none", "one".into());
        }
        Ok(())
    }

    /// Number of visible outputs.
    pub fn n_visible(&self) -> usize {
        match (self.state_outputs, self.is_lstm()) {
            (false, _) => 1,
            (true, false) => 2,
            (true, true) => 3,
        }
    }

    /// Number of parameters of a call with this number of input features; `None` if it overflows.
    pub fn n_parameters(&self, n_input: usize) -> Option<usize> {
        let (gates, hidden, state) = (self.mode.n_gates(), self.state_size as usize, self.n_state());
        let projection = if self.projection_size.is_some() { state.checked_mul(hidden)? } else { 0 };
        let of_layer = |n_input: usize| {
            let columns = n_input.checked_add(state)?.checked_add(2)?;
            gates.checked_mul(hidden)?.checked_mul(columns)?.checked_add(projection)?.checked_mul(self.n_directions())
        };
        let others = of_layer(state.checked_mul(self.n_directions())?)?;
        of_layer(n_input)?.checked_add(others.checked_mul(self.num_layers as usize - 1)?)
    }
}

const INPUTS: &[&str] = &["data", "parameters", "state", "state_cell", "sequence_length"];
const BACKWARD_INPUTS: &[&str] =
    &["ograd", "ograd_state", "ograd_cell", "data", "parameters", "state", "state_cell", "sequence_length", "factors"];
const BACKWARD: &str = "_backward_RNN";

fn has(params: &RnnParams, name: &str) -> bool {
    match name {
        "state_cell" => params.is_lstm(),
        "sequence_length" => params.use_sequence_length,
        "ograd_state" => params.n_visible() > 1,
        "ograd_cell" => params.n_visible() > 2,
        "factors" => params.drops(),
        _ => true,
    }
}

/// Defines the operator `RNN`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_rnn"],
        summary: "recurrent layers",
        inputs: InputNames::ByParams {
            all: INPUTS,
            chosen: |params| INPUTS.iter().copied().filter(|name| has(params.get(), name)).collect(),
        },
        n_outputs: OutputCount::ByParams(|params| {
            let params: &RnnParams = params.get();
            params.n_visible() + usize::from(params.drops())
        }),
        n_visible: OutputCount::ByParams(|params| params.get::<RnnParams>().n_visible()),
        output_names: &["output", "state", "state_cell", "factors"],
        infer_shape,
        infer_dtype: |params, inputs, outputs| {
            let lengths = if params.get::<RnnParams>().use_sequence_length { 1 } else { 0 };
            let (tensors, lengths) = inputs.split_at_mut(inputs.len() - lengths);
            unify_dtypes(tensors.iter_mut().chain(outputs), "parameters")?;
            lengths.iter_mut().for_each(|dtype| *dtype = dtype.or(Some(DType::I32)));
            Ok(())
        },
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        is_costly: true,
        init_hints: &[],
        is_random: |params, is_train| is_train && params.get::<RnnParams>().drops(),
        gradient: Gradient::By(gradient),
        companions: || vec![backward()],
        reference: Some(pass::forward),
        samples,
        precision_float16: Some(Precision::short),
        ..OpDef::new("RNN").params::<RnnParams>()
    }
}

fn gradient(params: &OpParams, scope: &mut dyn GradientScope) -> crate::families::gradients::Answers {
    let params: &RnnParams = params.get();
    let n = scope.n_inputs();
    let mut inputs = (0..params.n_visible()).map(|i| scope.out_grad(i)).collect::<Result<Vec<_>>>()?;
    inputs.extend((0..n).map(|i| scope.input(i)));
    if params.drops() {
        inputs.push(scope.output(params.n_visible()));
    }
    let attrs = crate::families::gradients::params_of(scope);
    let mut answers: Vec<_> = scope.call(BACKWARD, attrs, &inputs)?.into_iter().map(Some).collect();
    answers.resize(n, None);
    Ok(answers)
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params: &RnnParams = params.get();
    params.check()?;
    let [data, parameters, state, rest @ ..] = inputs else { return Ok(()) };
    let (out, others) = outputs.split_at_mut(1);
    let out = &mut out[0];
    let (layers, directions) = (params.num_layers as usize, params.n_directions());
    require_ndim(data, 3, "data")?;
    learn(out, &PartialShape::new([data.dim(0), data.dim(1), Some(directions * params.n_state())]), "output")?;
    learn(data, &PartialShape::new([out.dim(0), out.dim(1), None]), "data")?;
    let of_states =
        |size: usize, batch: Option<usize>| PartialShape::new([Some(layers * directions), batch, Some(size)]);
    learn(state, &of_states(params.n_state(), data.dim(1)), "state")?;
    learn_dim(data, 1, state.dim(1), "data")?;
    let n = data.dim(2).and_then(|n_input| params.n_parameters(n_input));
    learn(parameters, &PartialShape::new([n]), "parameters")?;
    let mut rest = rest.iter_mut();
    if params.is_lstm()
        && let Some(cell) = rest.next()
    {
        learn(cell, &of_states(params.state_size as usize, data.dim(1)), "state_cell")?;
    }
    if params.use_sequence_length
        && let Some(lengths) = rest.next()
    {
        learn(lengths, &PartialShape::new([data.dim(1)]), "sequence_length")?;
    }
    let sizes = [params.n_state(), params.state_size as usize];
    let mut others = others.iter_mut();
    for (last, size) in others.by_ref().take(params.n_visible() - 1).zip(sizes) {
        learn(last, &of_states(size, data.dim(1)), "state")?;
    }
    let factors = PartialShape::new([Some(layers - 1), data.dim(0), data.dim(1), Some(directions * params.n_state())]);
    others.try_for_each(|output| learn(output, &factors, "factors"))
}

fn backward() -> OpDef {
    OpDef {
        summary: "gradients of recurrent layers",
        inputs: InputNames::ByParams {
            all: BACKWARD_INPUTS,
            chosen: |params| BACKWARD_INPUTS.iter().copied().filter(|name| has(params.get(), name)).collect(),
        },
        n_outputs: OutputCount::ByParams(|params| if params.get::<RnnParams>().is_lstm() { 4 } else { 3 }),
        n_visible: OutputCount::ByParams(|params| if params.get::<RnnParams>().is_lstm() { 4 } else { 3 }),
        output_names: &["data", "parameters", "state", "state_cell"],
        infer_shape: |params, inputs, outputs| {
            let n_visible = params.get::<RnnParams>().n_visible();
            let n_factors = usize::from(params.get::<RnnParams>().drops());
            let (ograds, rest) = inputs.split_at_mut(n_visible);
            let (tensors, factors) = rest.split_at_mut(rest.len() - n_factors);
            let mut results: Vec<PartialShape> = ograds.iter().chain(&*factors).cloned().collect();
            for (tensor, output) in tensors.iter_mut().zip(outputs.iter_mut()) {
                crate::inference::unify(tensor, output, "data")?;
            }
            infer_shape(params, tensors, &mut results)?;
            ograds.iter_mut().chain(factors).zip(results).for_each(|(to, from)| *to = from);
            let mut pairs = tensors.iter_mut().zip(outputs);
            pairs.try_for_each(|(tensor, output)| crate::inference::unify(tensor, output, "data"))
        },
        infer_dtype: |params, inputs, outputs| {
            let params: &RnnParams = params.get();
            let lengths = params.use_sequence_length.then(|| inputs.len() - 1 - usize::from(params.drops()));
            let floats = inputs.iter_mut().enumerate().filter(|(i, _)| Some(*i) != lengths).map(|(_, dtype)| dtype);
            unify_dtypes(floats.chain(outputs), "data")?;
            if let Some(at) = lengths {
                inputs[at] = inputs[at].or(Some(DType::I32));
            }
            Ok(())
        },
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        reference: Some(pass::backward),
        samples: || {
            crate::families::backward::samples_of(&define(), |sample, outputs| {
                let params = define().parse(&sample.attrs).ok()?;
                let n_visible = params.get::<RnnParams>().n_visible();
                Some([&outputs[..n_visible], &sample.inputs, &outputs[n_visible..]].concat())
            })
        },
        ..OpDef::new(BACKWARD).params::<RnnParams>()
    }
}

fn samples() -> Vec<Sample> {
    let of = |name, mode, size, more: [(&str, &str); 2], data: &[usize]| {
        let attrs = [("state_size", size), ("mode", mode), ("num_layers", more[0].1), more[1]];
        let parsed = define().parse(&attrs.into_iter().collect());
        let params = parsed.as_ref().map(|params| params.get::<RnnParams>().clone());
        let Ok(params) = params else { return Sample::new(name, attrs, &[data]) };
        let layers = params.num_layers as usize * params.n_directions();
        let n = params.n_parameters(data[2]).unwrap_or(0);
        let (state, cell) = ([layers, data[1], params.n_state()], [layers, data[1], params.state_size as usize]);
        let mut shapes: Vec<&[usize]> = vec![data, std::slice::from_ref(&n), &state];
        if params.is_lstm() {
            shapes.push(&cell);
        }
        let lengths = [data[1]];
        if params.use_sequence_length {
            shapes.push(&lengths);
        }
        let sample = Sample::new(name, attrs, &shapes);
        match params.use_sequence_length {
            true => {
                sample.fill(shapes.len() - 1, Fill::Integers(1, data[0] as i64 + 1)).dtype(shapes.len() - 1, DType::I32)
            }
            false => sample,
        }
    };
    let (states, both) = (("state_outputs", "True"), ("bidirectional", "True"));
    let layers = |n| ("num_layers", n);
    vec![
        of("tanh", "rnn_tanh", "3", [layers("1"), states], &[3, 2, 2]),
        of("relu", "rnn_relu", "2", [layers("2"), both], &[2, 2, 3]),
        of("lstm", "lstm", "3", [layers("2"), states], &[3, 2, 2]),
        of("gru", "gru", "2", [layers("1"), both], &[3, 2, 2]),
        of("lengths", "lstm", "2", [layers("1"), ("use_sequence_length", "True")], &[4, 3, 2]),
        of("projection", "lstm", "3", [layers("1"), ("projection_size", "2")], &[2, 2, 2]),
        of("empty", "gru", "2", [layers("1"), states], &[2, 0, 2]),
    ]
}
