//! Deleting a variable that a device still uses.

use crate::*;
use mxrs_types::DeviceEvent;
use std::sync::mpsc;

/// In event mode (`GpuSync::Event`) a deletion does not wait: the function that frees the memory gets the events of the
/// last write and of the reads since.
#[test]
fn deletion_hands_over_events() {
    for kind in KINDS {
        let gpu = gpu0();
        let engine = engine(EngineConfig { kind, gpu_workers: count(1), ..config(GpuSync::Event) }, &[&gpu]);
        let x = engine.new_var();
        let hold = gpu.hold();
        push(&engine, &[], &[&x], || {});
        push(&engine, &[&x], &[], || {});
        let (sender, receiver) = mpsc::channel();
        assert!(engine.delete_var_with(x.clone(), move |events| sender.send(events).unwrap()));
        let events: Vec<Arc<dyn DeviceEvent>> = receiver.recv_timeout(Duration::from_secs(10)).unwrap();
        assert!(!events.is_empty() && events.iter().all(|event| !event.is_finished()), "{kind:?}");
        assert!(!engine.delete_var_with(x.clone(), |_| panic!("deleted twice")));
        drop(hold);
        events.iter().for_each(|event| event.wait().unwrap());
        drop(gpu.checker().host_access("reuse", &[writes(&x)]));
        gpu.checker().assert_clean();
    }
}

/// If tasks wait on the host (`GpuSync::Host`), or if no GPU used the variable, a deletion hands over no events.
#[test]
fn deletion_has_no_events_where_nothing_is_under_way() {
    for sync in [GpuSync::Host, GpuSync::Event] {
        let gpu = gpu0();
        let engine = engine(config(sync), &[&gpu]);
        let [x, y] = [(); 2].map(|()| engine.new_var());
        push(&engine, &[], &[&x], || {});
        engine.task("cpu").write(&y).push(|_| Ok(())).unwrap();
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        engine.delete_var_with(y, move |events| sender.send(events).unwrap());
        assert!(receiver.recv_timeout(Duration::from_secs(10)).unwrap().is_empty());
        if sync == GpuSync::Host {
            engine.delete_var_with(x, move |events| other.send(events).unwrap());
            assert!(receiver.recv_timeout(Duration::from_secs(10)).unwrap().is_empty());
        }
    }
}

/// A deletion hands over no events that the host has already waited for, because a caller waited to write the variable
/// or because a CPU task wrote it.
#[test]
fn deletion_has_no_events_that_the_host_has_waited_for() {
    for by_task in [false, true] {
        let gpu = gpu0();
        let engine = engine(config(GpuSync::Event), &[&gpu]);
        let x = engine.new_var();
        push(&engine, &[], &[&x], || {});
        push(&engine, &[&x], &[], || {});
        if by_task {
            engine.task("cpu").write(&x).push(|_| Ok(())).unwrap();
        } else {
            engine.wait_to_write(&x).unwrap();
        }
        let (sender, receiver) = mpsc::channel();
        engine.delete_var_with(x, move |events| sender.send(events).unwrap());
        assert!(receiver.recv_timeout(Duration::from_secs(10)).unwrap().is_empty(), "{by_task}");
    }
}

/// [`Engine::delete_var`] frees the memory only after the device has finished the work that uses the variable.
#[test]
fn plain_deletion_waits_for_the_device() {
    let gpu = SimulatedGpu::with_latency(Device::gpu(0), Duration::from_millis(3));
    let engine = engine(config(GpuSync::Event), &[&gpu]);
    let x = engine.new_var();
    push(&engine, &[], &[&x], || {});
    push(&engine, &[&x], &[], || {});
    let (checker, touch) = (Arc::clone(gpu.checker()), writes(&x));
    engine.delete_var(x, move || drop(checker.host_access("free", &[touch])));
    engine.wait_for_all().unwrap();
    gpu.checker().assert_clean();
}

/// A variable for memory that device work still uses ([`Engine::new_var_after`]): the first GPU task waits for that work
/// on the device, the host does not wait, and a failure of that work is not an error of the new variable.
#[test]
fn a_new_variable_comes_after_former_work() {
    for kind in KINDS {
        let gpu = gpu0();
        let engine = engine(EngineConfig { kind, ..config(GpuSync::Event) }, &[&gpu]);
        let x = engine.new_var();
        let hold = gpu.hold();
        push(&engine, &[], &[&x], || {});
        let (sender, receiver) = mpsc::channel();
        let touch = writes(&x);
        engine.delete_var_with(x, move |events| sender.send(events).unwrap());
        let y = engine.new_var_after(receiver.recv_timeout(Duration::from_secs(10)).unwrap());
        let task = engine.task("k").write(&y).device(Device::gpu(0)).property(mxrs_engine::Property::CopyToGpu);
        task.push(move |ctx| stream(ctx).launch_on("k", &[touch], || {})).unwrap();
        assert!(eventually(|| engine.counters().completed == 3));
        gpu.checker().assert_clean();
        let counters = gpu.counters();
        assert_eq!((counters.event_waits, counters.synchronizations), (0, 0));
        drop(hold);
        engine.wait_to_read(&y).unwrap();
    }
}
