//! Graphs over several devices (`BindOptions::groups`). They must give the same bits as on one device, and have copies where
//! MXNet has them. The host must not wait inside a step, all conflicting accesses must be ordered, and errors after failures
//! must be clear.

mod failures;
mod forms;
mod networks;
mod placement;

use super::{DEFAULT, ENGINES, Plug, assert_same, eventually, results};
use mxrs::Runtime;
use mxrs::engine::Property;
use mxrs::engine::gpu::StreamUse;
use mxrs::env::MapSource;
use mxrs::exec::{BindOptions, Executor, GradReq, GradRequests};
use mxrs::ndarray::NdArray;
use mxrs::types::{Device, Shape};
use mxrs_simulated_gpu::{SimulatedDevice, SimulatedGpu, SimulatedMemory, Span};
use networks::Network;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const CPU: Device = Device::cpu(0);
const GPUS: [Device; 2] = [Device::gpu(0), Device::gpu(1)];
/// Devices of the groups `a`, `b` and `c` of the networks.
const MIXED: [Device; 3] = [GPUS[0], GPUS[1], CPU];
const ON_GPUS: [Device; 3] = [GPUS[0], GPUS[1], GPUS[0]];
const ON_CPUS: [Device; 3] = [Device::cpu(1), Device::cpu(2), CPU];

/// A runtime with two simulated GPUs.
struct World {
    gpus: [Arc<SimulatedDevice>; 2],
    runtime: Runtime,
}

impl World {
    fn new(engine: (&str, &str)) -> Self {
        Self::of(SimulatedDevice::new(GPUS[0], 256 << 20), engine)
    }

    /// A runtime with this device and a second simulated GPU.
    fn of(first: Arc<SimulatedDevice>, (engine, sync): (&str, &str)) -> Self {
        let gpus = [Arc::clone(&first), first.beside(GPUS[1], 256 << 20)];
        let variables =
            MapSource::new([("MXNET_ENGINE_TYPE", engine), ("MXRS_GPU_SYNC", sync), ("OMP_NUM_THREADS", "1")]);
        let builder = Runtime::builder().env(&variables);
        let builder = gpus.iter().fold(builder, |builder, gpu| builder.device(Arc::new(Plug(Arc::clone(gpu)))));
        Self { runtime: builder.build().unwrap(), gpus }
    }

    fn network(&self, name: &str) -> Network {
        networks::all(&self.runtime).into_iter().find(|network| network.name == name).unwrap()
    }

    /// A training executor of a network with its groups `a`, `b` and `c` on these devices, or without groups on `cpu(0)`.
    /// `change` edits the options.
    fn bind(
        &self,
        network: &Network,
        on: Option<[Device; 3]>,
        change: impl FnOnce(&mut BindOptions),
    ) -> mxrs::Result<Executor> {
        let groups = ["a", "b", "c"].into_iter().map(String::from).zip(on.into_iter().flatten()).collect();
        let gradients = Some(network.gradients());
        let mut options = BindOptions { groups, gradients, ..self.runtime.bind_options() };
        change(&mut options);
        Executor::simple_bind(&network.graph, self.runtime.arrays(), &network.inputs(), &options)
    }

    fn launches(&self) -> u64 {
        self.gpus.iter().map(|gpu| gpu.gpu().counters().launches).sum()
    }

    /// How often the host has waited for a stream or for an unfinished event.
    fn host_waits(&self) -> u64 {
        let waits = |gpu: &Arc<SimulatedDevice>| {
            let counters = gpu.gpu().counters();
            counters.event_waits + counters.synchronizations
        };
        self.gpus.iter().map(waits).sum()
    }

    /// Asserts that the checker found no conflicting accesses without an order, and that both devices were used.
    #[track_caller]
    fn assert_ordered(&self) {
        assert_eq!(self.gpus[0].checker().violations(), []);
        for gpu in &self.gpus {
            assert!(gpu.gpu().counters().launches > 0, "nothing ran on a device");
        }
    }

    /// Asserts that no memory of the devices is in use.
    #[track_caller]
    fn assert_empty(&self) {
        let _ = self.runtime.engine().wait_for_all();
        let storage = self.runtime.storage();
        for (device, gpu) in GPUS.into_iter().zip(&self.gpus) {
            let live = || storage.stats(device).live_blocks;
            assert!(eventually(|| live() == 0), "{} blocks of {device} leak", live());
            storage.release_all(device);
            assert_eq!(gpu.memory().counters().used_bytes, 0, "{device}");
        }
    }
}

/// Numbers between -0.5 and 0.5 that depend on a name and look random.
fn numbers(name: &str, n: usize) -> Vec<f32> {
    let seed = name.bytes().fold(7u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
    (0..n as u64).map(|i| ((seed % 1009 + i) * 7919 % 1009) as f32 / 1009.0 - 0.5).collect()
}

/// Fills all arrays of an executor, and waits until they are filled.
fn fill(executor: &Executor) -> mxrs::Result<()> {
    for (name, array) in executor.arrays() {
        let mut values = numbers(name, array.shape().n_elements());
        if name.ends_with("label") {
            values.iter_mut().enumerate().for_each(|(i, value)| *value = (i % 3) as f32);
        } else if name.ends_with("moving_var") {
            values.iter_mut().for_each(|value| *value += 1.0);
        }
        array.copy_from(&values)?;
    }
    executor.arrays().iter().try_for_each(|(_, array)| array.wait_to_read())
}

/// The gradients of the outputs that are not losses, each on the device of its output.
fn head_grads(world: &World, network: &Network, executor: &Executor) -> mxrs::Result<Vec<NdArray>> {
    if network.is_loss {
        return Ok(Vec::new());
    }
    let of = |(index, output): (usize, &NdArray)| {
        let values = numbers(&format!("head {index}"), output.shape().n_elements());
        NdArray::from_slice_on(world.runtime.arrays(), output.shape().clone(), &values, output.device())
    };
    executor.outputs().iter().enumerate().map(of).collect()
}

/// Pushes one training step.
fn push(executor: &Executor, heads: &[NdArray]) -> mxrs::Result<()> {
    executor.forward_train()?;
    executor.backward(heads)
}

/// The outputs of an inference, and the results of two training steps.
fn steps(world: &World, network: &Network, executor: &Executor) -> mxrs::Result<Vec<(String, Vec<u32>)>> {
    fill(executor)?;
    executor.forward()?;
    let mut found = Vec::new();
    for output in executor.outputs() {
        found.push(("inference".to_owned(), output.to_vec::<f32>()?.into_iter().map(f32::to_bits).collect()));
    }
    let heads = head_grads(world, network, executor)?;
    for _ in 0..2 {
        push(executor, &heads)?;
    }
    found.extend(results(executor)?);
    Ok(found)
}

/// Compares the results over several devices with those on one device.
#[track_caller]
fn compare(world: &World, network: &Network, on: [Device; 3], change: impl Fn(&mut BindOptions)) {
    let one = world.bind(network, None, &change).unwrap();
    let want = steps(world, network, &one).unwrap();
    let several = world.bind(network, Some(on), &change).unwrap();
    let got = steps(world, network, &several).unwrap();
    assert_same(&got, &want, &format!("{} on {on:?}", network.name));
}

#[test]
fn every_network_has_the_same_bits_as_on_one_device() {
    let world = World::new(DEFAULT);
    for network in networks::all(&world.runtime) {
        for on in [MIXED, ON_GPUS, ON_CPUS] {
            compare(&world, &network, on, |_| {});
        }
    }
    world.assert_ordered();
    world.assert_empty();
}

#[test]
fn every_engine_gives_the_same_bits() {
    for engine in ENGINES {
        let world = World::new(engine);
        for name in ["lenet", "rnn"] {
            compare(&world, &world.network(name), MIXED, |_| {});
        }
        world.assert_ordered();
        world.assert_empty();
    }
}

/// Without direct copies, a tensor goes through pinned memory of the host.
#[test]
fn devices_that_do_not_reach_each_other_copy_through_the_host() {
    let world = World::new(DEFAULT);
    world.gpus[0].set_peers(false);
    compare(&world, &world.network("rnn"), ON_GPUS, |_| {});
    let copies = world.gpus.iter().map(|gpu| gpu.copies()).collect::<Vec<_>>();
    assert!(copies.iter().all(|copies| copies.to_peers.n == 0), "{copies:?}");
    world.gpus[0].set_peers(true);
    compare(&world, &world.network("rnn"), ON_GPUS, |_| {});
    assert!(world.gpus.iter().all(|gpu| gpu.copies().to_peers.n > 0));
    world.assert_ordered();
    world.assert_empty();
}

#[test]
fn bulks_of_every_size_have_the_same_bits() {
    let world = World::new(DEFAULT);
    for size in [1, 2, usize::MAX] {
        compare(&world, &world.network("lstm"), MIXED, |options| {
            (options.bulk_train_forward, options.bulk_train_backward) = (size, size);
            options.bulk_inference = size > 1;
        });
    }
    world.assert_ordered();
    world.assert_empty();
}

/// The host enqueues a whole step while both devices are halted, so nothing in the step waits on the host for a device.
#[test]
fn a_step_does_not_wait_on_the_host() {
    for (name, peers) in [("mlp", true), ("lenet", true), ("lstm", true), ("lstm", false)] {
        let world = World::new(DEFAULT);
        world.gpus[0].set_peers(peers);
        let network = world.network(name);
        let executor = world.bind(&network, Some(ON_GPUS), |_| {}).unwrap();
        fill(&executor).unwrap();
        let step = || push(&executor, &[]).unwrap();
        world.runtime.engine().wait_for_all().unwrap();
        let before = world.launches();
        step();
        world.runtime.engine().wait_for_all().unwrap();
        let n_launches = world.launches() - before;
        let (before, waits) = (world.launches(), world.host_waits());
        let holds = world.gpus.each_ref().map(|gpu| gpu.gpu().hold());
        step();
        let is_enqueued = eventually(|| world.launches() == before + n_launches);
        assert!(is_enqueued, "{name}: {} of {n_launches} launches", world.launches() - before);
        assert_eq!(world.host_waits(), waits, "{name}");
        drop(holds);
        world.runtime.engine().wait_for_all().unwrap();
        world.assert_ordered();
    }
}

/// While tasks of a group on the host wait for a tensor of a device, the worker of the host runs other tasks.
#[test]
fn a_worker_of_the_host_does_not_wait_for_a_device() {
    for property in [Property::Normal, Property::CpuPrioritized] {
        let world = World::new(DEFAULT);
        let executor = world.bind(&world.network("lenet"), Some(MIXED), |_| {}).unwrap();
        fill(&executor).unwrap();
        let engine = world.runtime.engine();
        engine.wait_for_all().unwrap();
        let holds = world.gpus.each_ref().map(|gpu| gpu.gpu().hold());
        let before = world.launches();
        for _ in 0..4 {
            push(&executor, &[]).unwrap();
        }
        assert!(eventually(|| world.launches() > before), "nothing is enqueued");
        // Gives the engine time to start the tasks of the group on the host, which then wait for the halted devices.
        std::thread::sleep(Duration::from_millis(50));
        let (ran, var) = (Arc::new(AtomicBool::new(false)), engine.new_var());
        let done = Arc::clone(&ran);
        let other = engine.task("other").write(&var).property(property).push(move |_| {
            done.store(true, Ordering::SeqCst);
            Ok(())
        });
        other.unwrap();
        assert!(eventually(|| ran.load(Ordering::SeqCst)), "the worker of the host waits for a device");
        drop(holds);
        engine.wait_for_all().unwrap();
        let pools = engine.counters().pools;
        assert!(pools.iter().any(|pool| pool.id.to_string().ends_with("-wait")), "no task had to wait: {pools:?}");
        world.assert_ordered();
    }
}

/// While a tensor is copied, its device goes on computing, and so does the other device.
#[test]
fn copies_and_both_devices_work_at_the_same_time() {
    // Each piece of work takes 20 ms. On a busy machine the threads of the two devices may start late, and their work must
    // still overlap.
    let gpu = SimulatedGpu::with_latency(GPUS[0], Duration::from_millis(20));
    let memory = SimulatedMemory::new(GPUS[0], 256 << 20).hidden();
    let world = World::of(SimulatedDevice::of(gpu, memory, 0), DEFAULT);
    let executor = world.bind(&world.network("rnn"), Some(ON_GPUS), |_| {}).unwrap();
    fill(&executor).unwrap();
    let engine = world.runtime.engine();
    engine.wait_for_all().unwrap();
    let before = world.launches();
    executor.forward_train().unwrap();
    engine.wait_for_all().unwrap();
    let n_launches = world.launches() - before;
    // The devices are halted until a whole step is enqueued. So the result does not depend on the speed of the host.
    let holds = world.gpus.each_ref().map(|gpu| gpu.gpu().hold());
    let first = world.gpus.each_ref().map(|gpu| gpu.gpu().timeline().spans().len());
    executor.forward_train().unwrap();
    assert!(eventually(|| world.launches() == before + 2 * n_launches), "the host waits within a step");
    drop(holds);
    engine.wait_for_all().unwrap();
    let of_step = |(gpu, first): (&Arc<SimulatedDevice>, usize)| gpu.gpu().timeline().spans()[first..].to_vec();
    let spans: Vec<Span> = world.gpus.iter().zip(first).flat_map(of_step).collect();
    let streams: Vec<_> = world.gpus.iter().flat_map(|gpu| gpu.gpu().streams()).collect();
    let is_copy_stream = |span: &Span| streams.contains(&(span.stream, StreamUse::Copy));
    let is_copy = |span: &&Span| span.name.starts_with("copy from gpu(");
    // The kernel that overlaps with a copy may be any kernel. In the forward half it is `slice_axis` of the next time step.
    let is_kernel = |span: &&Span| !span.name.starts_with("copy from ");
    assert!(spans.iter().filter(is_copy).all(is_copy_stream), "a copy on a stream of kernels");
    let overlap = |a: &Span, b: &Span| a.start < b.end && b.start < a.end;
    let beside = |copy: &Span| {
        let kernels = spans.iter().filter(is_kernel);
        kernels.filter(|kernel| kernel.stream.device == copy.stream.device).any(|kernel| overlap(copy, kernel))
    };
    assert!(spans.iter().filter(is_copy).any(beside), "no copy at the same time as a kernel");
    let on = |device: Device| spans.iter().filter(is_kernel).filter(move |span| span.stream.device == device);
    assert!(on(GPUS[0]).any(|a| on(GPUS[1]).any(|b| overlap(a, b))), "the devices take turns");
    world.assert_ordered();
}

/// Requests gradients of all arguments except for the given ones.
fn all_but(without: impl IntoIterator<Item = String>) -> GradRequests {
    let all = GradRequests::all(GradReq::Write);
    without.into_iter().fold(all, |requests, name| requests.with(name, GradReq::Null))
}

/// A shape from text such as `2,3`.
fn shape(text: &str) -> Shape {
    Shape::new(text.split(',').map(|size| size.parse::<usize>().unwrap()))
}
