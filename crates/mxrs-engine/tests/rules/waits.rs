//! Waits, and the waits and pushes that are refused.

use super::*;

/// Waiting inside a body is an error for every kind of engine; pushing is allowed.
#[test]
fn waiting_inside_a_task_is_an_error_and_pushing_is_not() {
    for kind in KINDS {
        let engine = engine(kind, 1);
        let (x, y) = (engine.new_var(), engine.new_var());
        let (inner, vx, vy) = (engine.clone(), x.clone(), y.clone());
        let ran = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ran);
        let outer = move |_: &mxrs_engine::RunContext| {
            for outcome in [inner.wait_to_read(&vx), inner.wait_to_write(&vy), inner.wait_for_all()] {
                let text = outcome.unwrap_err().to_string();
                assert!(text.starts_with("engine: wait_") && text.contains("inside a task"), "{text}");
            }
            // The nested task needs the variable that this task is writing, so it runs afterwards, even if tasks run on the
            // pushing thread.
            inner.task("nested").read(&vx).push(move |_| {
                flag.store(true, Ordering::SeqCst);
                Ok(())
            })?;
            assert_eq!(vx.version(), 0, "this task's write is not complete");
            Ok(())
        };
        engine.task("outer").write(&x).push(outer).unwrap();
        engine.wait_for_all().unwrap();
        assert!(ran.load(Ordering::SeqCst), "{kind:?}");
        engine.stop();
    }
}

/// Waiting to read ignores running readers; waiting to write does not.
#[test]
fn wait_to_write_waits_for_readers_and_wait_to_read_does_not() {
    let engine = engine(EngineKind::ThreadedPerDevice, 2);
    let x = engine.new_var();
    let (open, gate) = gate();
    let done = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&done);
    let slow_read = move |_: &mxrs_engine::RunContext| {
        gate();
        flag.store(true, Ordering::SeqCst);
        Ok(())
    };
    engine.task("slow").read(&x).push(slow_read).unwrap();
    engine.wait_to_read(&x).unwrap();
    assert!(!done.load(Ordering::SeqCst));
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            engine.wait_to_write(&x).unwrap();
            done.load(Ordering::SeqCst)
        });
        thread::sleep(Duration::from_millis(5));
        assert!(!waiter.is_finished());
        drop(open);
        assert!(waiter.join().unwrap());
    });
    assert_eq!(x.version(), 0, "a wait does not write");
}

/// A wait does not need a worker: it ends although an unrelated task blocks the only worker.
#[test]
fn waiting_is_not_blocked_by_unrelated_tasks() {
    let engine = engine(EngineKind::ThreadedPerDevice, 1);
    let (x, busy) = (engine.new_var(), engine.new_var());
    engine.task("quick").write(&x).push(|_| Ok(())).unwrap();
    let (open, gate) = gate();
    let long = move |_: &mxrs_engine::RunContext| {
        gate();
        Ok(())
    };
    engine.task("long").write(&busy).push(long).unwrap();
    engine.wait_to_read(&x).unwrap();
    assert_eq!(busy.version(), 0);
    drop(open);
    engine.wait_to_write(&busy).unwrap();
}

/// Variables of one engine are refused by another.
#[test]
fn a_foreign_variable_is_refused() {
    let (one, two) = (engine(EngineKind::Naive, 1), engine(EngineKind::Naive, 1));
    let x = one.new_var();
    assert!(two.task("t").read(&x).push(|_| Ok(())).unwrap_err().to_string().contains("another engine"));
    assert!(two.wait_to_read(&x).is_err());
    assert!(one.task("gpu").device(mxrs_types::Device::gpu(0)).push(|_| Ok(())).is_err());
    assert_eq!(two.counters().pushed, 0, "a refused push does not count");
}
