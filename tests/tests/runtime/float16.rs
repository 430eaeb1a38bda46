//! Tests of networks in float16, as MXNet's `get_symbol(dtype='float16')` builds them: parameters are stored in float16, and
//! float32 kernels compute.

use crate::random;
use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::exec::{BindOptions, Executor, plan_graph};
use mxrs::graph::{Graph, NameManager, Symbol, SymbolCall};
use mxrs::models::Initializer;
use mxrs::types::{DType, Shape};

const REFERENCE_ALONE: Option<&str> = Some("reference");

fn runtime(only: Option<&str>) -> Runtime {
    let builder = Runtime::builder().env(&MapSource::new([("OMP_NUM_THREADS", "2")]));
    only.into_iter().fold(builder, |builder, name| builder.only_backend(name)).build().unwrap()
}

/// Binds a network to one image and runs it, with random parameters that are the same for each type up to rounding.
fn bound(runtime: &Runtime, graph: &Graph, image: [usize; 3]) -> Executor {
    random::bound(runtime, graph, image, |name: &str, shape: &Shape| {
        let init = graph.find(name).and_then(|id| graph.node(id).attrs.get("__init__"));
        let init = if name == "data" { Some("[\"uniform\", {\"scale\": 1.0}]") } else { init };
        Initializer::xavier(2.0).values(name, init, shape, 7).unwrap()
    })
}

/// The probabilities, and the logits shifted so that their mean is 0.
fn answers(executor: &Executor) -> (Vec<f32>, Vec<f32>) {
    let probabilities = executor.outputs()[0].to_vec::<f32>().unwrap();
    let logs: Vec<f32> = probabilities.iter().map(|p| p.ln()).collect();
    let mean = logs.iter().sum::<f32>() / logs.len() as f32;
    (probabilities, logs.iter().map(|x| x - mean).collect())
}

fn compare(name: &str, image: [usize; 3]) {
    let runtime = runtime(None);
    let (short, wide) = (random::graph(name, DType::F16, image), random::graph(name, DType::F32, image));
    let (short, wide) = (bound(&runtime, &short, image), bound(&runtime, &wide, image));
    let weights = short.arrays().iter().filter(|(name, _)| name.ends_with("weight"));
    assert!(weights.clone().count() > 3 && weights.clone().all(|(_, array)| array.dtype() == DType::F16), "{name}");
    let states = short.arrays().iter().filter(|(name, _)| name.contains("moving"));
    assert!(states.clone().all(|(_, array)| array.dtype() == DType::F32), "{name}");
    let ((got, got_logits), (want, want_logits)) = (answers(&short), answers(&wide));
    assert_ne!(got, want, "{name}: weights were not rounded");
    assert!(want.iter().all(|p| (1e-6..0.9).contains(p)), "{name}: answers that show little: {want:?}");
    for (got, want) in got.iter().zip(&want) {
        assert!((got - want).abs() <= 1e-2 * want + 1e-3, "{name}: {got} for {want}");
    }
    for (got, want) in got_logits.iter().zip(&want_logits) {
        assert!((got - want).abs() <= 2e-2, "{name}: logit {got} for {want}");
    }
    // A forward pass in float16 runs the same kernels as one in float32, and at most one more, which converts the data.
    let ((n_short, short), (n_wide, wide)) = (random::work(&short), random::work(&wide));
    assert_eq!(short, wide, "{name}");
    assert!(n_short <= n_wide + 1, "{name}: {n_short} conversions");
}

#[test]
fn alexnet_in_float16_answers_as_in_float32_with_the_same_kernels() {
    compare("alexnet", [3, 67, 67]);
}

#[test]
fn resnet_in_float16_answers_as_in_float32_with_the_same_kernels() {
    compare("resnet-50", [3, 33, 33]);
}

#[test]
fn inception_in_float16_answers_as_in_float32_with_the_same_kernels() {
    compare("inception-bn", [3, 28, 28]);
}

/// A graph that casts `data` to float16 and applies a layer. Its heads are the result in float16, the result in float32, and
/// the cast data in float32.
fn small(runtime: &Runtime) -> Graph {
    let mut names = NameManager::new();
    let mut call = |op: &str, name: &str, attrs: &[(&str, &str)], inputs: &[&Symbol]| {
        let call = SymbolCall::new(runtime.ops().get(op).unwrap()).name(name).inputs(inputs.iter().copied());
        attrs.iter().fold(call, |call, (key, value)| call.attr(*key, value)).build(&mut names).unwrap()
    };
    let data = Symbol::variable("data");
    let short = call("Cast", "short", &[("dtype", "float16")], &[&data]);
    let layer = call("FullyConnected", "layer", &[("num_hidden", "8")], &[&short]);
    let relu = call("Activation", "relu", &[("act_type", "relu")], &[&layer]);
    let wide = call("Cast", "wide", &[("dtype", "float32")], &[&relu]);
    let data_again = call("Cast", "again", &[("dtype", "float32")], &[&short]);
    Symbol::group([&relu, &wide, &data_again]).graph().unwrap()
}

#[test]
fn heads_and_conversions_keep_their_types_and_roundings() {
    let run = |only: Option<&str>| {
        let runtime = runtime(only);
        let executor = bound(&runtime, &small(&runtime), [1, 2, 3]);
        // The first number is not representable in float16, the second is too large for it.
        let data = [1.0f32 + 1.0 / 4096.0, 1e6, -0.25, 3.0, 0.1, -2.0];
        executor.argument("data").unwrap().copy_from(&data).unwrap();
        executor.forward().unwrap();
        assert_eq!(executor.output_names(), ["relu_output", "wide_output", "again_output"]);
        executor
    };
    for only in [None, REFERENCE_ALONE] {
        let executor = run(only);
        let types: Vec<DType> = executor.outputs().iter().map(|output| output.dtype()).collect();
        assert_eq!(types, [DType::F16, DType::F32, DType::F32]);
        let again = executor.outputs()[2].to_vec::<f32>().unwrap();
        assert_eq!(again[..4], [1.0, f32::INFINITY, -0.25, 3.0], "{only:?}");
        // The float16 number nearest to 0.1 is 1638 / 16384.
        assert_eq!(again[4], 1638.0 / 16384.0);
        let report = executor.report().unwrap();
        let layer = report.steps.iter().find(|step| step.op.contains("ully")).unwrap();
        assert_eq!(layer.outputs[0].starts_with("float32"), only.is_none(), "{only:?}: {}", layer.outputs[0]);
    }
}

/// Planning without arrays must give the same memory plan as binding.
#[test]
fn a_dry_plan_is_the_same() {
    let runtime = runtime(None);
    let image = [3, 33, 33];
    let graph = random::graph("resnet-50", DType::F16, image);
    let executor = bound(&runtime, &graph, image);
    let options: BindOptions = runtime.bind_options();
    let planned = plan_graph(&graph, &[("data", [1, 3, 33, 33].into())], &options, false).unwrap();
    assert_eq!(planned.arena_bytes, executor.report().unwrap().arena_bytes);
}
