//! Recurrent layers and their gradients against the reference kernels, which compute in float64: all modes, layers and
//! directions, hidden units that fill whole blocks and that do not, on every instruction set and several numbers of threads.

use mxrs_backend_nnpack::{Nnpack, NnpackOptions};
use mxrs_op::{Attrs, Backend, Fill, Sample};
use mxrs_ops::recurrent::rnn::RnnParams;
use mxrs_processor::Isa;
use mxrs_testkit::conformance::{Prepared, Runner, team};
use mxrs_types::DType;

const MODES: [&str; 4] = ["rnn_relu", "rnn_tanh", "lstm", "gru"];
const FEATURES: usize = 7;

/// A call of `RNN`.
#[derive(Clone, Copy, Debug)]
struct Case {
    mode: &'static str,
    steps: usize,
    batch: usize,
    hidden: usize,
    layers: usize,
    directions: usize,
    has_states: bool,
}

impl Case {
    fn attrs(&self, more: &[(&str, &str)]) -> Attrs {
        let flag = |value: bool| if value { "True" } else { "False" };
        let (hidden, layers) = (self.hidden.to_string(), self.layers.to_string());
        let attrs = [
            ("mode", self.mode),
            ("state_size", hidden.as_str()),
            ("num_layers", layers.as_str()),
            ("bidirectional", flag(self.directions == 2)),
            ("state_outputs", flag(self.has_states)),
        ];
        attrs.iter().chain(more).copied().collect()
    }

    /// The call, or its gradient.
    fn sample(&self, is_gradient: bool, more: &[(&str, &str)]) -> Sample {
        let attrs = self.attrs(more);
        let ops = mxrs_ops::catalog();
        let params = ops.get("RNN").and_then(|op| op.parse(&attrs)).expect("the attributes are right");
        let n = params.get::<RnnParams>().n_parameters(FEATURES).expect("it does not overflow");
        let output = [self.steps, self.batch, self.directions * self.hidden];
        let states = [self.layers * self.directions, self.batch, self.hidden];
        let (data, n_parameters) = ([self.steps, self.batch, FEATURES], [n]);
        let n_states = if self.mode == "lstm" { 2 } else { 1 };
        let mut shapes: Vec<&[usize]> = vec![&output[..]];
        shapes.extend(vec![&states[..]; if self.has_states { n_states } else { 0 }]);
        let first = if is_gradient { shapes.len() } else { 0 };
        if !is_gradient {
            shapes.clear();
        }
        shapes.extend([&data[..], &n_parameters[..]]);
        shapes.extend(vec![&states[..]; n_states]);
        let none: [(&str, &str); 0] = [];
        let bound = 1.0 / (self.hidden as f64).sqrt();
        let sample = Sample { attrs, ..Sample::new("recurrent", none, &shapes) };
        let sample = sample.fill(first + 1, Fill::Uniform(-bound, bound));
        (0..first).fold(sample, |sample, i| sample.fill(i, Fill::Uniform(-0.2, 0.2)))
    }

    /// Compares the call and its gradient with the reference, with every request.
    fn check(&self) {
        let ops = mxrs_ops::catalog();
        for (name, is_gradient) in [("RNN", false), ("_backward_RNN", true)] {
            let op = ops.get(name).expect("it is in the catalog");
            let sample = self.sample(is_gradient, &[]);
            let prepared = Prepared::new(op, &sample, DType::F32).unwrap_or_else(|error| panic!("{self:?}: {error}"));
            let is_constant = vec![false; prepared.inputs.len()];
            for (isa, threads) in Isa::available().into_iter().flat_map(|isa| [1, 2, 3].map(|threads| (isa, threads))) {
                let team = team(threads);
                let backend = Nnpack::new(&team, NnpackOptions { isa, ..NnpackOptions::default() });
                let runner = Runner::new(&*backend, op, &prepared, &is_constant, &team);
                let checked = runner.and_then(|runner| {
                    let kernel = runner.kernel_name();
                    assert!(kernel.starts_with(&format!("nnpack:{}", self.mode)), "{kernel}");
                    runner.check_all(&team)
                });
                checked.unwrap_or_else(|what| panic!("{name} {self:?}, {}, {threads} threads: {what}", isa.name()));
            }
        }
    }
}

#[test]
fn small_layers_agree_with_the_reference() {
    for mode in MODES {
        for (layers, directions) in [(1, 1), (1, 2), (2, 1), (3, 2)] {
            for (steps, batch) in [(1, 1), (1, 3), (5, 1), (5, 3)] {
                for hidden in [5, 16, 33] {
                    // Both ways to call an operator with and without states are tested with every mode.
                    let has_states = (steps + batch + hidden) % 2 == 0;
                    Case { mode, steps, batch, hidden, layers, directions, has_states }.check();
                }
            }
        }
    }
}

/// Steps so large that threads share them, with several pieces of the state.
#[test]
fn shared_steps_agree_with_the_reference() {
    for (mode, directions) in [("lstm", 1), ("lstm", 2), ("gru", 2)] {
        Case { mode, steps: 3, batch: 3, hidden: 130, layers: 2, directions, has_states: true }.check();
    }
    // More sequences than a product has rows, and rows of states that compete for the same sets of a cache.
    Case { mode: "gru", steps: 2, batch: 17, hidden: 512, layers: 1, directions: 1, has_states: true }.check();
}

#[test]
fn calls_without_a_kernel_are_refused_with_a_reason() {
    let ops = mxrs_ops::catalog();
    let op = ops.get("RNN").expect("it is in the catalog");
    let team = team(1);
    let backend = Nnpack::new(&team, NnpackOptions::default());
    let case = Case { mode: "lstm", steps: 2, batch: 2, hidden: 5, layers: 2, directions: 1, has_states: false };
    let clip = [("lstm_state_clip_min", "-1"), ("lstm_state_clip_max", "1")];
    let drops = [("p", "0.5")];
    for (more, is_train, reason) in
        [(&clip[..], false, Some("bounds")), (&drops[..], true, Some("dropout")), (&drops[..], false, None)]
    {
        let sample = Sample { is_train, ..case.sample(false, more) };
        let prepared = Prepared::new(op, &sample, DType::F32).expect("the reference runs it");
        let is_constant = vec![false; prepared.inputs.len()];
        match (backend.offer(&prepared.call(op, &is_constant)), reason) {
            // Nothing is dropped at inference; the kernel also writes the hidden output of factors.
            (Ok(_), None) => {
                let runner = Runner::new(&*backend, op, &prepared, &is_constant, &team);
                runner.and_then(|runner| runner.check_all(&team)).unwrap_or_else(|what| panic!("{more:?}: {what}"));
            }
            (Err(got), Some(reason)) => assert!(got.contains(reason), "{got}"),
            (got, _) => panic!("{more:?}: {got:?}"),
        }
    }
}
