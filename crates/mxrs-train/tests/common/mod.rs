//! Code shared by the tests: a context with reference kernels, small networks and data.
#![allow(dead_code)]

use mxrs_data::{DataBatch, DataIter, NdArrayIter};
use mxrs_engine::{Engine, EngineConfig, EngineKind};
use mxrs_exec::BindOptions;
use mxrs_format::{Dense, Tensor};
use mxrs_graph::{Graph, NameManager, Symbol, SymbolCall};
use mxrs_models::Initializer;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::{OpSet, ReferenceBackend};
use mxrs_optim::{Updater, optimizers::Sgd};
use mxrs_storage::{Storage, StorageConfig};
use mxrs_train::{FitOptions, Host, InitOptions, Module};
use mxrs_types::Shape;
use std::sync::Arc;

pub const KINDS: [EngineKind; 3] = [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice];

pub fn context_of(kind: EngineKind) -> ArrayContext {
    listen();
    let engine = Engine::new(EngineConfig::of_kind(kind)).expect("the engine starts");
    let context = ArrayContext::new(engine, Storage::new(StorageConfig::default()).expect("the pools start"));
    context.random().seed(17);
    context
}

pub fn context() -> ArrayContext {
    context_of(EngineKind::ThreadedPerDevice)
}

pub fn options() -> BindOptions {
    let mut options = BindOptions::new(vec![Arc::new(ReferenceBackend)]);
    options.ops = mxrs_ops::catalog();
    options
}

/// A host that says whether the store updates the weights, as `MXNET_UPDATE_ON_KVSTORE` does.
#[derive(Clone)]
pub struct StoreHost {
    pub context: ArrayContext,
    pub options: BindOptions,
    pub update_on_kvstore: bool,
}

impl StoreHost {
    pub fn new(update_on_kvstore: bool) -> Self {
        Self { context: context(), options: options(), update_on_kvstore }
    }
}

impl Host for StoreHost {
    fn arrays(&self) -> &ArrayContext {
        &self.context
    }
    fn bind_options(&self) -> BindOptions {
        self.options.clone()
    }
    fn update_on_kvstore(&self) -> bool {
        self.update_on_kvstore
    }
}

pub fn array(context: &ArrayContext, shape: impl Into<Shape>, values: &[f32]) -> NdArray {
    NdArray::from_slice(context, shape, values).expect("values of the shape's size")
}

/// Pseudorandom numbers in [-1, 1) that depend only on the seed.
pub fn numbers(seed: u64, n: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    std::iter::repeat_with(next).take(n).collect()
}

/// Stochastic gradient descent with momentum.
pub fn sgd(lr: f64, momentum: f64) -> Updater {
    Updater::new(Sgd { lr, momentum, ..Sgd::default() })
}

/// Builds graphs from calls of operators.
pub struct Net {
    names: NameManager,
    ops: OpSet,
}

impl Default for Net {
    fn default() -> Self {
        Self { names: NameManager::new(), ops: mxrs_ops::catalog() }
    }
}

impl Net {
    pub fn call(&mut self, op: &str, name: &str, attrs: &[(&str, &str)], inputs: &[&Symbol]) -> Symbol {
        let mut call = SymbolCall::new(self.ops.get(op).expect("a built operator")).name(name);
        for (key, value) in attrs {
            call = call.attr(*key, value);
        }
        call.inputs(inputs.iter().copied()).build(&mut self.names).expect("a well-formed call")
    }
}

/// A perceptron with normalization and dropout, so that it has auxiliary states and random numbers. Input `[N, 6]`, output
/// `[N, classes]`.
pub fn small_net(n_hidden: usize, classes: usize) -> Graph {
    let mut net = Net::default();
    let data = Symbol::variable("data");
    let x = net.call("FullyConnected", "fc1", &[("num_hidden", &n_hidden.to_string())], &[&data]);
    let x = net.call("BatchNorm", "bn1", &[("fix_gamma", "False")], &[&x]);
    let x = net.call("Activation", "relu1", &[("act_type", "relu")], &[&x]);
    let x = net.call("Dropout", "drop1", &[("p", "0.3")], &[&x]);
    let x = net.call("FullyConnected", "fc2", &[("num_hidden", &classes.to_string())], &[&x]);
    net.call("SoftmaxOutput", "softmax", &[], &[&x]).graph().expect("a well-formed graph")
}

/// `n` examples of 6 numbers; the class is the index of the largest of the first `classes` numbers.
pub fn examples(seed: u64, n: usize, classes: usize) -> (Dense, Dense) {
    let rows = numbers(seed, n * 6);
    let class = |row: &[f32]| (0..classes).fold(0, |best, k| if row[k] > row[best] { k } else { best }) as f32;
    let labels: Vec<f32> = rows.chunks(6).map(class).collect();
    let dense = |shape: Shape, values: &[f32]| Tensor::from_slice(shape, values).unwrap().into_dense().unwrap();
    (dense([n, 6].into(), &rows), dense([n].into(), &labels))
}

/// Shuffled batches of the examples that [`examples`] returns.
pub fn iter(seed: u64, n: usize, batch_size: usize, classes: usize) -> NdArrayIter {
    let (data, labels) = examples(seed, n, classes);
    let builder = NdArrayIter::builder(batch_size).data("data", data).label("softmax_label", labels);
    builder.shuffle(seed).build().expect("some examples")
}

/// The bytes of all parameters and auxiliary states.
pub fn bits(module: &Module) -> Vec<(String, Vec<u8>)> {
    let params = module.get_params().expect("parameters");
    let all = params.arg.into_iter().chain(params.aux);
    all.map(|(name, tensor)| (name, tensor.stored_bytes().to_vec())).collect()
}

thread_local! {
    /// Log lines of this thread while `log_of` runs; otherwise `None`.
    static LINES: std::cell::RefCell<Option<Vec<String>>> = const { std::cell::RefCell::new(None) };
}

/// Log lines of this thread while `f` runs.
pub fn log_of<R>(f: impl FnOnce() -> R) -> (R, Vec<String>) {
    listen();
    LINES.set(Some(Vec::new()));
    let result = f();
    (result, LINES.take().unwrap_or_default())
}

/// Installs the subscriber for all threads before any of them logs. With a subscriber for one thread only, an event that
/// another thread logs first could be disabled for all.
fn listen() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Lines).expect("there is no other subscriber"));
}

struct Lines;

struct Message(String);

impl tracing::field::Visit for Message {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl tracing::Subscriber for Lines {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::INFO
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        LINES.with_borrow_mut(|lines| {
            if let Some(lines) = lines {
                lines.push(message.0);
            }
        });
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// A small network that is not bound.
pub fn module() -> Module {
    Module::new(&(context(), options()), &small_net(8, 3)).unwrap()
}

/// Options for `n` epochs that start from the same weights.
pub fn fit_options(n: u64) -> FitOptions {
    let init = InitOptions { initializer: Initializer::xavier(3.0), seed: 5, ..InitOptions::default() };
    FitOptions { init, ..FitOptions::new(n) }
}

/// The next batch.
pub fn batch(iter: &mut dyn DataIter) -> DataBatch {
    iter.next_batch().unwrap().expect("a batch")
}
