//! Recurrent layers of ONNX. The expected numbers were computed with NumPy in float64 by the equations of ONNX's specification,
//! gate by gate.

mod common;

use common::{array, model, node, run, tensor};
use mxrs_format::onnx::{AttributeKind, AttributeProto, Dimension, ModelProto, ValueInfoProto};
use mxrs_onnx::{ImportOptions, import_with};
use mxrs_types::{DType, Shape};

/// Steps, sequences, features and hidden units.
const SIZES: [usize; 4] = [3, 2, 2, 2];

struct Case {
    op: &'static str,
    direction: &'static str,
    is_relu: bool,
    has_bias: bool,
    has_state: bool,
    /// The output, the last state and the last cell state.
    expected: [&'static [f64]; 3],
}

static CASES: [Case; 9] = [
    Case {
        op: "LSTM",
        direction: "forward",
        is_relu: false,
        has_bias: true,
        has_state: true,
        expected: [
            &[
                -0.1085478, 0.1407967, -0.2511668, -0.1232321, -0.3714974, 0.0605435, -0.3737618, -0.0057092,
                -0.3774871, -0.0255204, -0.4214794, -0.0422589,
            ],
            &[-0.3774871, -0.0255204, -0.4214794, -0.0422589],
            &[-0.564251, -0.0517772, -0.51778, -0.0704877],
        ],
    },
    Case {
        op: "LSTM",
        direction: "reverse",
        is_relu: false,
        has_bias: true,
        has_state: false,
        expected: [
            &[
                -0.3921964, 0.0294481, -0.2816164, -0.0416463, -0.4321558, -0.0347585, -0.3954277, 0.032132,
                -0.3188163, -0.0314264, -0.3555107, -0.0006847,
            ],
            &[-0.3921964, 0.0294481, -0.2816164, -0.0416463],
            &[-0.7494669, 0.0622728, -0.3093641, -0.0644884],
        ],
    },
    Case {
        op: "LSTM",
        direction: "bidirectional",
        is_relu: false,
        has_bias: false,
        has_state: true,
        expected: [
            &[
                0.0321862, 0.1010109, 0.1167341, -0.1159289, 0.1294245, -0.1119661, 0.1078782, -0.0800158, 0.1146069,
                0.0603528, -0.0519302, -0.0149991, -0.0943904, -0.1313351, 0.2183794, -0.0352299, -0.0176622,
                0.0026529, 0.0939758, -0.039858, -0.1140989, -0.1866662, 0.2090203, 0.0373869,
            ],
            &[-0.0176622, 0.0026529, 0.0939758, -0.039858, 0.1294245, -0.1119661, 0.1078782, -0.0800158],
            &[-0.0418626, 0.0055713, 0.1384426, -0.0735357, 0.2730485, -0.1663387, 0.2028056, -0.3005633],
        ],
    },
    Case {
        op: "GRU",
        direction: "forward",
        is_relu: false,
        has_bias: true,
        has_state: false,
        expected: [
            &[
                0.530029, -0.2448184, -0.0460747, -0.2775813, 0.502638, -0.2985456, 0.4867788, -0.2439476, 0.3752485,
                0.7149081, 0.4137967, -0.2895014,
            ],
            &[0.3752485, 0.7149081, 0.4137967, -0.2895014],
            &[],
        ],
    },
    Case {
        op: "GRU",
        direction: "reverse",
        is_relu: false,
        has_bias: false,
        has_state: true,
        expected: [
            &[
                0.1506173, -0.1032884, -0.3044924, -0.189135, -0.1613927, -0.0286787, -0.0396355, -0.3100279,
                -0.169675, 0.3725541, -0.513147, -0.40487,
            ],
            &[0.1506173, -0.1032884, -0.3044924, -0.189135],
            &[],
        ],
    },
    Case {
        op: "GRU",
        direction: "bidirectional",
        is_relu: false,
        has_bias: true,
        has_state: true,
        expected: [
            &[
                0.5490924, -0.2563906, -0.3659809, -0.0165139, 0.7232917, 0.5295846, 0.5904487, -0.1997942, 0.5120702,
                -0.2990689, 0.3943659, -0.220582, 0.5869388, 0.1825121, 0.6213977, 0.4453152, 0.3796626, 0.7143143,
                0.365268, -0.2811264, 0.5373069, 0.1944319, 0.3935925, -0.0028627,
            ],
            &[0.3796626, 0.7143143, 0.365268, -0.2811264, 0.7232917, 0.5295846, 0.5904487, -0.1997942],
            &[],
        ],
    },
    Case {
        op: "RNN",
        direction: "forward",
        is_relu: false,
        has_bias: false,
        has_state: false,
        expected: [
            &[
                -0.0044377, 0.5826229, 0.1220061, -0.7147856, 0.3370511, -0.2762937, -0.2383027, 0.5143464, -0.1226214,
                -0.1832475, 0.1463998, -0.4796411,
            ],
            &[-0.1226214, -0.1832475, 0.1463998, -0.4796411],
            &[],
        ],
    },
    Case {
        op: "RNN",
        direction: "bidirectional",
        is_relu: false,
        has_bias: true,
        has_state: true,
        expected: [
            &[
                0.0195991, 0.2694628, -0.5613581, -0.8699142, -0.5866082, -0.8277032, 0.9593834, -0.8962459, 0.3782345,
                -0.5834023, -0.5920867, 0.03275, 0.4947276, -0.9056765, -0.5802243, -0.6862998, -0.0593094, -0.51295,
                -0.1867378, -0.7437326, -0.8128443, -0.0159973, 0.4723789, -0.4893407,
            ],
            &[-0.0593094, -0.51295, -0.1867378, -0.7437326, -0.5866082, -0.8277032, 0.9593834, -0.8962459],
            &[],
        ],
    },
    Case {
        op: "RNN",
        direction: "reverse",
        is_relu: true,
        has_bias: true,
        has_state: true,
        expected: [
            &[0.376619, 0.2895039, 0.4793028, 0.0, 0.2496717, 0.0, 0.1943676, 0.0398769, 0.0, 0.0, 0.0, 0.0],
            &[0.376619, 0.2895039, 0.4793028, 0.0],
            &[],
        ],
    },
];

/// Numbers that a script in another language can compute too.
fn numbers(seed: usize, n: usize) -> Vec<f64> {
    (0..n).map(|i| ((i + seed * 31) * 7919 % 1009) as f64 / 1009.0 * 2.0 - 1.0).collect()
}

fn texts(name: &str, values: &[&'static str]) -> AttributeProto {
    let strings = values.iter().map(|text| text.as_bytes().into()).collect();
    AttributeProto { name: name.into(), strings, kind: AttributeKind::Strings as i32, ..AttributeProto::default() }
}

impl Case {
    fn n_directions(&self) -> usize {
        if self.direction == "bidirectional" { 2 } else { 1 }
    }

    /// Names, shapes and numbers of the inputs. An input that the case does not have has an empty name.
    fn inputs(&self) -> Vec<(&'static str, Vec<usize>, Vec<f64>)> {
        let [steps, batch, features, hidden] = SIZES;
        let rows = hidden * [("LSTM", 4), ("GRU", 3), ("RNN", 1)].iter().find(|(op, _)| *op == self.op).unwrap().1;
        let n = self.n_directions();
        let has_cell = self.has_state && self.op == "LSTM";
        let all = [
            ("x", true, vec![steps, batch, features]),
            ("w", true, vec![n, rows, features]),
            ("r", true, vec![n, rows, hidden]),
            ("b", self.has_bias, vec![n, 2 * rows]),
            ("lengths", false, vec![batch]),
            ("h", self.has_state, vec![n, batch, hidden]),
            ("c", has_cell, vec![n, batch, hidden]),
        ];
        // The numbers of the lengths do not count: the seed of the states is 5, and that of the cell states 6.
        let seeds = [1, 2, 3, 4, 0, 5, 6];
        let one = |((name, is_given, shape), seed): ((&'static str, bool, Vec<usize>), usize)| {
            let n = shape.iter().product();
            (if is_given { name } else { "" }, shape, numbers(seed, n))
        };
        all.into_iter().zip(seeds).map(one).collect()
    }

    fn attributes(&self) -> Vec<AttributeProto> {
        let mut attributes = vec![AttributeProto::int("hidden_size", SIZES[3] as i64)];
        // The direction `forward` is the default.
        if self.direction != "forward" {
            attributes.push(AttributeProto::text("direction", self.direction));
        }
        if self.op == "GRU" {
            attributes.push(AttributeProto::int("linear_before_reset", 1));
        }
        if self.is_relu {
            attributes.push(texts("activations", &["Relu"]));
        }
        attributes
    }

    /// A model of the node. Its first input is fed, and the others too if `feeds_all`. If `open`, the number of sequences is not
    /// known to the model.
    fn model(&self, feeds_all: bool, open: bool, more: Vec<AttributeProto>) -> ModelProto {
        let inputs = self.inputs();
        let names: Vec<&str> = inputs.iter().map(|(name, ..)| *name).collect();
        let outputs: &[&str] = if self.op == "LSTM" { &["y", "last", "last_cell"] } else { &["y", "last"] };
        let nodes = vec![node(self.op, &names, outputs, [self.attributes(), more].concat())];
        let given = || inputs.iter().filter(|(name, ..)| !name.is_empty());
        let value = |(name, shape, _): &(&'static str, Vec<usize>, Vec<f64>)| {
            if open && *name == "x" {
                let dims = vec![Dimension::size(shape[0]), Dimension::named("batch"), Dimension::size(shape[2])];
                return ValueInfoProto::with_dims(*name, DType::F32, dims);
            }
            ValueInfoProto::of(*name, DType::F32, &Shape::from(&shape[..]))
        };
        let constant = |(name, shape, values): &(&'static str, Vec<usize>, Vec<f64>)| {
            (name.to_string(), tensor(DType::F32, shape, values))
        };
        let n_fed = if feeds_all { usize::MAX } else { 1 };
        model(14, given().take(n_fed).map(value).collect(), given().skip(n_fed).map(constant), nodes)
    }

    fn check(&self, feeds_all: bool, open: bool) {
        let what = format!("{} {} {feeds_all} {open}", self.op, self.direction);
        let model = self.model(feeds_all, open, Vec::new());
        let imported = import_with(&model, &ImportOptions::default()).unwrap_or_else(|e| panic!("{what}: {e}"));
        let is_fed = |name: &str| imported.inputs.iter().any(|input| input.name == name);
        let fed = self.inputs().into_iter().filter(|(name, ..)| is_fed(name));
        let fed = fed.map(|(name, shape, values)| (name.to_owned(), array(DType::F32, &shape, &values)));
        let got = run(&imported, fed);
        let [steps, batch, _, hidden] = SIZES;
        let n = self.n_directions();
        let shapes = [vec![steps, n, batch, hidden], vec![n, batch, hidden], vec![n, batch, hidden]];
        assert_eq!(got.len(), if self.op == "LSTM" { 3 } else { 2 }, "{what}");
        for (i, ((desc, values), shape)) in got.iter().zip(shapes).enumerate() {
            assert_eq!(desc.shape[..], shape[..], "{what}: output {i}");
            assert_eq!(values.len(), self.expected[i].len(), "{what}: output {i}");
            for (got, want) in values.iter().zip(self.expected[i]) {
                assert!((got - want).abs() < 1e-6, "{what}: output {i}: {got}, not {want} in {values:?}");
            }
        }
    }
}

#[test]
fn layers_compute_what_onnx_defines() {
    for case in &CASES {
        case.check(true, false);
        case.check(false, false);
    }
}

#[test]
fn the_number_of_sequences_may_be_open() {
    for case in CASES.iter().filter(|case| !case.has_state) {
        case.check(false, true);
    }
}

#[test]
fn lengths_of_whole_sequences_are_read() {
    let case = &CASES[0];
    for (lengths, is_read) in [([3.0, 3.0], true), ([3.0, 2.0], false)] {
        let mut model = case.model(false, false, Vec::new());
        let graph = model.graph.as_mut().unwrap();
        graph.node[0].input[4] = "lengths".into();
        let lengths = tensor(DType::I32, &[2], &lengths);
        graph.initializer.push(mxrs_format::onnx::from_tensor("lengths", lengths).unwrap());
        assert_eq!(import_with(&model, &ImportOptions::default()).is_ok(), is_read);
    }
}

#[test]
fn outputs_may_be_left_out() {
    let case = &CASES[0];
    let mut model = case.model(false, false, Vec::new());
    let graph = model.graph.as_mut().unwrap();
    graph.node[0].output[0].clear();
    graph.output.remove(0);
    let imported = import_with(&model, &ImportOptions::default()).unwrap();
    let (name, shape, values) = case.inputs().swap_remove(0);
    let got = run(&imported, [(name.to_owned(), array(DType::F32, &shape, &values))]);
    assert_eq!(got.len(), 2);
    for ((desc, values), expected) in got.iter().zip(&case.expected[1..]) {
        assert_eq!((&desc.shape[..], values.len()), (&[1, 2, 2][..], expected.len()));
        for (got, want) in values.iter().zip(*expected) {
            assert!((got - want).abs() < 1e-6, "{got}, not {want} in {values:?}");
        }
    }
}

#[test]
fn what_has_no_counterpart_is_refused() {
    let [lstm, gru, rnn] = [0, 3, 6].map(|i| &CASES[i]);
    let refused = |case: &Case, attribute: AttributeProto, words: &str| {
        let mut model = case.model(false, false, Vec::new());
        let attributes = &mut model.graph.as_mut().unwrap().node[0].attribute;
        attributes.retain(|other| other.name != attribute.name);
        attributes.push(attribute);
        let error = import_with(&model, &ImportOptions::default()).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    };
    refused(lstm, texts("activations", &["Sigmoid", "Tanh", "Relu"]), "Sigmoid, Tanh, Relu");
    refused(lstm, AttributeProto::int("input_forget", 1), "input_forget");
    refused(lstm, AttributeProto::float("clip", 2.0), "clip");
    refused(lstm, AttributeProto::int("layout", 1), "layout");
    refused(lstm, AttributeProto::int("hidden_size", -1), "-1 hidden units");
    refused(lstm, AttributeProto::text("direction", "backward"), "direction backward");
    refused(gru, AttributeProto::int("linear_before_reset", 0), "linear_before_reset");
    refused(gru, texts("activations", &["HardSigmoid", "Tanh"]), "HardSigmoid");
    refused(rnn, texts("activations", &["Affine"]), "Affine");
    // Weights of other sizes would be cut into gates that are not there.
    refused(lstm, AttributeProto::int("hidden_size", 1), "input 1 of shape (1, 8, 2), expected (1, 4, ?)");
    refused(&CASES[2], AttributeProto::text("direction", "forward"), "input 1 of shape (2, 8, 2), expected (1, 8, ?)");
    // The usual functions may be named.
    let usual = vec![texts("activations", &["Sigmoid", "Tanh", "Tanh"])];
    assert!(import_with(&lstm.model(false, false, usual), &ImportOptions::default()).is_ok());
}
