//! Tests of mixed precision: the rules are MXNet's, a step in 16 bits equals the step in float32 up to the type's rounding, and
//! parameters and gradients are stored in float32.

use crate::random::distance;
use mxrs::env::MapSource;
use mxrs::exec::{BindOptions, Executor, GradReq, GradRequests, StepReport};
use mxrs::graph::{Graph, autocast, infer_dtypes};
use mxrs::models::Initializer;
use mxrs::op::{Attrs, OpDef, Precision};
use mxrs::types::{DType, Shape};
use mxrs::{Model, Runtime};
use mxrs_processor::MatrixUnits;
use mxrs_tests::{digits, fixture};
use std::collections::{BTreeMap, BTreeSet};

/// Operators that move or drop elements. In mxrs they keep the type of their input. In MXNet's lists for bfloat16 they are
/// missing or among the float32 operators, and so are some of them in its lists for float16. So the test of the lists does
/// not compare these operators with MXNet's lists.
const MOVES: [&str; 52] = [
    "_copy",
    "_image_crop",
    "_image_flip_left_right",
    "_image_flip_top_bottom",
    "_npi_pad",
    "_copyto",
    "_CrossDeviceCopy",
    "_np_copy",
    "_np_diag",
    "_np_diagflat",
    "_np_diagonal",
    "_np_moveaxis",
    "_np_reshape",
    "_np_roll",
    "_np_squeeze",
    "_np_transpose",
    "_npi_flip",
    "_npi_rot90",
    "_npi_tril",
    "_npx_reshape",
    "batch_take",
    "BlockGrad",
    "broadcast_axis",
    "broadcast_like",
    "broadcast_to",
    "cast_storage",
    "depth_to_space",
    "diag",
    "Dropout",
    "Embedding",
    "expand_dims",
    "Flatten",
    "gather_nd",
    "im2col",
    "make_loss",
    "Pad",
    "repeat",
    "Reshape",
    "reverse",
    "SequenceLast",
    "SequenceMask",
    "SequenceReverse",
    "slice",
    "slice_axis",
    "slice_like",
    "SliceChannel",
    "space_to_depth",
    "squeeze",
    "SwapAxis",
    "take",
    "tile",
    "transpose",
];

/// The types of mixed precision.
const HALVES: [DType; 2] = [DType::BF16, DType::F16];

/// Lines of the recording from MXNet for a type, each as three words (`tests/mxnet/make_autocast.py`).
fn recorded(half: DType) -> Vec<[String; 3]> {
    let text = std::fs::read_to_string(fixture(&format!("autocast_{half}.txt"))).unwrap();
    let words = |line: &str| <[String; 3]>::try_from(line.split(' ').map(String::from).collect::<Vec<_>>()).unwrap();
    text.lines().map(words).collect()
}

/// Whether it makes no difference in which list an operator is. This is so if its calls have no inputs, if its inputs cannot
/// be of this type, or if it updates weights, because no network contains such a call. MXNet's lists for float16 contain
/// such operators "because they are irrelevant".
fn is_without_effect(op: &OpDef, half: DType) -> bool {
    let sample = (op.samples)().into_iter().next().unwrap();
    let params = op.parse(&sample.attrs).unwrap();
    op.n_inputs(&params) == 0 || !op.dtypes.contains(&half) || op.name.ends_with("_update")
}

#[test]
fn operators_are_in_mxnets_lists() {
    HALVES.into_iter().for_each(compare_lists);
}

fn compare_lists(half: DType) {
    let lists = recorded(half).into_iter().filter(|line| line[0] == "list");
    let listed: BTreeMap<String, String> = lists.map(|[_, op, what]| (op, what)).collect();
    let ops = mxrs::ops::catalog();
    let of = |op: &OpDef, attrs: &[(&str, &str)]| {
        let params = op.parse(&attrs.iter().copied().collect::<Attrs>()).unwrap();
        op.precision_in(&params, half)
    };
    let (mut n_checked, mut wrong) = (0, Vec::new());
    // Operators that others replace have no rule: mixed precision is applied to those that take their place.
    for op in ops.iter().filter(|op| !op.is_replaced()) {
        let names = std::iter::once(&op.name).chain(op.aliases);
        let lines: Vec<&str> = names.filter_map(|name| listed.get(*name)).map(String::as_str).collect();
        // The parameters of the first sample are used. Rules that depend on parameters are checked separately below.
        let sample = (op.samples)().into_iter().next().unwrap();
        let ours = op.precision_in(&op.parse(&sample.attrs).unwrap(), half);
        let expected = match lines.first() {
            _ if MOVES.contains(&op.name) => Precision::Follows,
            Some(&"short") => Precision::Short,
            Some(&"follows") => Precision::Follows,
            Some(&"widest") => Precision::Widest,
            Some(&"float32") => Precision::Float32,
            Some(&"conditional") if op.name == "LeakyReLU" => {
                assert_eq!(of(op, &[("act_type", "selu")]), Precision::Float32);
                assert_eq!(of(op, &[("act_type", "leaky")]), Precision::Follows);
                continue;
            }
            Some(&"conditional") => {
                assert_eq!(of(op, &[("act_type", "softrelu")]), Precision::Float32);
                assert_eq!(of(op, &[("act_type", "relu")]), Precision::Follows);
                continue;
            }
            // MXNet keeps operators that are in none of its lists in float32.
            _ => Precision::Float32,
        };
        // `elemwise_add` is an exception: its rule is `Widest`, although MXNet lists its alias `_add` under `follows`.
        let expected = if op.name == "elemwise_add" { Precision::Widest } else { expected };
        if ours != expected && !(half == DType::F16 && is_without_effect(op, half)) {
            wrong.push(format!("{}: {ours:?}, expected {expected:?} by {lines:?}", op.name));
        }
        n_checked += usize::from(!lines.is_empty());
    }
    assert!(wrong.is_empty(), "{half}: {wrong:#?}");
    assert!(n_checked > 40, "{n_checked} operators of {}", listed.len());
}

#[test]
fn calls_read_the_types_that_they_read_in_mxnet() {
    let ops = mxrs::ops::catalog();
    let runtime = Runtime::builder().env(&MapSource::empty()).only_backend("reference").build().unwrap();
    for (half, network) in HALVES.into_iter().flat_map(|half| ["lenet", "resnet8"].map(|network| (half, network))) {
        let graph = Model::load_graph(&runtime, digits(&format!("{network}-symbol.json"))).unwrap();
        let cast = autocast(&graph, &ops, half).unwrap();
        let types = infer_dtypes(&cast, [("data", DType::F32)], Some(DType::F32)).unwrap().complete(&cast).unwrap();
        let mut n = 0;
        for [_, call, wanted] in recorded(half).iter().filter(|line| line[0] == network) {
            let node = cast.node(cast.find(call).unwrap());
            if half == DType::F16 || !MOVES.contains(&node.op_name()) {
                assert_eq!(types[cast.entry_id(node.inputs[0]).index()].name(), wanted, "{half}, {network}: {call}");
                n += 1;
            }
        }
        assert!(n > 8);
        assert_eq!(cast.variables().len(), graph.variables().len());
        assert!(cast.variables().iter().all(|id| types[cast.output_id(*id, 0).index()] == DType::F32));
    }
}

/// Binds a network for the digits with random weights for training.
fn bound(runtime: &Runtime, network: &str, change: impl FnOnce(&mut BindOptions)) -> (Graph, Executor) {
    let graph = Model::load_graph(runtime, digits(&format!("{network}-symbol.json"))).unwrap();
    let mut options = runtime.bind_options();
    let unwanted = ["data", "softmax_label"];
    options.gradients =
        Some(unwanted.into_iter().fold(GradRequests::all(GradReq::Write), |r, n| r.with(n, GradReq::Null)));
    change(&mut options);
    let inputs = [("data", Shape::from([32, 1, 28, 28])), ("softmax_label", Shape::from([32]))];
    let executor = Executor::simple_bind(&graph, runtime.arrays(), &inputs, &options).unwrap();
    let xavier = Initializer::xavier(2.0);
    for (name, array) in executor.arrays() {
        let n = array.shape().n_elements();
        let values = match name.as_str() {
            // Smooth images, all different.
            "data" => (0..n).map(|i| ((i % 784) as f32 * 0.013 + (i / 784) as f32).sin()).collect(),
            "softmax_label" => (0..n).map(|i| (i % 10) as f32).collect(),
            _ => xavier.values(name, None, array.shape(), 7).unwrap(),
        };
        assert_eq!(array.dtype(), DType::F32, "{name}");
        array.copy_from(&values).unwrap();
    }
    (graph, executor)
}

/// Runs a training step and returns its output and gradients by name.
fn step(executor: &Executor) -> BTreeMap<String, Vec<f32>> {
    executor.forward_train().unwrap();
    executor.backward(&[]).unwrap();
    let named = executor.gradients().iter().map(|gradient| (gradient.name.clone(), &gradient.array));
    let named = named.chain([("output".to_owned(), &executor.outputs()[0])]);
    named.map(|(name, array)| (name, array.to_vec::<f32>().unwrap())).collect()
}

/// The largest allowed relative distance of a gradient from its float32 value. Rounding errors of 2^-9 switch ReLUs on and
/// off, which changes gradients far more than the errors themselves. PyTorch's autocast differs by 0.1 to 0.25 for weights of
/// convolutions in such a residual network, by up to 0.39 for offsets of normalizations, and by less than 0.01 after the last
/// normalization (`tests/pytorch/autocast_distance.py`). `bn_data_beta` has no limit: it adds a constant to all the data,
/// which the next normalization removes, so its gradient comes only from the borders of images.
fn tolerance(network: &str, name: &str) -> f64 {
    match (network, name) {
        (_, "output") | ("resnet8", "fc_weight" | "fc_bias") => 0.03,
        ("resnet8", "bn_data_beta") => f64::INFINITY,
        ("resnet8", _) => 0.5,
        // The network has eleven calls, each of which rounds, and none of which amplifies errors.
        _ => 4.0 * 11.0 / 512.0,
    }
}

#[test]
fn a_step_in_16_bits_is_the_step_in_float32_within_its_roundings() {
    let all = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let reference = Runtime::builder().env(&MapSource::empty()).only_backend("reference").build().unwrap();
    for (runtime, networks) in [(&all, &["lenet", "resnet8"][..]), (&reference, &["lenet"][..])] {
        for network in networks {
            let (_, full) = bound(runtime, network, |_| {});
            let want = step(&full);
            for half in HALVES {
                let (_, mixed) = bound(runtime, network, |options| options.autocast = Some(half));
                let got = step(&mixed);
                assert!(want.len() > 8 && want.keys().eq(got.keys()));
                for (name, want) in &want {
                    let off = distance(&got[name], want);
                    // The bound for bfloat16 is used for float16 too. float16 has 3 more bits, but small gradients lose some
                    // of them.
                    let most = tolerance(network, name);
                    assert!(off <= most, "{half}, {network}: {name} is off by {off:.2e}, more than {most:.2e}");
                }
                // Some value must differ by more than float32 rounding, or the step did not run in mixed precision.
                let is_rounded = |(name, got): (&String, &Vec<f32>)| distance(got, &want[name]) > 2e-5;
                assert!(got.iter().any(is_rounded), "{half}, {network}");
            }
        }
    }
}

#[test]
fn no_call_of_a_step_runs_on_the_reference_kernels() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    // oneDNN multiplies in bfloat16 only on processors with 512-bit vectors, mxrs itself only on matrix units.
    let has_onednn = runtime.backends().list().iter().any(|backend| backend.name() == "onednn");
    if MatrixUnits::request().is_none() && !(has_onednn && mxrs_processor::Feature::Avx512Core.is_there()) {
        eprintln!("skipped: needs matrix units, or oneDNN and a processor with 512-bit vectors");
        return;
    }
    for network in ["lenet", "resnet8"] {
        let (_, mixed) = bound(&runtime, network, |options| options.autocast = Some(DType::BF16));
        let steps = mixed.training_report().unwrap().steps;
        let slow: Vec<_> = steps.iter().filter(|step| step.backend == "reference").map(|step| &step.name).collect();
        assert!(slow.is_empty(), "{network}: {slow:?}");
        // The kernels convert gradients of weights themselves, so almost no separate conversions of these gradients are left.
        let casts = steps.iter().filter(|step| step.op == "_backward_cast").count();
        assert!(casts <= 2, "{network}: {casts} conversions of gradients");
    }
}

/// The convolutions of a step and their gradients: node, backend, type of the output. Leaves out the placeholders for
/// gradients that were not requested.
fn convolutions(executor: &Executor) -> BTreeSet<(String, &'static str, String)> {
    let is_one = |op: &str| op.contains("Convolution") && op != "_backward_Convolution_offset";
    let steps = executor.training_report().unwrap().steps.into_iter().filter(|step| is_one(&step.op));
    let dtype = |step: &StepReport| step.outputs[0].split(' ').next().unwrap_or_default().to_owned();
    steps.map(|step| (step.name.clone(), step.backend, dtype(&step))).collect()
}

/// Names of the steps that run on the reference kernels.
fn slow(executor: &Executor) -> BTreeSet<String> {
    let steps = executor.training_report().unwrap().steps.into_iter();
    steps.filter(|step| step.backend == "reference").map(|step| step.name).collect()
}

/// If a call of a step in float16 has no fast kernel, it runs in float32.
#[test]
fn a_step_in_float16_runs_on_reference_kernels_only_where_one_in_float32_does() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    for network in ["lenet", "resnet8"] {
        let [full, mixed] = [None, Some(DType::F16)].map(|autocast| {
            let (_, executor) = bound(&runtime, network, |options| options.autocast = autocast);
            slow(&executor)
        });
        assert!(mixed.is_subset(&full), "{network}: {:?}", mixed.difference(&full));
    }
}

/// Without oneDNN, and in bfloat16 without matrix units, a kernel for some of the 16-bit convolutions is missing, so all
/// convolutions run in float32.
#[test]
fn a_step_without_kernels_for_16_bits_is_on_those_for_float32() {
    let runtime = Runtime::builder().env(&MapSource::new([("MXNET_ONEDNN_ENABLED", "0")])).build().unwrap();
    let has_kernels = |half: DType| half == DType::BF16 && MatrixUnits::request().is_some();
    let halves = HALVES.into_iter().filter(|half| !has_kernels(*half));
    for (half, network) in halves.flat_map(|half| ["lenet", "resnet8"].map(|network| (half, network))) {
        let (_, full) = bound(&runtime, network, |_| {});
        let (_, mixed) = bound(&runtime, network, |options| options.autocast = Some(half));
        let (got, want) = (convolutions(&mixed), convolutions(&full));
        assert!(want.is_subset(&got), "{network}: {:?}", want.difference(&got));
        assert!(got.iter().all(|(_, _, dtype)| dtype == "float32"), "{network}: {got:?}");
        assert!(got.iter().any(|(_, backend, _)| *backend == "nnpack"), "{network}");
    }
}

#[test]
fn a_step_on_matrix_units_multiplies_in_bfloat16_and_sums_gradients_of_weights_in_float32() {
    if MatrixUnits::request().is_none() {
        eprintln!("skipped: needs matrix units");
        return;
    }
    let runtime = Runtime::builder().env(&MapSource::new([("MXNET_ONEDNN_ENABLED", "0")])).build().unwrap();
    for network in ["lenet", "resnet8"] {
        let (_, mixed) = bound(&runtime, network, |options| options.autocast = Some(DType::BF16));
        let steps = mixed.training_report().unwrap().steps;
        let products = |op: &str| op.contains("Convolution") || op.contains("FullyConnected");
        let mut n = 0;
        for step in steps.iter().filter(|step| products(&step.op) && !step.outputs.is_empty()) {
            let dtype = if step.op.ends_with("_weight") || step.op.ends_with("_bias") { "float32" } else { "bfloat16" };
            let made = step.outputs[0].split(' ').next().unwrap_or_default();
            assert_eq!((step.backend, made), ("nnpack", dtype), "{network}: {}", step.name);
            n += 1;
        }
        assert!(n > 8, "{network}: {n} products");
    }
}

#[test]
fn other_types_are_refused() {
    let runtime = Runtime::builder().env(&MapSource::empty()).only_backend("reference").build().unwrap();
    let graph = Model::load_graph(&runtime, digits("lenet-symbol.json")).unwrap();
    let options = BindOptions { autocast: Some(DType::I8), ..runtime.bind_options() };
    let inputs = [("data", Shape::from([2, 1, 28, 28]))];
    let error = Executor::simple_bind(&graph, runtime.arrays(), &inputs, &options).err().unwrap().to_string();
    assert!(error.contains("int8") && error.contains("bfloat16"), "{error}");
}
