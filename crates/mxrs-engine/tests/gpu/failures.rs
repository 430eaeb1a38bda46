//! Failures of a device: when they are reported, and what they do not affect.

use crate::*;
use mxrs_engine::Property;
use mxrs_types::Error;

/// If tasks wait on the host (`GpuSync::Host`), a failed launch makes its task fail. The error is reported once, and
/// only tasks that depend on the failed task are skipped.
#[test]
fn host_mode_makes_a_failed_launch_the_tasks_error() {
    for kind in [EngineKind::Threaded, EngineKind::ThreadedPerDevice] {
        let gpu = gpu0();
        gpu.fail_launch(1);
        let engine = engine(EngineConfig { kind, ..config(GpuSync::Host) }, &[&gpu]);
        let [x, y, z] = [(); 3].map(|()| engine.new_var());
        push(&engine, &[], &[&x], || {});
        engine.wait_to_write(&z).unwrap();
        assert!(eventually(|| engine.counters().completed == 1));
        push(&engine, &[&x], &[&y], || {});
        push(&engine, &[], &[&z], || {});
        engine.wait_to_read(&z).unwrap();
        let text = engine.wait_to_read(&y).unwrap_err().to_string();
        assert!(text.contains("launch 1, `k`, failed") && text.contains("running `k` on gpu(0)"), "{text}");
        engine.wait_to_read(&x).unwrap();
        push(&engine, &[], &[&x], || {});
        engine.wait_for_all().unwrap();
        assert_eq!((engine.counters().failed, engine.counters().skipped), (1, 1));
        assert_eq!((gpu.counters().launches, gpu.counters().executed), (3, 3));
    }
}

/// In event mode (`GpuSync::Event`) a failed launch is reported by the next wait for a variable that the task wrote, or
/// for a variable that was computed from such a variable.
#[test]
fn event_mode_tells_at_the_next_wait() {
    for kind in KINDS {
        let gpu = gpu0();
        gpu.fail_launch(2);
        let engine = engine(EngineConfig { kind, gpu_workers: count(1), ..config(GpuSync::Event) }, &[&gpu]);
        let [w, x, y] = [(); 3].map(|()| engine.new_var());
        let hold = gpu.hold();
        push(&engine, &[], &[&w], || {});
        push(&engine, &[], &[&x], || {});
        push(&engine, &[&x], &[&y], || {});
        assert!(eventually(|| engine.counters().completed == 3), "nothing failed yet");
        drop(hold);
        engine.wait_to_read(&w).unwrap();
        let told = |var: &Var| engine.wait_to_read(var).map_err(|error| error.to_string());
        let text = told(&y).unwrap_err();
        assert!(text.contains("launch 2, `k`, failed"), "{text}");
        assert!(text.contains("waiting for the work of `k` on gpu(0)"), "{text}");
        // The wait for `y` has already reported the failure of `x`. It is reported again only if the two tasks used
        // different streams.
        assert!(told(&x).is_ok() || kind == EngineKind::Threaded, "{kind:?}");
        assert_eq!((told(&x), told(&y)), (Ok(()), Ok(())));
    }
}

/// In event mode (`GpuSync::Event`) a wait for all reports a failed launch too, and afterwards the engine works again.
#[test]
fn event_mode_tells_whoever_waits_for_all() {
    for kind in KINDS {
        let gpu = gpu0();
        gpu.fail_launch(1);
        let engine = engine(EngineConfig { kind, ..config(GpuSync::Event) }, &[&gpu]);
        let x = engine.new_var();
        push(&engine, &[], &[&x], || {});
        let text = engine.wait_for_all().unwrap_err().to_string();
        assert!(text.contains("launch 1, `k`, failed"), "{text}");
        engine.wait_for_all().unwrap();
        let y = engine.new_var();
        push(&engine, &[], &[&y], || {});
        engine.wait_to_read(&y).unwrap();
        engine.wait_for_all().unwrap();
    }
}

/// A CPU task that depends on failed device work is skipped and passes the failure on. A CPU task runs if it only
/// overwrites a variable that the failed work read.
#[test]
fn a_cpu_task_is_stopped_by_what_it_uses_only() {
    let gpu = gpu0();
    gpu.fail_launch(1);
    let engine = engine(config(GpuSync::Event), &[&gpu]);
    let [x, y, z] = [(); 3].map(|()| engine.new_var());
    push(&engine, &[&x], &[&y], || {});
    engine.task("use").read(&y).write(&z).push(|_| panic!("must not run")).unwrap();
    engine.task("overwrite").write(&x).push(|_| Ok(())).unwrap();
    engine.wait_to_read(&x).unwrap();
    let text = engine.wait_to_read(&z).unwrap_err().to_string();
    assert!(text.contains("launch 1, `k`, failed"), "{text}");
    assert_eq!(x.version(), 1);
}

/// A body that launches work and then fails or panics leaves unfinished device work behind; later tasks wait for that
/// work (rule 2 of [`mxrs_engine::gpu`]).
#[test]
fn work_of_a_failed_body_is_waited_for() {
    for sync in [GpuSync::Host, GpuSync::Event] {
        for panics in [false, true] {
            let gpu = SimulatedGpu::with_latency(Device::gpu(0), Duration::from_millis(2));
            let engine = engine(config(sync), &[&gpu]);
            let x = engine.new_var();
            let touch = writes(&x);
            let task = engine.task("half").write(&x).device(Device::gpu(0));
            let pushed = task.push(move |ctx| {
                stream(ctx).launch_on("half", &[touch], || {})?;
                assert!(!panics, "on purpose");
                Err(Error::invalid("test", "half", "whole"))
            });
            pushed.unwrap();
            assert!(engine.wait_to_read(&x).is_err());
            let urgent = engine.task("again").write(&x).device(Device::gpu(0)).property(Property::GpuPrioritized);
            let touch = writes(&x);
            urgent.push(move |ctx| stream(ctx).launch_on("again", &[touch], || {})).unwrap();
            engine.wait_to_read(&x).unwrap();
            drop(gpu.checker().host_access("print", &[reads(&x)]));
            gpu.checker().assert_clean();
        }
    }
}

/// A skipped task leaves the events of its variables unchanged (rule 3 of [`mxrs_engine::gpu`]).
#[test]
fn a_skipped_task_forgets_no_work() {
    let gpu = gpu0();
    let engine = engine(config(GpuSync::Event), &[&gpu]);
    let [bad, x] = [(); 2].map(|()| engine.new_var());
    let hold = gpu.hold();
    push(&engine, &[], &[&x], || {});
    engine.task("fails").write(&bad).push(|_| Err(Error::invalid("test", "bad", "good"))).unwrap();
    push(&engine, &[&bad], &[&x], || panic!("skipped"));
    let urgent = engine.task("again").write(&x).device(Device::gpu(0)).property(Property::GpuPrioritized);
    assert!(eventually(|| engine.counters().completed == 3));
    assert!(engine.wait_to_read(&bad).is_err(), "reported, so that the next task runs");
    let touch = writes(&x);
    urgent.push(move |ctx| stream(ctx).launch_on("again", &[touch], || {})).unwrap();
    assert!(eventually(|| engine.counters().completed == 4));
    gpu.checker().assert_clean();
    drop(hold);
    engine.wait_for_all().unwrap();
}

/// If the device refuses once to create a stream, the first task that needs the stream fails, and the next task gets
/// it.
#[test]
fn a_refused_stream_is_the_tasks_error() {
    for kind in KINDS {
        let gpu = gpu0();
        gpu.fail_create_stream(1);
        let engine = engine(EngineConfig { kind, gpu_workers: count(1), ..EngineConfig::default() }, &[&gpu]);
        let x = engine.new_var();
        let task = engine.task("k").write(&x).device(Device::gpu(0));
        let pushed = task.push(|_| panic!("must not run"));
        let text = pushed.and_then(|()| engine.wait_to_read(&x)).unwrap_err().to_string();
        assert!(text.contains("making a stream of gpu(0)"), "{text}");
        push(&engine, &[], &[&x], || {});
        engine.wait_to_read(&x).unwrap();
        engine.wait_for_all().unwrap();
        assert_eq!(gpu.counters().executed, 1);
    }
}

/// The device refuses to record the n-th event, for n from 1 to 6: no task hangs, all accesses are ordered, and an
/// error is reported.
#[test]
fn a_refused_event_is_the_tasks_error() {
    for nth in 1..=6 {
        let gpu = gpu0();
        gpu.fail_record(nth);
        let engine = engine(EngineConfig { gpu_worker_streams: count(2), ..config(GpuSync::Event) }, &[&gpu]);
        let x = engine.new_var();
        for _ in 0..2 {
            let touch = writes(&x);
            let task = engine.task("k").write(&x).device(Device::gpu(0));
            let pushed = task.push(move |ctx| {
                ctx.aux_scope(|aux| {
                    SimulatedStream::of(&**aux)?.launch_on("aux", std::slice::from_ref(&touch), || {})
                })?;
                stream(ctx).launch_on("main", &[touch], || {})
            });
            pushed.unwrap();
        }
        assert!(engine.wait_to_read(&x).is_err(), "event {nth}");
        engine.wait_for_all().unwrap();
        drop(gpu.checker().host_access("print", &[reads(&x)]));
        gpu.checker().assert_clean();
    }
}

/// Pushes a task with this name for a device, which launches one closure.
fn push_named(engine: &Engine, name: &'static str, device: Device, read: &[&Var], write: &[&Var]) {
    let task = engine.task(name).reads(read.iter().copied()).writes(write.iter().copied()).device(device);
    task.push(move |ctx| stream(ctx).launch(name, || {})).unwrap();
}

/// The failure of a task reaches the host through another task, on another device. The error names both.
#[test]
fn an_error_names_the_task_in_which_the_failure_began() {
    for kind in KINDS {
        let gpu = gpu0();
        let other = gpu.beside(Device::gpu(1));
        gpu.fail_launch(2);
        let engine = engine(EngineConfig { kind, gpu_workers: count(1), ..config(GpuSync::Event) }, &[&gpu, &other]);
        let [x, y, z] = [(); 3].map(|()| engine.new_var());
        let holds = [gpu.hold(), other.hold()];
        push_named(&engine, "good", Device::gpu(0), &[], &[&x]);
        push_named(&engine, "bad", Device::gpu(0), &[&x], &[&x]);
        push_named(&engine, "later", Device::gpu(0), &[&x], &[&y]);
        push_named(&engine, "elsewhere", Device::gpu(1), &[&y], &[&z]);
        assert!(eventually(|| engine.counters().completed == 4), "nothing failed yet");
        drop(holds);
        let text = engine.wait_to_read(&z).unwrap_err().to_string();
        assert!(text.contains("waiting for the work of `elsewhere` on gpu(1)"), "{text}");
        assert!(text.contains("it failed in or before `bad` on gpu(0)"), "{text}");
    }
}

/// A task that starts after the failure fails with an error that names the task in which the failure began.
#[test]
fn a_late_task_names_the_task_in_which_the_failure_began() {
    let gpu = gpu0();
    let other = gpu.beside(Device::gpu(1));
    gpu.fail_launch(1);
    let engine = engine(config(GpuSync::Event), &[&gpu, &other]);
    let [x, y] = [(); 2].map(|()| engine.new_var());
    push_named(&engine, "bad", Device::gpu(0), &[], &[&x]);
    assert!(eventually(|| gpu.counters().failed == 1));
    std::thread::sleep(Duration::from_millis(10));
    push_named(&engine, "late", Device::gpu(1), &[&x], &[&y]);
    let text = engine.wait_to_read(&y).unwrap_err().to_string();
    assert!(text.contains("`late` on gpu(1)") && text.contains("it failed in or before `bad` on gpu(0)"), "{text}");
}

/// A wait for everything names a task too: the one in which the failure began, or the last one if the device was lost when
/// it had nothing to do.
#[test]
fn a_wait_for_all_names_a_task() {
    for kind in KINDS {
        for is_lost in [false, true] {
            let gpu = gpu0();
            let engine = engine(EngineConfig { kind, gpu_workers: count(1), ..config(GpuSync::Event) }, &[&gpu]);
            let x = engine.new_var();
            let hold = gpu.hold();
            for name in ["first", "second", "third"] {
                push_named(&engine, name, Device::gpu(0), &[], &[&x]);
            }
            assert!(eventually(|| engine.counters().completed == 3));
            let expected = if is_lost { "in or before `first` on gpu(0)" } else { "in or before `fourth` on gpu(0)" };
            if is_lost {
                gpu.lose();
            } else {
                gpu.fail_launch(4);
                push_named(&engine, "fourth", Device::gpu(0), &[], &[&x]);
            }
            drop(hold);
            let text = engine.wait_for_all().unwrap_err().to_string();
            assert!(text.contains(expected), "{kind:?}, {is_lost}: {text}");
        }
        let gpu = gpu0();
        let engine = engine(EngineConfig { kind, gpu_workers: count(1), ..config(GpuSync::Event) }, &[&gpu]);
        let x = engine.new_var();
        push_named(&engine, "only", Device::gpu(0), &[], &[&x]);
        engine.wait_to_read(&x).unwrap();
        gpu.lose();
        let text = engine.wait_for_all().unwrap_err().to_string();
        assert!(text.contains("the last work there is that of `only` on gpu(0)"), "{text}");
    }
}

/// A stream works again after a wait for everything. A later failure is not that of a task before the wait.
#[test]
fn a_later_failure_has_an_origin_of_its_own() {
    for kind in KINDS {
        let gpu = gpu0();
        let engine = engine(EngineConfig { kind, gpu_workers: count(1), ..config(GpuSync::Event) }, &[&gpu]);
        let x = engine.new_var();
        for (nth, name) in (1..).zip(["first", "second", "third"]) {
            gpu.fail_launch(nth);
            push_named(&engine, name, Device::gpu(0), &[], &[&x]);
            let text = engine.wait_to_read(&x).unwrap_err().to_string();
            assert!(text.contains(&format!("it failed in or before `{name}` on gpu(0)")), "{kind:?}: {text}");
            let _ = engine.wait_for_all();
        }
    }
}
