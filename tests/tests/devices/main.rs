//! Graphs on a simulated GPU and on `cpu(1)`. They must give the same bits as on `cpu(0)` with the same kernels. The host
//! must not wait inside a step, all conflicting accesses must be ordered, and errors after failures must be clear.

mod contexts;
mod contexts_reference;
mod failures;
mod forms;
mod groups;
mod imperative;
mod inference;
mod networks;
mod reuse;
mod training;
mod tuning;

use mxrs::DevicePlug;
use mxrs::engine::gpu::GpuDevice;
use mxrs::env::MapSource;
use mxrs::exec::{BindOptions, Executor, GradReq, GradRequests};
use mxrs::ndarray::{DeviceCopies, NdArray};
use mxrs::op::Backend;
use mxrs::storage::DeviceMemory;
use mxrs::types::{Device, Shape};
use mxrs::{Model, Runtime};
use mxrs_simulated_gpu::{SimulatedBackend, SimulatedDevice};
use std::sync::Arc;
use std::time::{Duration, Instant};

const CPU: Device = Device::cpu(0);
const GPU: Device = Device::gpu(0);

/// The kinds of engine, each with the modes of synchronization that make a difference: `MXNET_ENGINE_TYPE` and
/// `MXRS_GPU_SYNC`.
const ENGINES: [(&str, &str); 5] = [
    ("NaiveEngine", "event"),
    ("ThreadedEngine", "event"),
    ("ThreadedEngine", "host"),
    ("ThreadedEnginePerDevice", "event"),
    ("ThreadedEnginePerDevice", "host"),
];
const DEFAULT: (&str, &str) = ENGINES[3];

/// A simulated GPU in the form in which a runtime registers devices.
struct Plug(Arc<SimulatedDevice>);

impl DevicePlug for Plug {
    fn name(&self) -> &str {
        "simulated"
    }
    fn device(&self) -> Device {
        DeviceCopies::device(&*self.0)
    }
    fn probe(&self) -> Result<(), String> {
        Ok(())
    }
    fn memory(&self) -> Arc<dyn DeviceMemory> {
        self.0.device_memory()
    }
    fn streams(&self) -> Arc<dyn GpuDevice> {
        self.0.gpu_device()
    }
    fn copies(&self) -> Arc<dyn DeviceCopies> {
        Arc::clone(&self.0) as _
    }
    fn backends(&self, host: &[Arc<dyn Backend>]) -> Vec<Arc<dyn Backend>> {
        host.iter().map(|host| SimulatedBackend::new(Arc::clone(host), &self.0) as _).collect()
    }
}

/// A runtime with a simulated GPU.
struct World {
    gpu: Arc<SimulatedDevice>,
    runtime: Runtime,
}

impl World {
    fn new(engine: (&str, &str)) -> Self {
        Self::with(engine, 256 << 20, &[])
    }

    /// A runtime with a simulated GPU of `n_bytes` of memory, and with the additional environment variables `more`.
    fn with((engine, sync): (&str, &str), n_bytes: u64, more: &[(&str, &str)]) -> Self {
        let gpu = SimulatedDevice::new(GPU, n_bytes);
        let variables = [("MXNET_ENGINE_TYPE", engine), ("MXRS_GPU_SYNC", sync), ("OMP_NUM_THREADS", "1")];
        let variables = MapSource::new(variables.iter().chain(more).copied());
        let plug = Arc::new(Plug(Arc::clone(&gpu)));
        Self { gpu, runtime: Runtime::builder().env(&variables).device(plug).build().unwrap() }
    }

    fn model(&self, name: &str) -> Model {
        Model::load(&self.runtime, mxrs_tests::digits(name), 10).unwrap()
    }

    /// A training executor of a digits network on a device. `change` edits the options.
    fn training(&self, name: &str, device: Device, change: impl FnOnce(&mut BindOptions)) -> mxrs::Result<Executor> {
        let model = self.model(name).on_device(device)?;
        let mut options = BindOptions { device, ..self.runtime.bind_options() };
        options.gradients = Some(GradRequests::all(GradReq::Write).with("data", GradReq::Null));
        change(&mut options);
        let inputs = [("data", Shape::from([BATCH, 1, 28, 28])), ("softmax_label", Shape::from([BATCH]))];
        Executor::bind(model.graph(), self.runtime.arrays(), &inputs, model.params(), &options)
    }

    /// How often the host has waited for a stream or for an unfinished event.
    fn host_waits(&self) -> u64 {
        let counters = self.gpu.gpu().counters();
        counters.event_waits + counters.synchronizations
    }

    /// Asserts that the checker found no conflicting accesses without an order, and that the device was used.
    #[track_caller]
    fn assert_ordered(&self) {
        assert_eq!(self.gpu.checker().violations(), []);
        assert!(self.gpu.gpu().counters().launches > 0, "nothing ran on the device");
    }

    /// Asserts that no memory of the device is in use.
    #[track_caller]
    fn assert_empty(&self) {
        let _ = self.runtime.engine().wait_for_all();
        let storage = self.runtime.storage();
        assert!(eventually(|| storage.stats(GPU).live_blocks == 0), "{} blocks leak", storage.stats(GPU).live_blocks);
        storage.release_all(GPU);
        assert_eq!(self.gpu.memory().counters().used_bytes, 0);
    }
}

/// Images per batch.
const BATCH: usize = 4;

/// Numbers between 0 and 1 that look random.
fn images(n: usize) -> Vec<f32> {
    (0..n * 28 * 28).map(|i| (i * 7919 % 1009) as f32 / 1009.0).collect()
}

fn labels() -> Vec<f32> {
    (0..BATCH).map(|i| (i * 3 % 10) as f32).collect()
}

/// The bits of an array.
fn bits(array: &NdArray) -> Vec<u32> {
    array.to_vec::<f32>().unwrap().into_iter().map(f32::to_bits).collect()
}

/// Feeds the inputs of [`World::training`] and waits until they are on the device.
fn feed(executor: &Executor) -> mxrs::Result<()> {
    executor.argument("data")?.copy_from(&images(BATCH))?;
    executor.argument("softmax_label")?.copy_from(&labels())?;
    ["data", "softmax_label"].iter().try_for_each(|name| executor.argument(name)?.wait_to_read())
}

/// Pushes one step: forward and gradient.
fn push(executor: &Executor) -> mxrs::Result<()> {
    executor.forward_train()?;
    executor.backward(&[])
}

/// The bits of everything that a step makes: outputs, gradients, parameters and auxiliary states.
fn results(executor: &Executor) -> mxrs::Result<Vec<(String, Vec<u32>)>> {
    let outputs = executor.outputs().iter().map(|array| ("output".to_owned(), array));
    let gradients = executor.gradients().iter().map(|g| (format!("gradient of {}", g.name), &g.array));
    let states = executor.arrays().iter().map(|(name, array)| (name.clone(), array));
    let all = outputs.chain(gradients).chain(states);
    all.map(|(name, array)| Ok((name, array.to_vec::<f32>()?.into_iter().map(f32::to_bits).collect()))).collect()
}

/// Asserts that two lists of named bits agree, and names the first that differs.
#[track_caller]
fn assert_same(got: &[(String, Vec<u32>)], want: &[(String, Vec<u32>)], what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for ((name, got), (wanted, want)) in got.iter().zip(want) {
        assert_eq!(name, wanted, "{what}");
        assert!(got == want, "{what}: {name} differs");
    }
}

/// Waits until `done` returns true, at most twenty seconds; returns whether it did.
fn eventually(done: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        if done() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
