//! Tests sums made in place: fewer bytes and fewer steps, and the same bits.

mod common;

use common::{Net, context, numbers, options};
use mxrs_engine::EngineKind;
use mxrs_exec::{BindOptions, DryGraph, Executor, ExecutorReport, GradReq, GradRequests};
use mxrs_graph::{Graph, Symbol};
use mxrs_op::{Answer, Backend, Kernel, KernelArgs, Offer, OpCall, PlannedKernel, ReferenceBackend, TensorDesc};
use mxrs_types::{DType, Result, Shape};
use proptest::prelude::*;
use std::sync::Arc;

/// A graph in which `exp(data)` has `n` readers, whose results are multiplied.
fn fan(n: usize) -> Graph {
    let mut net = Net::new();
    let data = Symbol::variable("data");
    let shared = net.call("exp", &[&data]);
    let mut sum = net.call("square", &[&shared]);
    for i in 1..n {
        let term = net.call(["sigmoid", "tanh", "square"][i % 3], &[&shared]);
        sum = net.call("elemwise_mul", &[&sum, &term]);
    }
    sum.graph().expect("a well-formed graph")
}

/// Training options. Every sum of gradients is made by additions of two terms, one after another. By default only sums of
/// eight or more terms are made in this way.
fn training(enable_inplace: bool, request: GradReq) -> BindOptions {
    let gradients = Some(GradRequests::all(request));
    let mut options = BindOptions { gradients, grad_sum_cap: 2, eliminate_common: false, ..options() };
    options.plan.enable_inplace = enable_inplace;
    options
}

/// Outputs and gradients of two training steps as bytes, and the report.
fn steps(graph: &Graph, dtype: DType, options: &BindOptions) -> (Vec<Vec<u8>>, ExecutorReport) {
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let options = BindOptions { default_dtype: dtype, ..options.clone() };
    let executor = Executor::simple_bind(graph, &context, &[("data", [3, 4].into())], &options).expect("it binds");
    let values = numbers(12, 7);
    let data = executor.argument("data").unwrap();
    match dtype {
        DType::F64 => data.copy_from(&values).unwrap(),
        DType::F16 => data.copy_from(&values.iter().map(|v| half::f16::from_f64(*v)).collect::<Vec<_>>()).unwrap(),
        _ => data.copy_from(&values.iter().map(|v| *v as f32).collect::<Vec<_>>()).unwrap(),
    }
    let mut seen = Vec::new();
    for _ in 0..2 {
        executor.forward_train().unwrap();
        executor.backward(executor.outputs()).unwrap();
        let arrays = executor.outputs().iter().chain(executor.gradients().iter().map(|g| &g.array));
        seen.extend(arrays.map(|array| array.read_bytes(<[u8]>::to_vec).unwrap()));
    }
    (seen, executor.training_report().expect("bound for training"))
}

fn n_adds(report: &ExecutorReport) -> usize {
    report.steps.iter().filter(|step| step.op == "_grad_add").count()
}

/// Rule G15: with additions in place, results have the same bits as with additions that are steps, in every type.
#[test]
fn g15_sums_in_place_have_the_bits_of_the_additions() {
    let graph = fan(10);
    for dtype in [DType::F32, DType::F64, DType::F16] {
        for request in [GradReq::Write, GradReq::Add] {
            let (expected, plain) = steps(&graph, dtype, &training(false, request));
            let (got, folded) = steps(&graph, dtype, &training(true, request));
            assert_eq!(got, expected, "{dtype} {request}");
            assert_eq!((n_adds(&plain), plain.inplace_adds.len()), (9, 0));
            assert_eq!((n_adds(&folded), folded.inplace_adds.len()), (0, 9), "{dtype} {request}");
        }
    }
}

/// Rule G15: a sum may be made in the caller's gradient array. With the request `add`, the last addition of the sum stays a
/// step.
#[test]
fn g15_the_sum_may_be_an_output() {
    let mut net = Net::new();
    let data = Symbol::variable("data");
    let terms: Vec<Symbol> = ["square", "sigmoid", "tanh", "exp"].map(|op| net.call(op, &[&data])).to_vec();
    let graph = Symbol::group(&terms).graph().unwrap();
    for (request, n_left) in [(GradReq::Write, 0), (GradReq::Add, 1)] {
        let (expected, plain) = steps(&graph, DType::F32, &training(false, request));
        let (got, folded) = steps(&graph, DType::F32, &training(true, request));
        assert_eq!(got, expected, "{request}");
        assert_eq!((n_adds(&plain), n_adds(&folded)), (3, n_left), "{request}");
        assert!(folded.arena_bytes < plain.arena_bytes, "{} and {}", folded.arena_bytes, plain.arena_bytes);
    }
}

/// Rule G15: no term is overwritten that is still needed after the second term is made. The cases are terms that are outputs
/// or bound arrays, a term that is read later, and a term that is added to itself.
#[test]
fn g15_terms_that_are_needed_later_stay() {
    let build = |with: fn(&mut Net, &Symbol) -> Vec<Symbol>| {
        let mut net = Net::new();
        let data = Symbol::variable("data");
        let heads = with(&mut net, &data);
        Symbol::group(&heads).graph().unwrap()
    };
    let cases: [(Graph, usize); 6] = [
        (
            build(|n, x| {
                let (a, b) = (n.call("exp", &[x]), n.call("tanh", &[x]));
                vec![n.call("_grad_add", &[&a, &b])]
            }),
            1,
        ),
        (
            build(|n, x| {
                let (a, b) = (n.call("exp", &[x]), n.call("tanh", &[x]));
                vec![n.call("_grad_add", &[&a, &b]), a]
            }),
            0,
        ),
        (
            build(|n, x| {
                let (a, b) = (n.call("exp", &[x]), n.call("tanh", &[x]));
                vec![n.call("_grad_add", &[&a, &b]), b]
            }),
            0,
        ),
        (
            build(|n, x| {
                let a = n.call("exp", &[x]);
                vec![n.call("_grad_add", &[&a, x])]
            }),
            0,
        ),
        (
            build(|n, x| {
                let a = n.call("exp", &[x]);
                vec![n.call("_grad_add", &[&a, &a])]
            }),
            0,
        ),
        // In this case the second term is computed from the first.
        (
            build(|n, x| {
                let a = n.call("exp", &[x]);
                let b = n.call("tanh", &[&a]);
                vec![n.call("_grad_add", &[&a, &b])]
            }),
            0,
        ),
    ];
    for (i, (graph, n)) in cases.iter().enumerate() {
        let inference = |enable_inplace| {
            let mut options = options();
            options.plan.enable_inplace = enable_inplace;
            let context = context(EngineKind::Naive, 1);
            let e = Executor::simple_bind(graph, &context, &[("data", [4].into())], &options).unwrap();
            e.argument("data").unwrap().copy_from(&[0.5f32, -1.0, 2.0, 0.1]).unwrap();
            e.forward().unwrap();
            let bits: Vec<Vec<f32>> = e.outputs().iter().map(|o| o.to_vec().unwrap()).collect();
            (bits, e.report().unwrap().inplace_adds.len())
        };
        let ((expected, zero), (got, folded)) = (inference(false), inference(true));
        assert_eq!((zero, folded), (0, *n), "case {i}");
        assert_eq!(got, expected, "case {i}");
    }
}

/// A backend whose kernels are the reference kernels, except that they cannot add to their outputs.
struct NeverAdds;

struct Delegate(Arc<dyn Kernel>);

// Unsafe code is allowed here, because Unsafe code is allowed here, because `Kernel::run` is an unsafe function.
#[allow(unsafe_code)]
impl Kernel for Delegate {
    fn name(&self) -> &str {
        self.0.name()
    }
    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        // SAFETY: the caller passes the tensors of the call that the inner kernel was planned for.
        unsafe { self.0.run(args) }
    }
}

impl Backend for NeverAdds {
    fn name(&self) -> &'static str {
        "never_adds"
    }
    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        let inner = ReferenceBackend.offer(call)?;
        let seconds = inner.seconds();
        Ok(Offer::new(seconds, move || {
            let planned = inner.build()?;
            Ok(PlannedKernel { kernel: Arc::new(Delegate(planned.kernel.clone())), ..planned })
        })
        .as_reference())
    }
    fn reorder(&self, from: &TensorDesc, to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        ReferenceBackend.reorder(from, to)
    }
}

/// Rule G15: additions stay steps if kernels cannot add to their outputs. If kernels can, leaving out additions increases
/// the memory of no step.
#[test]
fn g15_only_kernels_that_can_add_are_asked_to() {
    for n in 2..12 {
        let graph = fan(n);
        let options = training(true, GradReq::Write);
        let never = BindOptions { backends: vec![Arc::new(NeverAdds)], ..options.clone() };
        let (expected, kept) = steps(&graph, DType::F32, &never);
        let (got, left_out) = steps(&graph, DType::F32, &options);
        assert_eq!(got, expected);
        assert_eq!((n_adds(&kept), n_adds(&left_out)), (n - 1, 0));
        assert!(left_out.plan.lower_bound_bytes <= kept.plan.lower_bound_bytes);
        assert!(left_out.arena_bytes <= kept.arena_bytes, "{} and {}", left_out.arena_bytes, kept.arena_bytes);
    }
}

/// Planning without binding leaves out the same additions as binding, and needs an arena of the same size.
#[test]
fn planning_without_binding_leaves_out_the_same_additions() {
    let (graph, options) = (fan(10), training(true, GradReq::Write));
    let shape: Shape = [3, 4].into();
    let dry = DryGraph::new(&graph, &[("data", shape)], &options, true).unwrap().plan(&options.plan).unwrap();
    let (_, bound) = steps(&graph, DType::F32, &options);
    assert_eq!(dry.inplace_adds, bound.inplace_adds);
    assert_eq!(dry.arena_bytes, bound.arena_bytes);
    assert!(!dry.inplace_adds.is_empty());
}

/// A random graph: each call takes two earlier values, so that values have many readers.
fn random_graph(calls: &[(u8, u8, u8)]) -> Graph {
    let mut net = Net::new();
    let mut values = vec![Symbol::variable("data")];
    for (op, a, b) in calls {
        let a = values[*a as usize % values.len()].clone();
        let b = values[*b as usize % values.len()].clone();
        values.push(match op % 7 {
            0 => net.call("elemwise_mul", &[&a, &b]),
            1 => net.call("elemwise_add", &[&a, &b]),
            2 => net.call("_grad_add", &[&a, &b]),
            3 => net.call("tanh", &[&a]),
            4 => net.call("sigmoid", &[&b]),
            5 => net.call("Flatten", &[&a]),
            _ => net.call("relu", &[&a]),
        });
    }
    Symbol::group(values.iter().rev().take(2)).graph().expect("a well-formed graph")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Rule G15: for random graphs, additions in place change no bit, and the plan needs no more bytes.
    #[test]
    fn g15_random_graphs(calls in prop::collection::vec(any::<(u8, u8, u8)>(), 1..25)) {
        let graph = random_graph(&calls);
        let (expected, plain) = steps(&graph, DType::F32, &training(false, GradReq::Write));
        let (got, folded) = steps(&graph, DType::F32, &training(true, GradReq::Write));
        prop_assert_eq!(got, expected);
        prop_assert_eq!(n_adds(&plain), n_adds(&folded) + folded.inplace_adds.len());
        prop_assert!(folded.plan.bytes <= plain.plan.bytes);
    }
}
