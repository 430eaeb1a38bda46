//! Which tasks and callers wait for device work, and whether they wait on the host or on the device.

use crate::*;
use mxrs_engine::Property;
use mxrs_simulated_gpu::{Gate, SimulatedGpuCall};
use std::sync::mpsc;

/// If the engine type has no suffix `Async`, each task ends with a host wait for its stream, and streams never wait for
/// one another.
#[test]
fn host_mode_synchronizes_once_per_task() {
    let gpu = SimulatedGpu::with_latency(Device::gpu(0), Duration::from_millis(1));
    let engine = engine(config(GpuSync::Host), &[&gpu]);
    let (x, y) = (engine.new_var(), engine.new_var());
    for _ in 0..10 {
        push(&engine, &[&x], &[&y], || {});
        push(&engine, &[&y], &[&x], || {});
        push(&engine, &[], &[], || {});
    }
    engine.wait_to_read(&x).unwrap();
    drop(gpu.checker().host_access("print", &[reads(&x), reads(&y)]));
    gpu.checker().assert_clean();
    engine.wait_to_write(&y).unwrap();
    let before_all = gpu.counters();
    assert_eq!((before_all.records, before_all.stream_waits, before_all.event_waits), (0, 0, 0));
    engine.wait_for_all().unwrap();
    let n_all = gpu.counters().synchronizations - 30;
    assert!(n_all <= 2, "waiting for all synchronizes each of two workers' streams at most once: {n_all}");
}

/// In event mode (`GpuSync::Event`) a task is complete as soon as its work is enqueued. So all tasks complete although
/// the device starts no work.
#[test]
fn event_mode_never_waits_on_the_host() {
    for kind in KINDS {
        let gpu = gpu0();
        let other = gpu.beside(Device::gpu(1));
        let engine = engine(EngineConfig { kind, gpu_workers: count(3), ..config(GpuSync::Event) }, &[&gpu, &other]);
        let vars: Vec<_> = (0..5).map(|_| engine.new_var()).collect();
        let holds = (gpu.hold(), other.hold());
        for i in 0..60 {
            let (read, write) = (&vars[i % 5], &vars[(i * 3 + 1) % 5]);
            let read: &[&Var] = if read == write { &[] } else { &[read] };
            push_on(&engine, Device::gpu(i as u32 % 2), read, &[write], || {});
        }
        assert!(eventually(|| engine.counters().completed == 60), "{kind:?}");
        let (a, b) = (gpu.counters(), other.counters());
        assert_eq!((a.executed + b.executed, a.launches + b.launches), (0, 60));
        assert_eq!((a.synchronizations + b.synchronizations, a.event_waits + b.event_waits), (0, 0));
        gpu.checker().assert_clean();
        drop(holds);
        engine.wait_for_all().unwrap();
        assert_eq!(gpu.counters().executed + other.counters().executed, 60);
        for var in &vars {
            drop(gpu.checker().host_access("print", &[reads(var)]));
        }
        gpu.checker().assert_clean();
    }
}

/// Setting `gpu_sync` to `GpuSync::Event` has the same effect as the suffix `Async` of the engine type.
#[test]
fn event_mode_needs_no_suffix() {
    let gpu = gpu0();
    let settings = EngineConfig { gpu_sync: GpuSync::Event, ..EngineConfig::default() };
    let engine = engine(settings, &[&gpu]);
    let hold = gpu.hold();
    push(&engine, &[], &[&engine.new_var()], || {});
    assert!(eventually(|| engine.counters().completed == 1));
    drop(hold);
}

/// A task on the stream of the last writer waits for no event; a task on another stream waits for one event, that of
/// the last writer.
#[test]
fn event_mode_waits_no_more_than_needed() {
    let gpu = gpu0();
    let engine = engine(EngineConfig { gpu_workers: count(1), ..config(GpuSync::Event) }, &[&gpu]);
    let (x, y) = (engine.new_var(), engine.new_var());
    let hold = gpu.hold();
    for _ in 0..5 {
        push(&engine, &[&x], &[&y], || {});
        push(&engine, &[&y], &[&x], || {});
    }
    assert!(eventually(|| engine.counters().completed == 10));
    assert_eq!(gpu.counters().stream_waits, 0, "one worker, one stream");
    let urgent = engine.task("k").read(&x).read(&y).device(Device::gpu(0)).property(Property::GpuPrioritized);
    let touches = [reads(&x), reads(&y)];
    urgent.push(move |ctx| stream(ctx).launch_on("k", &touches, || {})).unwrap();
    assert!(eventually(|| engine.counters().completed == 11));
    assert_eq!(gpu.counters().stream_waits, 1, "the later of two events of a stream stands for both");
    gpu.checker().assert_clean();
    drop(hold);
}

/// A CPU task waits on the host for the variables that it uses, and for nothing else.
#[test]
fn a_cpu_task_waits_for_its_variables() {
    for kind in KINDS {
        let gpu = gpu0();
        let engine = engine(EngineConfig { kind, ..config(GpuSync::Event) }, &[&gpu]);
        let (x, y) = (engine.new_var(), engine.new_var());
        let gate = Gate::new();
        push(&engine, &[], &[&x], || std::thread::sleep(Duration::from_millis(5)));
        let checker = Arc::clone(gpu.checker());
        let touch = reads(&x);
        let seen = engine.task("print").read(&x).push(move |_| {
            drop(checker.host_access("print", &[touch]));
            Ok(())
        });
        seen.unwrap();
        engine.wait_for_all().unwrap();
        gpu.checker().assert_clean();

        push(&engine, &[], &[&y], gate.body());
        let ran = engine.new_var();
        engine.task("other").read(&x).write(&ran).push(|_| Ok(())).unwrap();
        engine.wait_to_read(&ran).unwrap();
        assert!(gate.wait_for(1) == 1, "while the work on `y` is stuck");
        gate.open();
        engine.wait_for_all().unwrap();
    }
}

/// Waiting to read waits for the last write on the device, not for reads; waiting to write waits for both.
#[test]
fn callers_wait_for_events() {
    for kind in KINDS {
        let gpu = gpu0();
        let engine = engine(EngineConfig { kind, ..config(GpuSync::Event) }, &[&gpu]);
        let x = engine.new_var();
        push(&engine, &[], &[&x], || std::thread::sleep(Duration::from_millis(5)));
        engine.wait_to_read(&x).unwrap();
        drop(gpu.checker().host_access("print", &[reads(&x)]));

        let gate = Gate::new();
        push(&engine, &[&x], &[], gate.body());
        assert_eq!(gate.wait_for(1), 1);
        engine.wait_to_read(&x).unwrap();
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                engine.wait_to_write(&x).unwrap();
                drop(gpu.checker().host_access("change", &[writes(&x)]));
                sender.send(()).unwrap();
            });
            assert!(receiver.recv_timeout(Duration::from_millis(20)).is_err(), "the read is not over");
            gate.open();
        });
        gpu.checker().assert_clean();
    }
}

#[test]
fn waiting_for_all_empties_every_stream() {
    for kind in KINDS {
        for sync in [GpuSync::Host, GpuSync::Event] {
            let gpu = SimulatedGpu::with_latency(Device::gpu(0), Duration::from_millis(2));
            let other = gpu.beside(Device::gpu(1));
            let engine = engine(EngineConfig { kind, ..config(sync) }, &[&gpu, &other]);
            let vars: Vec<_> = (0..4).map(|_| engine.new_var()).collect();
            for (i, var) in vars.iter().enumerate() {
                push_on(&engine, Device::gpu(i as u32 % 2), &[], &[var], || {});
            }
            engine.wait_for_all().unwrap();
            assert_eq!(gpu.counters().executed + other.counters().executed, 4);
            vars.iter().for_each(|var| drop(gpu.checker().host_access("print", &[reads(var)])));
            gpu.checker().assert_clean();
        }
    }
}

/// Dropping the engine finishes the work on its streams and then releases the device. A stopped engine can start again.
#[test]
fn stop_start_and_end() {
    for kind in KINDS {
        let gpu = SimulatedGpu::with_latency(Device::gpu(0), Duration::from_millis(2));
        let engine = engine(EngineConfig { kind, ..config(GpuSync::Event) }, &[&gpu]);
        let x = engine.new_var();
        for _ in 0..3 {
            push(&engine, &[], &[&x], || {});
            engine.stop();
            assert!(engine.task("k").device(Device::gpu(0)).push(|_| Ok(())).is_err());
            engine.start().unwrap();
        }
        push(&engine, &[], &[&x], || {});
        drop((engine, x));
        assert_eq!(gpu.counters().executed, 4, "{kind:?}");
        assert_eq!(gpu.calls().last(), Some(&SimulatedGpuCall::Close), "{kind:?}");
        gpu.checker().assert_clean();
    }
}
