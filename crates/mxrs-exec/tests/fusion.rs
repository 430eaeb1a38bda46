//! Tests fusion of pointwise calls in bound graphs: fewer kernels, no more bytes, the same bits on one backend.

mod common;

use common::{Net, context, numbers, options};
use mxrs_engine::EngineKind;
use mxrs_exec::{
    BackwardOptions, BindOptions, CachedOp, CachedOpFlags, DryGraph, Executor, ExecutorReport, GradReq, GradRequests,
    Imperative, Recompute, autograd,
};
use mxrs_graph::{Graph, Symbol};
use mxrs_ndarray::NdArray;
use mxrs_op::{Answer, Backend, FUSED_OP, Fused, Kernel, Offer, OpCall, PlannedKernel, ReferenceBackend, TensorDesc};
use mxrs_testkit::Seeded;
use mxrs_types::{Layout, Result, Shape};
use std::sync::Arc;

/// A backend that runs fused calls by the reference kernels, in the layout `wants`. It refuses fused calls that contain the
/// operator `refused`.
#[derive(Default)]
struct Fusing {
    refused: &'static str,
    wants: Layout,
}

impl Backend for Fusing {
    fn name(&self) -> &'static str {
        "fusing"
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        if call.op.name != FUSED_OP {
            return Err("fused calls only".into());
        }
        if call.params.get::<Fused>().calls.iter().any(|call| call.op.name == self.refused) {
            return Err("refused".into());
        }
        Ok(Offer::new(1e-6, move || {
            let planned = ReferenceBackend.plan(call)?;
            Ok(PlannedKernel { input_layouts: vec![self.wants.clone(); call.inputs.len()], ..planned })
        }))
    }
    fn reorder(&self, _: &TensorDesc, _: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok(None)
    }
}

fn fusing(backend: Fusing) -> BindOptions {
    let mut options = options();
    options.backends.push(Arc::new(backend));
    options
}

fn training(options: BindOptions, request: GradReq) -> BindOptions {
    BindOptions { gradients: Some(GradRequests::all(request)), ..options }
}

/// Five pointwise calls in a row.
fn chain() -> Graph {
    let mut net = Net::new();
    let mut x = Symbol::variable("data");
    for op in ["sigmoid", "square", "tanh", "relu", "negative"] {
        x = net.call(op, &[&x]);
    }
    x.graph().expect("a graph")
}

const IMAGES: [usize; 4] = [2, 3, 4, 4];

/// A random network on `data` [2, 3, 4, 4]: pointwise calls of several types among convolutions, normalizations with
/// auxiliary states, softmax and dropout, with shared operands and several outputs.
fn random_net(seed: u64) -> Graph {
    let (mut net, mut random) = (Net::new(), Seeded::new(seed));
    let mut made = vec![(Symbol::variable("data"), "float32")];
    for _ in 0..6 + random.integer(0, 30) {
        let mut pick = |made: &[(Symbol, &'static str)]| {
            let n = made.len() as i64;
            // One of the last four values.
            made[(n - 1 - random.integer(0, n.min(4))) as usize].clone()
        };
        let ((a, dtype), (b, other)) = (pick(&made), pick(&made));
        let cast = |net: &mut Net, x: &Symbol, to| net.call_with("Cast", &[("dtype", to)], &[x]);
        let alike = |net: &mut Net, x: &Symbol, from, to| if from == to { x.clone() } else { cast(net, x, to) };
        let made_now = match random.integer(0, 16) {
            0 => (net.call("sigmoid", &[&a]), dtype),
            1 => (net.call_with("Activation", &[("act_type", "softrelu")], &[&a]), dtype),
            2 => (net.call("relu", &[&a]), dtype),
            3 => (net.call("tanh", &[&a]), dtype),
            4 => (net.call_with("_mul_scalar", &[("scalar", "0.75")], &[&a]), dtype),
            5 => (net.call_with("clip", &[("a_min", "-0.5"), ("a_max", "1.5")], &[&a]), dtype),
            6 | 7 => {
                let b = alike(&mut net, &b, other, dtype);
                (net.call("elemwise_add", &[&a, &b]), dtype)
            }
            8 => {
                let b = alike(&mut net, &b, other, dtype);
                let bounded = net.call("tanh", &[&b]);
                (net.call("elemwise_mul", &[&a, &bounded]), dtype)
            }
            9 => (cast(&mut net, &a, "float64"), "float64"),
            10 => (cast(&mut net, &a, "float16"), "float16"),
            11 => {
                let b = alike(&mut net, &b, other, dtype);
                (net.call_with("add_n", &[("num_args", "3")], &[&a, &b, &a]), dtype)
            }
            12 => (net.call_with("softmax", &[("axis", "1")], &[&a]), dtype),
            13 => {
                let a = alike(&mut net, &a, dtype, "float32");
                (net.call_with("BatchNorm", &[("fix_gamma", "False")], &[&a]), "float32")
            }
            14 => {
                let a = alike(&mut net, &a, dtype, "float32");
                let attrs = [("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("num_filter", "3")];
                (net.call_with("Convolution", &attrs, &[&a]), "float32")
            }
            _ => (net.call_with("Dropout", &[("p", "0.25")], &[&a]), dtype),
        };
        made.push(made_now);
    }
    let n = made.len();
    let head = |i: &usize| match &made[*i] {
        (x, "float32") => x.clone(),
        (x, _) => net.call_with("Cast", &[("dtype", "float32")], &[x]),
    };
    let heads: Vec<Symbol> = [n - 1, n / 2].iter().map(head).collect();
    Symbol::group(&heads).graph().expect("a graph")
}

/// Names and bits of all arrays after the runs.
type Left = Vec<(String, Vec<u32>)>;

fn bits(name: &str, array: &NdArray) -> (String, Vec<u32>) {
    (name.to_owned(), array.to_vec::<f32>().expect("a computed array").into_iter().map(f32::to_bits).collect())
}

fn fill(arrays: &[(String, NdArray)]) {
    for (seed, (name, array)) in arrays.iter().enumerate() {
        let values: Vec<f32> = numbers(array.shape().n_elements(), seed as u64 + 1).iter().map(|v| *v as f32).collect();
        let values = if name.ends_with("var") { values.iter().map(|v| v.abs()).collect() } else { values };
        array.copy_from(&values).expect("the shape of the array");
    }
}

/// Runs inference once and training twice, and returns the bits of all arrays with the reports.
fn runs(graph: &Graph, shape: &Shape, options: &BindOptions) -> (Left, [ExecutorReport; 2]) {
    let context = context(EngineKind::ThreadedPerDevice, 2);
    context.random().seed(3);
    let executor = Executor::simple_bind(graph, &context, &[("data", shape.clone())], options).expect("it binds");
    fill(executor.arrays());
    let mut left = Left::new();
    let mut keep = || left.extend(executor.outputs().iter().zip(executor.output_names()).map(|(a, n)| bits(n, a)));
    executor.forward().expect("it runs");
    keep();
    for _ in 0..2 {
        executor.forward_train().expect("it runs");
        executor.backward(executor.outputs()).expect("it runs");
        keep();
    }
    left.extend(executor.gradients().iter().map(|g| bits(&g.name, &g.array)));
    left.extend(executor.arrays().iter().map(|(n, a)| bits(n, a)));
    let reports = [executor.report(), executor.training_report()];
    (left, reports.map(|report| report.expect("bound for both")))
}

/// D86 (`MXNET_USE_FUSION`): a chain of five pointwise calls becomes one fused call with equal results. It stays as it is if
/// fusion is off, or if only the reference backend would run the fused call.
#[test]
fn d86_a_chain_of_five_is_one_fused_call() {
    let (graph, shape) = (chain(), Shape::from([3, 5]));
    let (expected, off) =
        runs(&graph, &shape, &training(BindOptions { fuse: false, ..fusing(Fusing::default()) }, GradReq::Write));
    assert_eq!((off[0].n_fused(), off[0].steps.len()), (0, 5));
    let (found, on) = runs(&graph, &shape, &training(fusing(Fusing::default()), GradReq::Write));
    assert_eq!((on[0].n_fused(), on[0].n_fused_calls(), on[0].steps.len()), (1, 5, 1));
    assert_eq!(on[0].steps[0].backend, "fusing");
    assert!(found == expected);
    // Forward and gradient are fused separately (rule F3), so there are at least two fused calls.
    assert!(on[1].n_fused() >= 2 && on[1].steps.len() < off[1].steps.len(), "{:?}", on[1].steps);
    let (_, alone) = runs(&graph, &shape, &training(options(), GradReq::Write));
    assert_eq!((alone[0].n_fused(), alone[1].n_fused()), (0, 0), "the reference gains nothing by it");
}

/// Rules F2, F4, G14 and G3: for random networks fusion keeps all bits of outputs, gradients and states, uses fewer kernels
/// and needs no larger arena.
#[test]
fn f2_f4_g14_fusion_changes_no_bit() {
    let shape = Shape::from(IMAGES);
    let mut n_fused = 0;
    for seed in 0..24 {
        let graph = random_net(seed);
        let request = if seed % 3 == 0 { GradReq::Add } else { GradReq::Write };
        let recompute = if seed % 2 == 0 { Recompute::Off } else { Recompute::Mirror };
        let fused = BindOptions { recompute, ..training(fusing(Fusing::default()), request) };
        let plain = BindOptions { fuse: false, ..fused.clone() };
        let ((expected, off), (found, on)) = (runs(&graph, &shape, &plain), runs(&graph, &shape, &fused));
        for (found, expected) in found.iter().zip(&expected) {
            assert!(found == expected, "seed {seed}: {} differs", found.0);
        }
        for (on, off) in on.iter().zip(&off) {
            assert!(on.arena_bytes <= off.arena_bytes, "seed {seed}: {} of {} bytes", on.arena_bytes, off.arena_bytes);
            // Sums of two gradients that are made in place run no kernel. This comparison counts them as kernels
            // nevertheless, because they are calls of the plain graph.
            let n_kernels =
                |r: &ExecutorReport| r.steps.iter().filter(|s| s.kernel != "view").count() + r.inplace_adds.len();
            assert_eq!(n_kernels(on) + on.n_fused_calls() - on.n_fused(), n_kernels(off), "seed {seed}");
            n_fused += on.n_fused();
        }
    }
    assert!(n_fused > 80, "only {n_fused} fused calls in 48 programs");
}

/// A call that the backend refuses is not fused. The calls before it are fused, and so are the calls after it.
#[test]
fn calls_no_backend_fuses_stay_alone() {
    let (graph, shape) = (chain(), Shape::from([3, 5]));
    let options = fusing(Fusing { refused: "tanh", ..Fusing::default() });
    let planned = |options: &BindOptions| {
        DryGraph::new(&graph, &[("data", shape.clone())], options, false).unwrap().plan(&options.plan).unwrap()
    };
    let ops: Vec<String> = planned(&options).steps.into_iter().map(|s| s.op).collect();
    assert_eq!(ops, [FUSED_OP, "tanh", FUSED_OP]);
}

/// At inference, calls that depend on parameters only are computed once. They are not fused with calls that run in every
/// run.
#[test]
fn constants_wait_for_nothing() {
    let mut net = Net::new();
    let weight = net.call("sigmoid", &[&Symbol::variable("weight")]);
    let weight = net.call("tanh", &[&weight]);
    let data = net.call("relu", &[&Symbol::variable("data")]);
    let graph = net.call("elemwise_mul", &[&weight, &data]).graph().unwrap();
    let calls = |is_train: bool| -> Vec<(String, usize)> {
        let options = training(fusing(Fusing::default()), GradReq::Null);
        let dry = DryGraph::new(&graph, &[("data", [3, 5].into())], &options, is_train).unwrap();
        dry.plan(&options.plan).unwrap().steps.into_iter().map(|s| (s.op, s.n_calls)).collect()
    };
    assert_eq!(calls(false), [(FUSED_OP.into(), 2)]);
    assert_eq!(calls(true), [(FUSED_OP.into(), 4)], "a parameter changes from step to step");
}

/// Rule F4: calls are not fused if the fused kernel needs copies between layouts.
#[test]
fn f4_fusion_brings_no_copies_between_layouts() {
    let mut net = Net::new();
    let x = net.call("relu", &[&Symbol::variable("data")]);
    let graph = net.call("sigmoid", &[&x]).graph().unwrap();
    let planned = |wants: Layout| {
        let options = fusing(Fusing { wants, ..Fusing::default() });
        DryGraph::new(&graph, &[("data", IMAGES.into())], &options, false).unwrap().plan(&options.plan).unwrap()
    };
    let nhwc = Layout::Blocked {
        padded: IMAGES.iter().copied().collect(),
        strides: [48, 1, 12, 3].into_iter().collect(),
        blocks: Default::default(),
    };
    assert_eq!(planned(Layout::RowMajor).steps.len(), 1);
    assert_eq!(planned(nhwc).steps.iter().map(|s| s.op.as_str()).collect::<Vec<_>>(), ["relu", "sigmoid"]);
}

/// D86 (`MXNET_USE_FUSION`): cached graphs are fused too, whether calls are recorded or not.
#[test]
fn d86_cached_graphs_are_fused() {
    let graph = chain();
    let run = |fuse: bool, static_alloc: bool| {
        let context = context(EngineKind::ThreadedPerDevice, 2);
        let options = BindOptions { fuse, ..fusing(Fusing::default()) };
        let nd = Imperative::new(&context, &options).unwrap();
        let op = CachedOp::new(&nd, &graph, CachedOpFlags { static_alloc, ..CachedOpFlags::default() }).unwrap();
        let x = NdArray::from_slice(&context, [3, 5], &numbers(15, 7).iter().map(|v| *v as f32).collect::<Vec<f32>>())
            .unwrap();
        let plain = op.call(&[&x]).unwrap().swap_remove(0);
        nd.attach_grad(&x, GradReq::Write).unwrap();
        let y = {
            let _record = autograd::record();
            op.call(&[&x]).unwrap().swap_remove(0)
        };
        nd.backward(&[&y], &[], BackwardOptions::default()).unwrap();
        [bits("plain", &plain), bits("y", &y), bits("grad", &autograd::grad_of(&x).unwrap())]
    };
    for static_alloc in [false, true] {
        assert_eq!(run(true, static_alloc), run(false, static_alloc));
    }
}
