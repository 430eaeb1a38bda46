//! Rows D2, D3, D8 (its effect for GPUs), D58, M1 and D29 (its values that end in `Async`) of `docs/env.md`: workers
//! and streams of a GPU.
//!
//! This build has no GPU. An engine with a simulated GPU gets the settings that the runtime has for its own engine.

use crate::door::Door;
use crate::{Vars, runtime, warnings};
use mxrs_engine::gpu::{GpuDevice, GpuSync, StreamUse};
use mxrs_engine::{Engine, EngineKind, PoolId, Property};
use mxrs_simulated_gpu::{SimulatedGpu, SimulatedGpuCall, SimulatedStream, Touch};
use mxrs_types::{Device, DeviceStream, StreamId};
use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};
use std::time::Duration;

const WORKERS: &str = "MXNET_GPU_WORKER_NTHREADS";
const COPY_WORKERS: &str = "MXNET_GPU_COPY_NTHREADS";
const STREAMS: &str = "MXNET_GPU_WORKER_NSTREAMS";
const SYNC: &str = "MXRS_GPU_SYNC";

fn engine(vars: Vars<'_>) -> (Engine, Arc<SimulatedGpu>) {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let config = runtime(vars).engine().config().clone();
    let engine = Engine::builder(config).gpu(Arc::clone(&gpu) as Arc<dyn GpuDevice>).build().unwrap();
    (engine, gpu)
}

/// Pushes 8 independent tasks that launch work and wait for each other. Returns the largest number that ran at the same
/// time, and the number of streams that their launches used.
fn meet(engine: &Engine, gpu: &SimulatedGpu, property: Property, pool: PoolId, n: usize) -> (usize, usize) {
    let (door, n_calls) = (Door::default(), gpu.calls().len());
    for _ in 0..8 {
        let wait = door.body();
        let task = engine.task("meet").device(Device::gpu(0)).property(property);
        let pushed = task.push(move |ctx| {
            SimulatedStream::of(&**ctx.stream().expect("a task of a GPU has a stream"))?.launch("k", || {})?;
            wait(ctx)
        });
        pushed.unwrap();
    }
    assert_eq!(door.wait_for(n), n);
    door.open();
    engine.wait_for_all().unwrap();
    let calls = gpu.calls().split_off(n_calls).into_iter();
    let stream = |call| if let SimulatedGpuCall::Launch { stream, .. } = call { Some(stream) } else { None };
    let streams: BTreeSet<StreamId> = calls.filter_map(stream).collect();
    (engine.counters().pool(pool).expect("it was used").peak_running, streams.len())
}

#[test]
fn d2_so_many_operators_of_a_gpu_at_once() {
    for (vars, n) in [(&[] as Vars<'_>, 2), (&[(WORKERS, "1")], 1), (&[(WORKERS, "3")], 3)] {
        let (engine, gpu) = engine(vars);
        assert!(gpu.streams().is_empty(), "made at the first operator");
        assert_eq!(meet(&engine, &gpu, Property::Normal, PoolId::Gpu(0), n), (n, n));
        assert_eq!(meet(&engine, &gpu, Property::GpuPrioritized, PoolId::GpuPriority(0), n), (n, n));
        assert_eq!(gpu.streams().len(), 2 * n);
    }
}

#[test]
fn d2_does_not_matter_to_the_pooled_engine() {
    let (engine, gpu) = engine(&[("MXNET_ENGINE_TYPE", "ThreadedEngine"), (WORKERS, "3")]);
    let (peak, n_streams) = meet(&engine, &gpu, Property::Normal, PoolId::Global, 8);
    assert_eq!((peak, n_streams), (8, 8), "16 workers and 16 streams are more than there are operators");
}

#[test]
fn d3_so_many_copies_at_once_and_compute_passes_them() {
    for (vars, n) in [(&[] as Vars<'_>, 2), (&[(COPY_WORKERS, "1")], 1), (&[(COPY_WORKERS, "3")], 3)] {
        let (engine, gpu) = engine(vars);
        let door = Door::default();
        for i in 0..8 {
            let property = [Property::CopyToGpu, Property::CopyFromGpu][i % 2];
            engine.task("copy").device(Device::gpu(0)).property(property).push(door.body()).unwrap();
        }
        assert_eq!(door.wait_for(n), n);
        let x = engine.new_var();
        engine.task("compute").write(&x).device(Device::gpu(0)).push(|_| Ok(())).unwrap();
        engine.wait_to_read(&x).unwrap();
        door.open();
        engine.wait_for_all().unwrap();
        assert_eq!(engine.counters().pool(PoolId::GpuCopy(0)).unwrap().peak_running, n);
        let copies = gpu.streams().iter().filter(|made| made.1 == StreamUse::Copy).count();
        assert_eq!(copies, n);
    }
}

/// The two halves of a convolution's backward pass run on one stream or on two. In the second case, the streams wait for
/// each other before and after.
#[test]
fn d58_a_second_stream_ordered_by_events() {
    for (vars, n) in [(&[] as Vars<'_>, 1), (&[(STREAMS, "1")], 1), (&[(STREAMS, "2")], 2)] {
        let (engine, gpu) = engine(vars);
        let (sender, receiver) = mpsc::channel();
        let task = engine.task("backward").device(Device::gpu(0));
        let pushed = task.push(move |ctx| {
            let main = SimulatedStream::of(&**ctx.stream().expect("a task of a GPU has a stream"))?;
            main.launch_on("forward", &[Touch::write(0..2)], || {})?;
            ctx.aux_scope(|aux| {
                sender.send([main.id(), aux.id()]).unwrap();
                SimulatedStream::of(&**aux)?.launch_on("weight gradient", &[Touch::write_cell(0)], || {})?;
                main.launch_on("data gradient", &[Touch::write_cell(1)], || {})
            })?;
            main.launch_on("update", &[Touch::read(0..2)], || {})
        });
        pushed.unwrap();
        engine.wait_for_all().unwrap();
        let streams: BTreeSet<StreamId> = receiver.recv().unwrap().into();
        assert_eq!((streams.len(), gpu.streams().len()), (n, n));
        assert_eq!(gpu.counters().stream_waits, if n == 2 { 2 } else { 0 }, "one before, one after");
        gpu.checker().assert_clean();
    }
}

/// Observations of a GPU operator and a second one that reads its result. They run in different pools, so on different
/// workers.
#[derive(Debug, PartialEq)]
struct Dependent {
    /// Whether the second operator launched before the first one's work was done.
    passes: bool,
    /// How often a stream waited for an event of another stream.
    stream_waits: u64,
    /// How often a worker waited until its stream was empty.
    synchronizations: u64,
}

const BY_THE_HOST: Dependent = Dependent { passes: false, stream_waits: 0, synchronizations: 2 };
const BY_EVENTS: Dependent = Dependent { passes: true, stream_waits: 1, synchronizations: 0 };

fn dependent_operators(vars: Vars<'_>) -> Dependent {
    let (engine, gpu) = engine(vars);
    let is_naive = engine.config().kind == EngineKind::Naive;
    let is_by_events = engine.config().is_async || engine.config().gpu_sync == GpuSync::Event;
    let (x, y) = (engine.new_var(), engine.new_var());
    let (finish, may_finish) = mpsc::channel::<()>();
    let (launched, has_launched) = mpsc::channel();
    if is_naive {
        // With the naive engine, the push itself may wait for the work, so the work is allowed to finish before the push.
        finish.send(()).unwrap();
    }
    let first = engine.task("first").write(&x).device(Device::gpu(0));
    let pushed = first.push(move |ctx| {
        let stream = SimulatedStream::of(&**ctx.stream().expect("a task of a GPU has a stream"))?;
        stream.launch_on("first", &[Touch::write_cell(0)], move || _ = may_finish.recv())
    });
    pushed.unwrap();
    let second = engine.task("second").read(&x).write(&y).device(Device::gpu(0)).property(Property::GpuPrioritized);
    let pushed = second.push(move |ctx| {
        let stream = SimulatedStream::of(&**ctx.stream().expect("a task of a GPU has a stream"))?;
        stream.launch_on("second", &[Touch::read_cell(0), Touch::write_cell(1)], || {})?;
        launched.send(()).unwrap();
        Ok(())
    });
    pushed.unwrap();
    // Without events, the second launch comes only after `finish`, so a short wait is enough.
    let patience = Duration::from_millis(if is_by_events { 10_000 } else { 50 });
    let passes = has_launched.recv_timeout(patience).is_ok();
    drop(finish);
    engine.wait_to_read(&y).unwrap();
    let counters = gpu.counters();
    assert_eq!(counters.executed, 2, "{vars:?}");
    engine.wait_for_all().unwrap();
    gpu.checker().assert_clean();
    Dependent { passes, stream_waits: counters.stream_waits, synchronizations: counters.synchronizations }
}

#[test]
fn d29_async_orders_operators_of_a_gpu_by_events() {
    let of_type = |word| dependent_operators(&[("MXNET_ENGINE_TYPE", word)]);
    for word in ["ThreadedEnginePerDevice", "ThreadedEngine"] {
        assert_eq!(of_type(word), BY_THE_HOST, "{word}");
    }
    assert_eq!(of_type("ThreadedEnginePerDeviceAsync"), BY_EVENTS);
    let pooled = of_type("ThreadedEngineAsync");
    assert_eq!((pooled.passes, pooled.synchronizations), (true, 0), "its workers have streams too, perhaps the same");
    assert_eq!(of_type("NaiveEngineAsync"), of_type("NaiveEngine"), "no difference");
}

#[test]
fn m1_event_has_the_effect_of_async_and_does_not_undo_it() {
    assert_eq!(dependent_operators(&[(SYNC, "event")]), BY_EVENTS);
    assert_eq!(dependent_operators(&[(SYNC, "host")]), BY_THE_HOST);
    assert_eq!(dependent_operators(&[]), BY_THE_HOST);
    let both = [("MXNET_ENGINE_TYPE", "ThreadedEnginePerDeviceAsync"), (SYNC, "host")];
    assert_eq!(dependent_operators(&both), BY_EVENTS, "the suffix wins");
}

#[test]
fn settings_of_gpu_workers_are_said_to_have_no_effect_here() {
    for (name, value) in [(COPY_WORKERS, "3"), (STREAMS, "2"), (SYNC, "event")] {
        assert_eq!(
            warnings(&[(name, value)]),
            [format!("{name}={value} has no effect: it needs a GPU device, which this build has none of")]
        );
    }
    assert!(warnings(&[(WORKERS, "3")]).is_empty(), "it also limits the planner");
}

/// Once a GPU is in use, loops use one thread of the team less (two of eight or more), unless the number of threads is
/// given.
#[test]
fn d8_keeps_a_thread_back_once_a_gpu_is_in_use() {
    for (vars, is_given) in [(&[] as Vars<'_>, false), (&[("OMP_NUM_THREADS", "3")], true)] {
        let runtime = runtime(vars);
        let team = Arc::clone(runtime.team());
        let before = team.size();
        let kept = mxrs::settings::kept_back_for_gpus(runtime.settings(), before);
        assert_eq!(kept.is_none(), is_given);
        let gpu = SimulatedGpu::new(Device::gpu(0));
        let mut engine = Engine::builder(runtime.engine().config().clone()).gpu(gpu as Arc<dyn GpuDevice>);
        if let Some(threads) = kept {
            let team = Arc::clone(&team);
            engine = engine.at_first_gpu_task(move || team.keep_back(threads));
        }
        let engine = engine.build().unwrap();
        engine.task("cpu").push(|_| Ok(())).unwrap();
        engine.wait_for_all().unwrap();
        assert_eq!(team.size(), before, "no GPU is in use yet");
        engine.task("gpu").device(Device::gpu(0)).push(|_| Ok(())).unwrap();
        engine.wait_for_all().unwrap();
        let expected = if is_given { before } else { (before - if before >= 8 { 2 } else { 1 }).max(1) };
        assert_eq!(team.size(), expected);
    }
}
