//! Modules over lists of contexts, on devices of the host and on simulated GPUs. For every store, the weights must have the
//! same bits as those of a reference that computes one part of the batch after another. The host must not wait within a
//! step, and errors must be clear if one context fails.

use super::contexts_reference::{BATCH, Expected, Fold, batches, sgd, train};
use super::{Plug, assert_same, bits, eventually};
use mxrs::data::{DataBatch, DataDesc};
use mxrs::env::MapSource;
use mxrs::format::{Checkpoint, Options, Tensor};
use mxrs::train::{BindFor, Compression, KvStore, KvStoreChoice, Module, StoreOptions};
use mxrs::types::{DType, Device};
use mxrs::{Model, Runtime};
use mxrs_kvstore::tree::TreeOptions;
use mxrs_kvstore::{KvStoreOptions, StoreRegistry};
use mxrs_simulated_gpu::{SimulatedDevice, SimulatedGpu, SimulatedMemory, Span};
use std::sync::Arc;
use std::time::Duration;

/// The memory of a simulated GPU.
const N_BYTES: u64 = 128 << 20;

/// A runtime with this many simulated GPUs.
struct Gpus {
    all: Vec<Arc<SimulatedDevice>>,
    runtime: Runtime,
}

impl Gpus {
    fn new(n: u32) -> Self {
        Self::on("ThreadedEnginePerDevice", n)
    }

    fn on(engine: &str, n: u32) -> Self {
        let first = SimulatedDevice::new(Device::gpu(0), N_BYTES);
        let others = (1..n).map(|id| first.beside(Device::gpu(id), N_BYTES)).collect::<Vec<_>>();
        Self::of(engine, std::iter::once(first).chain(others).collect())
    }

    fn of(engine: &str, all: Vec<Arc<SimulatedDevice>>) -> Self {
        let variables = MapSource::new([("MXNET_ENGINE_TYPE", engine), ("OMP_NUM_THREADS", "1")]);
        let mut builder = Runtime::builder().env(&variables);
        for gpu in &all {
            builder = builder.device(Arc::new(Plug(Arc::clone(gpu))));
        }
        Self { all, runtime: builder.build().unwrap() }
    }

    /// A module over these contexts, with the parameters of a digits network.
    fn module(&self, name: &str, contexts: &[Device]) -> mxrs::Result<Module> {
        let model = Model::load(&self.runtime, mxrs_tests::digits(name), 10)?;
        let mut module = Module::new(&self.runtime, model.graph())?.contexts(contexts.iter().copied())?;
        let data = DataDesc::new("data", [BATCH, 1, 28, 28], DType::F32);
        let label = DataDesc::new("softmax_label", [BATCH], DType::F32);
        module.bind(&[data], &[label], BindFor::default())?;
        let file = mxrs_tests::digits(&format!("{name}-0010.params"));
        module.set_params(&Checkpoint::open(file, &Options::default())?.value)?;
        Ok(module)
    }
}

fn step(module: &mut Module, (images, labels): &(Vec<f32>, Vec<f32>)) -> mxrs::Result<()> {
    let dense = |shape: &[usize], values: &[f32]| Tensor::from_slice(shape, values)?.into_dense();
    let data = vec![dense(&[BATCH, 1, 28, 28], images)?];
    let labels = vec![dense(&[BATCH], labels)?];
    module.forward_backward(DataBatch { data, labels, index: (0..BATCH as u64).collect(), pad: 0 })?;
    module.update()
}

/// The options for a store that adds the gradients of the contexts in the order `fold`.
fn options(gpus: &Gpus, fold: Fold, on_store: bool) -> StoreOptions {
    let kvstore = match fold {
        Fold::GroupsOfFour => KvStoreChoice::from("local"),
        Fold::LeftToRight | Fold::TwoBit(_) => "device".into(),
        Fold::Tree => {
            let tree = Some(TreeOptions { backtrack: true, ..TreeOptions::default() });
            let options = KvStoreOptions { tree, ..KvStoreOptions::default() };
            let store = StoreRegistry::new().create("device", gpus.runtime.arrays(), &options);
            KvStoreChoice::Store(store.unwrap() as Arc<dyn KvStore>)
        }
    };
    let compression = match fold {
        Fold::TwoBit(threshold) => Some(Compression::TwoBit { threshold }),
        _ => None,
    };
    StoreOptions { kvstore, update_on_kvstore: Some(on_store), compression }
}

/// Trains on these contexts, and asserts that the weights and auxiliary states of each context have the bits of the
/// reference.
#[track_caller]
fn compare(gpus: &Gpus, name: &str, contexts: &[Device], fold: Fold, on_store: bool, expected: &Expected) {
    let what = format!("{name} on {contexts:?}, {fold:?}, on store: {on_store}");
    let mut module = gpus.module(name, contexts).unwrap();
    module.init_optimizer_with(sgd(), &options(gpus, fold, on_store)).unwrap();
    assert_eq!(module.updates_on_kvstore(), on_store && module.kvstore().is_some(), "{what}");
    for batch in batches(N_STEPS) {
        step(&mut module, &batch).unwrap();
    }
    for (at, executor) in module.executors().unwrap().into_iter().enumerate() {
        let place = format!("{what}: context {at}");
        assert!(executor.arrays().iter().all(|(_, array)| array.device() == contexts[at]), "{place}");
        let got = |name: &str| (name.to_owned(), bits(executor.argument(name).unwrap()));
        let weights: Vec<_> = expected.0.iter().map(|(name, _)| got(name)).collect();
        assert_same(&weights, &expected.0, &place);
        let aux: Vec<_> = expected.1[at].iter().map(|(name, _)| got(name)).collect();
        assert_same(&aux, &expected.1[at], &place);
    }
}

/// The number of training steps: enough that errors in momentum and residuals would change the weights.
const N_STEPS: usize = 4;

const FOLDS: [Fold; 4] = [Fold::GroupsOfFour, Fold::LeftToRight, Fold::Tree, Fold::TwoBit(0.5)];

#[test]
fn weights_are_those_of_a_serial_reference() {
    for n in 1..=4 {
        // With one device, no store is made for a name such as `local`, and nothing is summed. So a single order of
        // summation suffices.
        for fold in FOLDS.into_iter().filter(|fold| n > 1 || *fold == Fold::GroupsOfFour) {
            let expected = train("lenet", n, fold, true, &batches(N_STEPS));
            for on_store in [true, false] {
                let gpus = Gpus::new(n as u32);
                let cpus: Vec<Device> = (0..n as u32).map(Device::cpu).collect();
                compare(&gpus, "lenet", &cpus, fold, on_store, &expected);
                let on_gpus: Vec<Device> = (0..n as u32).map(Device::gpu).collect();
                compare(&gpus, "lenet", &on_gpus, fold, on_store, &expected);
                assert_eq!(gpus.all[0].checker().violations(), []);
            }
        }
    }
}

#[test]
fn networks_with_auxiliary_states_on_every_engine() {
    let [expected, without_store] =
        [true, false].map(|on_store| train("resnet8", 2, Fold::GroupsOfFour, on_store, &batches(N_STEPS)));
    for engine in ["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"] {
        let gpus = Gpus::on(engine, 2);
        compare(&gpus, "resnet8", &[Device::gpu(0), Device::gpu(1)], Fold::GroupsOfFour, true, &expected);
        // One context is on the host and one is on a GPU.
        compare(&gpus, "resnet8", &[Device::cpu(0), Device::gpu(1)], Fold::GroupsOfFour, false, &without_store);
        assert_eq!(gpus.all[0].checker().violations(), []);
    }
}

/// A whole step on two devices (forward, gradients, sums and updates) is enqueued while the first device is halted. So
/// nothing in it waits on the host for this device.
#[test]
fn a_step_does_not_wait_on_the_host() {
    for (fold, on_store) in [(Fold::GroupsOfFour, true), (Fold::LeftToRight, true), (Fold::LeftToRight, false)] {
        let gpus = Gpus::new(2);
        let mut module = gpus.module("lenet", &[Device::gpu(0), Device::gpu(1)]).unwrap();
        module.init_optimizer_with(sgd(), &options(&gpus, fold, on_store)).unwrap();
        let batch = &batches(1)[0];
        (0..2).for_each(|_| step(&mut module, batch).unwrap());
        gpus.runtime.engine().wait_for_all().unwrap();
        let hold = gpus.all[0].gpu().hold();
        let (sender, receiver) = std::sync::mpsc::channel();
        let pushing = std::thread::spawn({
            let batch = batch.clone();
            move || {
                let result = step(&mut module, &batch);
                sender.send(()).unwrap();
                (module, result)
            }
        });
        let is_pushed = eventually(|| receiver.try_recv().is_ok());
        drop(hold);
        let (_module, result) = pushing.join().unwrap();
        result.unwrap();
        assert!(is_pushed, "{fold:?}, on store: {on_store}: a step waits for a device");
        gpus.runtime.engine().wait_for_all().unwrap();
    }
}

/// The store sums on the host. Gradients of the last layers are copied there while the device still computes the gradients
/// of the first layers.
#[test]
fn sums_overlap_with_the_gradients_of_earlier_layers() {
    let first = SimulatedGpu::with_latency(Device::gpu(0), Duration::from_millis(2));
    let first = SimulatedDevice::of(first, SimulatedMemory::new(Device::gpu(0), N_BYTES).hidden(), 0);
    let gpus = Gpus::of("ThreadedEnginePerDevice", vec![Arc::clone(&first), first.beside(Device::gpu(1), N_BYTES)]);
    let mut module = gpus.module("lenet", &[Device::gpu(0), Device::gpu(1)]).unwrap();
    module.init_optimizer(sgd()).unwrap();
    let batch = &batches(1)[0];
    step(&mut module, batch).unwrap();
    gpus.runtime.engine().wait_for_all().unwrap();
    let n_before = first.gpu().timeline().spans().len();
    step(&mut module, batch).unwrap();
    gpus.runtime.engine().wait_for_all().unwrap();
    let timeline = first.gpu().timeline();
    let spans = &timeline.spans()[n_before..];
    let is_copy = |span: &&Span| span.name.starts_with("copy ");
    let download = spans.iter().find(|span| &*span.name == "copy from gpu(0) to the host").expect("a gradient");
    let kernel = spans.iter().rfind(|span| !is_copy(span)).expect("a kernel");
    assert!(download.start < kernel.start, "{}", timeline.draw(120));
}

/// If a kernel fails on the second device, reading the outputs or the weights returns an error with the operator and the
/// device.
#[test]
fn a_failing_kernel_is_named_with_its_device() {
    let gpus = Gpus::new(2);
    let mut module = gpus.module("lenet", &[Device::gpu(0), Device::gpu(1)]).unwrap();
    module.init_optimizer(sgd()).unwrap();
    let batch = &batches(1)[0];
    step(&mut module, batch).unwrap();
    gpus.runtime.engine().wait_for_all().unwrap();
    let second = gpus.all[1].gpu();
    let n_before = second.counters().launches;
    step(&mut module, batch).unwrap();
    gpus.runtime.engine().wait_for_all().unwrap();
    let n_launches = second.counters().launches - n_before;
    assert!(n_launches > 10, "{n_launches} launches");
    let mut named = Vec::new();
    for nth in 1..=n_launches {
        let mut module = gpus.module("lenet", &[Device::gpu(0), Device::gpu(1)]).unwrap();
        module.init_optimizer(sgd()).unwrap();
        gpus.runtime.engine().wait_for_all().unwrap();
        second.fail_launch(second.counters().launches + nth);
        let result = step(&mut module, batch).and_then(|()| {
            module.get_outputs()?[0].wait_to_read()?;
            module.get_params().map(drop)
        });
        let Err(error) = result else { continue };
        let error = error.to_string();
        assert!(error.contains("gpu(1)") && error.contains('`'), "launch {nth}: {error}");
        named.push(error);
        let _ = gpus.runtime.engine().wait_for_all();
    }
    for op in ["Convolution", "FullyConnected", "Pooling"] {
        assert!(named.iter().any(|error| error.contains(op)), "no error names {op}: {named:?}");
    }
}

#[test]
fn a_context_without_memory_is_named() {
    let n_before = {
        let gpus = Gpus::new(2);
        let _module = gpus.module("lenet", &[Device::gpu(0), Device::gpu(1)]).unwrap();
        gpus.all[1].memory().n_requests()
    };
    let mut n_errors = 0;
    for nth in 1..=n_before {
        let gpus = Gpus::new(2);
        // Several requests in a row fail, because the storage returns its cached blocks after a failure and then tries
        // again.
        (nth..nth + 8).for_each(|nth| gpus.all[1].memory().fail_on_request(nth));
        if let Err(error) = gpus.module("lenet", &[Device::gpu(0), Device::gpu(1)]) {
            assert!(error.to_string().contains("gpu(1)"), "request {nth}: {error}");
            n_errors += 1;
        }
    }
    assert!(n_errors > 0, "{n_before} requests");
}
