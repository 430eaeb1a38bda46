//! CPU tasks that use results of device work: no worker that could run other tasks stands still until the work is done.

use crate::*;
use mxrs_engine::{PoolId, Property};
use std::sync::atomic::{AtomicBool, Ordering};

/// More tasks wait for the device than any pool has workers for, and an independent CPU task runs nevertheless.
#[test]
fn cpu_workers_do_not_wait_for_a_device() {
    for kind in [EngineKind::Threaded, EngineKind::ThreadedPerDevice] {
        for property in [Property::Normal, Property::CpuPrioritized] {
            let gpu = gpu0();
            let engine = engine(EngineConfig { kind, ..config(GpuSync::Event) }, &[&gpu]);
            let [x, z] = [(); 2].map(|()| engine.new_var());
            let is_done = Arc::new(AtomicBool::new(false));
            let hold = gpu.hold();
            let done = Arc::clone(&is_done);
            push(&engine, &[], &[&x], move || done.store(true, Ordering::SeqCst));
            for _ in 0..20 {
                let done = Arc::clone(&is_done);
                let task = engine.task("use").read(&x).property(property);
                let body = move |_: &RunContext| {
                    assert!(done.load(Ordering::SeqCst), "the task began too early");
                    Ok(())
                };
                task.push(body).unwrap();
            }
            engine.task("other").write(&z).property(property).push(|_| Ok(())).unwrap();
            engine.wait_to_read(&z).unwrap();
            // The two completed tasks are the GPU task, whose work is enqueued, and the task `other`.
            assert!(eventually(|| engine.counters().completed == 2), "{kind:?}, {property:?}");
            assert!(eventually(|| engine.counters().pool(PoolId::GpuWait(0)).is_some()), "no thread waits");
            drop(hold);
            engine.wait_for_all().unwrap();
            assert_eq!((engine.counters().completed, engine.counters().failed), (22, 0));
            drop(gpu.checker().host_access("print", &[reads(&x)]));
            gpu.checker().assert_clean();
        }
    }
}

/// While CPU tasks wait for results of copies, other copies are enqueued: the workers for copies do not wait either.
#[test]
fn copies_do_not_wait_for_cpu_tasks_that_wait() {
    let gpu = gpu0();
    let engine = engine(config(GpuSync::Event), &[&gpu]);
    let hold = gpu.hold();
    let download = |engine: &Engine, var: &Var| {
        let task = engine.task("download").write(var).device(Device::gpu(0)).property(Property::CopyFromGpu);
        task.push(|ctx| stream(ctx).launch("copy", || {})).unwrap();
    };
    let vars: Vec<Var> = (0..8).map(|_| engine.new_var()).collect();
    for var in &vars {
        download(&engine, var);
        engine.task("use").read(var).push(|_| Ok(())).unwrap();
    }
    assert!(eventually(|| gpu.counters().launches == 8), "{} copies", gpu.counters().launches);
    drop(hold);
    engine.wait_for_all().unwrap();
    assert_eq!(engine.counters().completed, 16);
}

/// A CPU task whose events are finished when it is granted goes straight to its worker.
#[test]
fn finished_work_is_not_waited_for() {
    let gpu = gpu0();
    let engine = engine(config(GpuSync::Event), &[&gpu]);
    let x = engine.new_var();
    push(&engine, &[], &[&x], || {});
    assert!(eventually(|| gpu.counters().executed == 1 && engine.counters().completed == 1));
    std::thread::sleep(Duration::from_millis(10));
    engine.task("use").read(&x).push(|_| Ok(())).unwrap();
    engine.wait_for_all().unwrap();
    assert!(engine.counters().pool(PoolId::GpuWait(0)).is_none());
}
