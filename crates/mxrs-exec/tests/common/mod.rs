//! Helpers for tests: a context with the reference backend, graphs of calls, and numeric gradients.
#![allow(dead_code)]

use mxrs_engine::{Engine, EngineConfig, EngineKind};
use mxrs_exec::{BackwardOptions, BindOptions, GradReq, Imperative, ImperativeOptions, autograd};
use mxrs_graph::{NameManager, Symbol, SymbolCall};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::{OpSet, ReferenceBackend};
use mxrs_storage::{Storage, StorageConfig};
use mxrs_sync::{Team, TeamConfig};
use mxrs_types::{Device, Result, Shape};
use std::num::NonZeroUsize;
use std::sync::Arc;

pub const KINDS: [EngineKind; 3] = [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice];

pub fn context(kind: EngineKind, workers: usize) -> ArrayContext {
    let cpu_workers = NonZeroUsize::new(workers).expect("some workers");
    let engine = Engine::new(EngineConfig { cpu_workers, ..EngineConfig::of_kind(kind) }).expect("the engine starts");
    ArrayContext::new(engine, Storage::new(StorageConfig::default()).expect("the pools start"))
}

pub fn options() -> BindOptions {
    let mut options = BindOptions::new(vec![Arc::new(ReferenceBackend)]);
    options.ops = mxrs_ops::catalog();
    options
}

/// Builds graphs of operator calls.
pub struct Net {
    names: NameManager,
    ops: OpSet,
}

impl Net {
    pub fn new() -> Self {
        Self { names: NameManager::new(), ops: mxrs_ops::catalog() }
    }

    pub fn ops(&self) -> &OpSet {
        &self.ops
    }

    pub fn call(&mut self, op: &str, inputs: &[&Symbol]) -> Symbol {
        self.call_with(op, &[], inputs)
    }

    pub fn call_with(&mut self, op: &str, attrs: &[(&str, &str)], inputs: &[&Symbol]) -> Symbol {
        let mut call = SymbolCall::new(self.ops.get(op).expect("a built operator"));
        for (key, value) in attrs {
            call = call.attr(*key, value);
        }
        call.inputs(inputs.iter().copied()).build(&mut self.names).expect("a well-formed call")
    }
}

pub fn imperative() -> Imperative {
    Imperative::new(&context(EngineKind::ThreadedPerDevice, 2), &options()).expect("some memory")
}

pub fn imperative_on(kind: EngineKind, workers: usize, threads: usize) -> Imperative {
    let mut options = options();
    let threads = NonZeroUsize::new(threads).expect("some threads");
    options.team = Team::new(TeamConfig { threads, cpus: None }).expect("the threads start");
    Imperative::new(&context(kind, workers), &options).expect("some memory")
}

pub fn imperative_with(own: ImperativeOptions) -> Imperative {
    Imperative::with(&context(EngineKind::ThreadedPerDevice, 2), &options(), own).expect("some memory")
}

pub fn array(nd: &Imperative, shape: impl Into<Shape>, values: &[f64]) -> NdArray {
    NdArray::from_slice(nd.context(), shape, values).expect("values of the shape's size")
}

pub fn f32s(nd: &Imperative, shape: impl Into<Shape>, values: &[f32]) -> NdArray {
    NdArray::from_slice(nd.context(), shape, values).expect("values of the shape's size")
}

pub fn values(array: &NdArray) -> Vec<f64> {
    array.to_vec::<f64>().expect("a computed array")
}

/// Pseudo-random numbers with absolute values between 0.2 and 1.2.
pub fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let unit = (state >> 11) as f64 / (1u64 << 53) as f64;
        if unit < 0.5 { -0.2 - unit * 2.0 } else { 0.2 + (unit - 0.5) * 2.0 }
    };
    (0..n).map(|_| next()).collect()
}

/// Central differences of `f`, which must be a smooth function of the numbers.
pub fn numeric(f: impl Fn(&[f64]) -> f64, at: &[f64]) -> Vec<f64> {
    let step = 1e-5;
    let moved = |i: usize, by: f64| {
        let mut x = at.to_vec();
        x[i] += by;
        f(&x)
    };
    (0..at.len()).map(|i| (moved(i, step) - moved(i, -step)) / (2.0 * step)).collect()
}

pub fn assert_close(got: &[f64], expected: &[f64], what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (i, (g, e)) in got.iter().zip(expected).enumerate() {
        assert!((g - e).abs() <= 1e-6 * (1.0 + e.abs()), "{what}[{i}]: {g} and {e}");
    }
}

/// Bytes of live blocks, after all pending tasks have run.
pub fn live_bytes(nd: &Imperative) -> u64 {
    nd.context().engine().wait_for_all().expect("no failure");
    nd.context().storage().stats(Device::cpu(0)).live_requested
}

/// Makes an array of `values` and marks it, so that its gradient is computed.
pub fn marked(nd: &Imperative, shape: &[usize], values: &[f64]) -> NdArray {
    let x = array(nd, shape, values);
    nd.attach_grad(&x, GradReq::Write).unwrap();
    x
}

/// Runs `f`, records the operator calls that it makes, and returns its result.
pub fn recorded<T>(f: impl FnOnce() -> Result<T>) -> T {
    let _record = autograd::record();
    f().unwrap()
}

pub fn grad(x: &NdArray) -> Vec<f64> {
    values(&autograd::grad_of(x).expect("a marked array"))
}

pub fn backward(nd: &Imperative, head: &NdArray) {
    nd.backward(&[head], &[], BackwardOptions::default()).unwrap();
}

pub const RETAIN: BackwardOptions = BackwardOptions { retain_graph: true, create_graph: false, train_mode: true };
pub const CREATE: BackwardOptions = BackwardOptions { retain_graph: true, create_graph: true, train_mode: true };
