//! Which workers run tasks of a GPU, how many at the same time, and on which streams. D2, D3, D8 and D58 are environment
//! variables in `docs/env.md`.

use crate::*;
use mxrs_engine::gpu::StreamUse;
use mxrs_engine::{PoolId, Property};
use mxrs_sync::{Team, TeamConfig};
use mxrs_types::{DeviceStream, StreamId};
use std::collections::{BTreeSet, HashSet};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

fn stream_ids(gpu: &SimulatedGpu, stream_use: StreamUse) -> BTreeSet<StreamId> {
    gpu.streams().into_iter().filter(|made| made.1 == stream_use).map(|made| made.0).collect()
}

/// The streams that got launches.
fn used(gpu: &SimulatedGpu) -> BTreeSet<StreamId> {
    use mxrs_simulated_gpu::SimulatedGpuCall::Launch;
    let calls = gpu.calls().into_iter();
    calls.filter_map(|call| if let Launch { stream, .. } = call { Some(stream) } else { None }).collect()
}

/// Pushes 8 tasks that launch something and wait for each other; returns how many ran at the same time.
fn meet(engine: &Engine, property: Property, expected: usize) -> usize {
    let door = Door::default();
    for _ in 0..8 {
        let wait = door.body();
        let task = engine.task("meet").device(Device::gpu(0)).property(property);
        let pushed = task.push(move |ctx| {
            stream(ctx).launch("k", || {})?;
            wait(ctx)
        });
        pushed.unwrap();
    }
    let n_came = door.wait_for(expected);
    std::thread::sleep(Duration::from_millis(10));
    let n_more = door.wait_for(expected);
    door.open();
    engine.wait_for_all().unwrap();
    assert_eq!(n_came, n_more, "no more come");
    n_came
}

#[test]
fn without_the_gpu_the_push_says_so() {
    for kind in KINDS {
        let none = Engine::new(EngineConfig::of_kind(kind)).unwrap();
        let other = engine(EngineConfig::of_kind(kind), &[&SimulatedGpu::new(Device::gpu(1))]);
        for (engine, remedy) in [(&none, "use cpu(0)"), (&other, "gpu(1)")] {
            let refused = engine.task("k").device(Device::gpu(0)).push(|_| Ok(())).unwrap_err().to_string();
            assert!(refused.contains("gpu(0)") && refused.contains(remedy), "{refused}");
            engine.wait_for_all().unwrap();
        }
    }
}

/// D2: each pool of a GPU has its own workers, and each worker has a stream that is created at the worker's first task.
#[test]
fn d2_workers_and_their_streams() {
    for sync in [GpuSync::Host, GpuSync::Event] {
        for n in 1..=3 {
            let gpu = gpu0();
            let engine = engine(EngineConfig { gpu_workers: count(n), ..config(sync) }, &[&gpu]);
            assert!(engine.counters().pool(PoolId::Gpu(0)).is_none() && gpu.streams().is_empty());
            assert_eq!(meet(&engine, Property::Normal, n), n);
            assert_eq!(used(&gpu).len(), n);
            assert_eq!(used(&gpu), stream_ids(&gpu, StreamUse::Compute));
            assert_eq!(meet(&engine, Property::GpuPrioritized, n), n);
            let prioritized = stream_ids(&gpu, StreamUse::Prioritized);
            assert_eq!((prioritized.len(), gpu.streams().len()), (n, 2 * n));
            for id in [PoolId::Gpu(0), PoolId::GpuPriority(0)] {
                let counters = engine.counters();
                let pool = counters.pool(id).unwrap();
                assert_eq!((pool.threads, pool.peak_running, pool.executed), (n, n, 8), "{id}");
            }
        }
    }
}

#[test]
fn prioritized_tasks_leave_by_priority() {
    let gpu = gpu0();
    let engine = engine(EngineConfig { gpu_workers: count(1), ..EngineConfig::default() }, &[&gpu]);
    let (door, order) = (Door::default(), Arc::new(Mutex::new(Vec::new())));
    let urgent = || engine.task("k").device(Device::gpu(0)).property(Property::GpuPrioritized);
    urgent().push(door.body()).unwrap();
    assert_eq!(door.wait_for(1), 1);
    for priority in [0, -3, 7, 2] {
        let order = Arc::clone(&order);
        let pushed = urgent().priority(priority).push(move |_| {
            order.lock().unwrap().push(priority);
            Ok(())
        });
        pushed.unwrap();
    }
    door.open();
    engine.wait_for_all().unwrap();
    assert_eq!(*order.lock().unwrap(), [7, 2, 0, -3]);
}

/// D3: copies have workers and streams of their own, so blocked copies do not delay other tasks.
#[test]
fn d3_copies_do_not_stand_in_the_way() {
    for n in [1, 2, 3] {
        let gpu = gpu0();
        let engine = engine(EngineConfig { gpu_copy_workers: count(n), ..EngineConfig::default() }, &[&gpu]);
        let door = Door::default();
        for i in 0..8 {
            let (wait, property) = (door.body(), [Property::CopyToGpu, Property::CopyFromGpu][i % 2]);
            let copy = engine.task("copy").device(Device::gpu(0)).property(property);
            let pushed = copy.push(move |ctx| {
                assert_eq!(stream(ctx).stream_use(), StreamUse::Copy);
                wait(ctx)
            });
            pushed.unwrap();
        }
        assert_eq!(door.wait_for(n), n);
        let x = engine.new_var();
        push(&engine, &[], &[&x], || {});
        engine.wait_to_read(&x).unwrap();
        assert_eq!(engine.counters().pool(PoolId::Gpu(0)).unwrap().executed, 1);
        door.open();
        engine.wait_for_all().unwrap();
        let counters = engine.counters();
        let copies = counters.pool(PoolId::GpuCopy(0)).unwrap();
        assert_eq!((copies.threads, copies.peak_running, copies.executed), (n, n, 8));
        assert!(stream_ids(&gpu, StreamUse::Copy).len() <= n);
    }
}

/// Each GPU has its own pools, and a property for another kind of device counts as `Normal`.
#[test]
fn pools_are_per_gpu_and_foreign_words_mean_normal() {
    let gpu = gpu0();
    let other = gpu.beside(Device::gpu(1));
    let engine = engine(EngineConfig::default(), &[&gpu, &other]);
    engine.task("k").device(Device::gpu(1)).property(Property::CpuPrioritized).push(|_| Ok(())).unwrap();
    for property in [Property::GpuPrioritized, Property::CopyFromGpu] {
        engine
            .task("k")
            .property(property)
            .push(|ctx| {
                assert!(ctx.stream().is_none());
                Ok(())
            })
            .unwrap();
    }
    engine.wait_for_all().unwrap();
    let counters = engine.counters();
    assert_eq!(counters.pool(PoolId::Gpu(1)).unwrap().executed, 1);
    assert_eq!(counters.pool(PoolId::Cpu(0)).unwrap().executed, 2);
    assert!(counters.pool(PoolId::Gpu(0)).is_none());
}

/// `EngineKind::Threaded` ignores the numbers of workers for a GPU (D2) and for its copies (D3): its 16 workers serve all
/// devices, they use the 16 streams of a GPU in turn, and copies go to one copy worker.
#[test]
fn d2_d3_do_not_matter_to_the_pooled_engine() {
    let gpu = gpu0();
    let settings = EngineConfig { gpu_workers: count(2), ..EngineConfig::of_kind(EngineKind::Threaded) };
    let engine = engine(settings, &[&gpu]);
    let door = Door::default();
    for i in 0..20 {
        let wait = door.body();
        let device = [Device::gpu(0), Device::cpu(0)][i % 2];
        engine.task("k").device(device).push(wait).unwrap();
    }
    assert_eq!(door.wait_for(16), 16);
    door.open();
    engine.wait_for_all().unwrap();
    for _ in 0..40 {
        push(&engine, &[], &[], || {});
    }
    let copy = engine.task("copy").device(Device::gpu(0)).property(Property::CopyToGpu);
    copy.push(|ctx| stream(ctx).launch("copy", || {})).unwrap();
    engine.wait_for_all().unwrap();
    assert_eq!(engine.counters().pool(PoolId::Copy).unwrap().executed, 1);
    assert_eq!(stream_ids(&gpu, StreamUse::Compute).len(), 16);
    assert_eq!(stream_ids(&gpu, StreamUse::Copy).len(), 1);
    assert_eq!(used(&gpu).len(), 17);
}

/// D58: a worker has one stream or two. With two, events order the work inside `aux_scope` after earlier and before
/// later work, and inside the scope the two streams may overlap.
#[test]
fn d58_a_second_stream_per_worker() {
    for n in [1, 2] {
        let gpu = gpu0();
        let settings = EngineConfig { gpu_worker_streams: count(n), ..config(GpuSync::Event) };
        let engine = engine(settings, &[&gpu]);
        let x = engine.new_var();
        for _ in 0..4 {
            let (whole, half, both) = (writes(&x), Touch::write_cell(0), [writes(&x), Touch::write_cell(0)]);
            let meet = Arc::new(Barrier::new(n));
            let too = Arc::clone(&meet);
            let task = engine.task("backward").write(&x).device(Device::gpu(0));
            let pushed = task.push(move |ctx| {
                let main = stream(ctx);
                main.launch_on("forward", &both, || {})?;
                ctx.aux_scope(|aux| {
                    let aux = SimulatedStream::of(&**aux)?;
                    assert_eq!(aux.id() != main.id(), n == 2);
                    aux.launch_on("weight gradient", &[half], move || _ = meet.wait())?;
                    main.launch_on("data gradient", &[whole], move || _ = too.wait())
                })?;
                main.launch_on("update", &both, || {})
            });
            pushed.unwrap();
        }
        engine.wait_for_all().unwrap();
        gpu.checker().assert_clean();
        let n_aux = stream_ids(&gpu, StreamUse::Auxiliary).len();
        assert_eq!(n_aux, stream_ids(&gpu, StreamUse::Compute).len() * (n - 1));
        let counters = gpu.counters();
        assert!(counters.stream_waits >= 8 * (n as u64 - 1) && counters.launches == 16);
        assert!(counters.peak_running >= n);
    }
}

/// A wait for a task also waits for the work that the task left on its auxiliary stream, both with `GpuSync::Host` and
/// with `GpuSync::Event`.
#[test]
fn d58_the_end_of_a_task_covers_the_auxiliary_stream() {
    for sync in [GpuSync::Host, GpuSync::Event] {
        let gpu = gpu0();
        let engine = engine(EngineConfig { gpu_worker_streams: count(2), ..config(sync) }, &[&gpu]);
        let x = engine.new_var();
        for _ in 0..20 {
            let touch = writes(&x);
            let task = engine.task("k").write(&x).device(Device::gpu(0));
            let pushed = task.push(move |ctx| {
                let aux = ctx.aux_stream()?.expect("there are two");
                SimulatedStream::of(&**aux)?.launch_on("aux", &[touch], || {})
            });
            pushed.unwrap();
        }
        engine.wait_to_read(&x).unwrap();
        drop(gpu.checker().host_access("print", &[reads(&x)]));
        gpu.checker().assert_clean();
    }
}

/// D8: a GPU worker runs a loop alone unless `gpu_workers_share_loops` allows it to share the loop with the team; a CPU
/// worker always shares it.
#[test]
fn d8_gpu_workers_keep_their_loops_to_themselves() {
    let team = Team::new(TeamConfig { threads: count(3), cpus: None }).unwrap();
    for kind in [EngineKind::Threaded, EngineKind::ThreadedPerDevice] {
        for share in [false, true] {
            let gpu = gpu0();
            let settings = EngineConfig { kind, gpu_workers_share_loops: share, ..config(GpuSync::Host) };
            let engine = engine(settings, &[&gpu]);
            for (device, property, expected) in [
                (Device::cpu(0), Property::Normal, 3),
                (Device::gpu(0), Property::Normal, if share { 3 } else { 1 }),
                (Device::gpu(0), Property::GpuPrioritized, if share { 3 } else { 1 }),
                (Device::gpu(0), Property::CopyFromGpu, if share { 3 } else { 1 }),
                (Device::cpu(0), Property::Normal, 3),
            ] {
                let threads = Arc::new(Mutex::new(HashSet::new()));
                let (own, team) = (Arc::clone(&threads), Arc::clone(&team));
                let body = move |_: &RunContext| {
                    team.run(3, &|_| {
                        own.lock().unwrap().insert(std::thread::current().id());
                    });
                    Ok(())
                };
                engine.task("loop").device(device).property(property).push(body).unwrap();
                engine.wait_for_all().unwrap();
                assert_eq!(threads.lock().unwrap().len(), expected, "{kind:?}, {device}, {property:?}, {share}");
            }
        }
    }
}

/// D8: once a GPU is in use, and not earlier, one thread of the team can be kept out of the loops of CPU workers.
#[test]
fn d8_a_thread_is_kept_back_once_a_gpu_is_in_use() {
    for kind in [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice] {
        let team = Team::new(TeamConfig { threads: count(3), cpus: None }).unwrap();
        let (gpu, kept, calls) = (gpu0(), Arc::clone(&team), Arc::new(AtomicUsize::new(0)));
        let own = Arc::clone(&calls);
        let builder =
            Engine::builder(EngineConfig { kind, ..config(GpuSync::Host) }).gpu(Arc::clone(&gpu) as Arc<dyn GpuDevice>);
        let then = move || {
            own.fetch_add(1, Ordering::Relaxed);
            kept.keep_back(1);
        };
        let engine = builder.at_first_gpu_task(then).build().unwrap();
        for (device, expected) in [(Device::cpu(0), 3), (Device::gpu(0), 1), (Device::cpu(0), 2), (Device::gpu(0), 1)] {
            let threads = Arc::new(Mutex::new(HashSet::new()));
            let (own, team) = (Arc::clone(&threads), Arc::clone(&team));
            let body = move |_: &RunContext| {
                // The loop has more iterations than the team has threads, and each iteration takes so long that every
                // thread runs some.
                team.run(60, &|_| {
                    own.lock().unwrap().insert(std::thread::current().id());
                    std::thread::sleep(std::time::Duration::from_millis(1));
                });
                Ok(())
            };
            engine.task("loop").device(device).push(body).unwrap();
            engine.wait_for_all().unwrap();
            let n = threads.lock().unwrap().len();
            // The naive engine runs a GPU's tasks on the pushing thread, which is not a GPU worker.
            let expected = if kind == EngineKind::Naive && device != Device::cpu(0) { 2 } else { expected };
            assert_eq!(n, expected, "{kind:?}, {device}");
        }
        assert_eq!(calls.load(Ordering::Relaxed), 1, "{kind:?}");
    }
}
