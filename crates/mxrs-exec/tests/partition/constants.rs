//! Tests calls that depend only on constants: they run only when these constants change.

use super::nets::Net;
use super::{F64, bind, fill, outputs, partitioning};
use crate::common::{context, imperative, options};
use mxrs_engine::EngineKind;
use mxrs_exec::{BindOptions, CachedOp, CachedOpFlags, Executor};
use mxrs_ndarray::NdArray;
use mxrs_op::{Answer, Backend, Kernel, KernelArgs, Offer, OpCall, PlannedKernel, ReferenceBackend, TensorDesc};
use mxrs_ops::Fusions;
use mxrs_testkit::compare;
use mxrs_types::{DType, Result};

use std::sync::{Arc, Mutex};

/// A backend with the reference kernels that records every run. Its kernels request scratch memory and write to it.
#[derive(Default)]
struct Noting {
    runs: Arc<Mutex<Vec<String>>>,
}

struct NotingKernel {
    inner: Arc<dyn Kernel>,
    op: &'static str,
    runs: Arc<Mutex<Vec<String>>>,
}

const SCRATCH_BYTES: usize = 192;

impl Kernel for NotingKernel {
    fn name(&self) -> &str {
        self.op
    }
    #[allow(unsafe_code)]
    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        assert_eq!(args.scratch.len_bytes(), SCRATCH_BYTES);
        // SAFETY: the scratch memory belongs to this call alone, and no other slice of it exists.
        unsafe { args.scratch.bytes_mut() }.fill(0xA5);
        self.runs.lock().expect("no panic").push(self.op.into());
        // SAFETY: the caller passes the tensors of the call that the inner kernel was planned for.
        unsafe { self.inner.run(args) }
    }
}

impl Backend for Noting {
    fn name(&self) -> &'static str {
        "noting"
    }
    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        Ok(Offer::new(1e-6, move || {
            let planned = ReferenceBackend.plan(call)?;
            let kernel = NotingKernel { inner: planned.kernel, op: call.op.name, runs: self.runs.clone() };
            Ok(PlannedKernel { kernel: Arc::new(kernel), scratch_bytes: SCRATCH_BYTES, ..planned })
        }))
    }
    fn reorder(&self, _: &TensorDesc, _: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok(None)
    }
}

/// Options with a recording backend and without fused pointwise calls, and the list of runs.
fn noting(fusions: Option<&Fusions>) -> (BindOptions, Arc<Mutex<Vec<String>>>) {
    let backend = Noting::default();
    let runs = backend.runs.clone();
    let patterns = fusions.map_or_else(Vec::new, mxrs_ops::patterns).into();
    (BindOptions { backends: vec![Arc::new(backend)], patterns, fuse: false, ..options() }, runs)
}

fn since(runs: &Mutex<Vec<String>>) -> Vec<String> {
    std::mem::take(&mut *runs.lock().expect("no panic"))
}

fn write(executor: &Executor, name: &str, value: f64) {
    let array = executor.argument(name).expect("an argument");
    array.copy_from(&vec![value; array.shape().n_elements()]).expect("values of its size");
}

#[test]
fn constants_are_computed_once_and_again_when_what_they_depend_on_changes() {
    let mut net = Net::new();
    let root = net.call("square", "square", &["c"], &[]);
    let ready = net.call("exp", "exp", &[&root], &[]);
    let other = net.call("negative", "negative", &["d"], &[]);
    let sum = net.call("elemwise_add", "sum", &["x", &ready], &[]);
    let end = net.call("elemwise_mul", "end", &[&sum, &other], &[]);
    let graph = net.graph(&[&end]);
    let context = context(EngineKind::Naive, 1);
    let (options, runs) = noting(None);
    let executor = bind(&graph, &context, &options, DType::F64);
    let run = |x: f64, c: f64, d: f64| {
        let got = outputs(&executor);
        let expected = (x + (c * c).exp()) * -d;
        assert!(got[0].iter().all(|v| (v - expected).abs() < 1e-12), "{} is not {expected}", got[0][0]);
        since(&runs)
    };
    for (name, value) in [("x", 1.0), ("c", 0.5), ("d", 2.0)] {
        write(&executor, name, value);
    }
    assert_eq!(run(1.0, 0.5, 2.0), ["square", "exp", "negative", "elemwise_add", "elemwise_mul"]);
    assert_eq!(run(1.0, 0.5, 2.0), ["elemwise_add", "elemwise_mul"]);
    write(&executor, "x", 3.0);
    assert_eq!(run(3.0, 0.5, 2.0), ["elemwise_add", "elemwise_mul"]);
    // A change of `c` runs `square` and `exp` again, but not `negative`, which depends on `d`.
    write(&executor, "c", -1.0);
    assert_eq!(run(3.0, -1.0, 2.0), ["square", "exp", "elemwise_add", "elemwise_mul"]);
    write(&executor, "d", 0.25);
    assert_eq!(run(3.0, -1.0, 0.25), ["negative", "elemwise_add", "elemwise_mul"]);
}

#[test]
fn a_graph_of_constants_alone_runs_each_time() {
    let mut net = Net::new();
    let end = net.call("square", "square", &["x"], &[]);
    let graph = net.graph(&[&end]);
    let (options, runs) = noting(None);
    let context = context(EngineKind::Naive, 1);
    let x = NdArray::from_slice(&context, [3], &[1.0, 2.0, 3.0]).expect("memory");
    let params = [("x".to_owned(), x)];
    let executor = Executor::bind(&graph, &context, &[], &params.into_iter().collect(), &options).expect("it binds");
    (0..3).for_each(|_| drop(outputs(&executor)));
    assert_eq!(since(&runs).len(), 3);
}

#[test]
fn a_constant_may_be_an_output() {
    let mut net = Net::new();
    let ready = net.call("exp", "exp", &["c"], &[]);
    let sum = net.call("elemwise_add", "sum", &["x", &ready], &[]);
    let graph = net.graph(&[&ready, &sum]);
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let executor = bind(&graph, &context, &options(), DType::F64);
    for c in [0.0, 1.0] {
        write(&executor, "c", c);
        write(&executor, "x", 1.0);
        let got = outputs(&executor);
        assert!(got[0].iter().all(|v| *v == c.exp()) && got[1].iter().all(|v| *v == 1.0 + c.exp()), "{c}");
    }
}

#[test]
fn weights_that_are_overwritten_are_folded_again() {
    let graph = Net::residual_unit();
    for kind in [EngineKind::Naive, EngineKind::ThreadedPerDevice] {
        for bulk_inference in [true, false] {
            let context = context(kind, 2);
            let whole = bind(&graph, &context, &options(), DType::F64);
            let all = BindOptions { bulk_inference, ..partitioning(&Fusions::default()) };
            let parts = bind(&graph, &context, &all, DType::F64);
            [&whole, &parts].iter().for_each(|e| fill(e, 7));
            let mut before = outputs(&parts);
            compare(&before[0], &outputs(&whole)[0], F64).expect("equal outputs");
            let params =
                ["a_weight", "b_weight", "b_bias", "bn_a_gamma", "bn_a_beta", "bn_b_moving_mean", "bn_b_moving_var"];
            for (name, value) in params.iter().zip([0.3, -0.2, 0.9, 1.5, 0.4, 0.7, 0.6]) {
                [&whole, &parts].iter().for_each(|e| write(e, name, value));
                let after = outputs(&parts);
                compare(&after[0], &outputs(&whole)[0], F64).unwrap_or_else(|e| panic!("after {name}: {e}"));
                assert_ne!(after, before, "{name} counts");
                before = after;
            }
        }
    }
}

#[test]
fn folding_costs_nothing_from_the_second_run_on() {
    let graph = Net::residual_unit();
    let (options, runs) = noting(Some(&Fusions::default()));
    let executor = bind(&graph, &context(EngineKind::Naive, 1), &options, DType::F32);
    fill(&executor, 3);
    outputs(&executor);
    let first = since(&runs);
    assert_eq!(first.iter().filter(|op| op.starts_with("_bn_fold")).count(), 4);
    outputs(&executor);
    assert_eq!(since(&runs), ["_sg_conv", "_sg_conv"]);
}

#[test]
fn cached_graphs_fold_parameters_of_theirs_and_follow_them() {
    let graph = Net::residual_unit();
    let nd = imperative();
    let patterned = mxrs_exec::Imperative::new(nd.context(), &partitioning(&Fusions::default())).expect("memory");
    let names: Vec<String> = graph.variables().iter().map(|id| graph.node(*id).name.clone()).collect();
    let params = (0..names.len()).filter(|i| names[*i] != "x").collect();
    let flags = CachedOpFlags { static_alloc: true, param_indices: params, ..CachedOpFlags::default() };
    let whole = CachedOp::new(&nd, &graph, CachedOpFlags::default()).expect("a graph");
    let parts = CachedOp::new(&patterned, &graph, flags).expect("a graph");
    let executor = bind(&graph, nd.context(), &options(), DType::F64);
    fill(&executor, 5);
    let arrays: Vec<&NdArray> = names.iter().map(|n| executor.argument(n).expect("bound")).collect();
    for value in [None, Some(0.3), Some(-0.8)] {
        if let Some(value) = value {
            write(&executor, "a_weight", value);
        }
        let run = |op: &CachedOp| op.call(&arrays).expect("a run")[0].to_vec::<f64>().expect("an output");
        compare(&run(&parts), &run(&whole), F64).expect("equal outputs");
    }
}
