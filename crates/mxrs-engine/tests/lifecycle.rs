//! Stop, start, and the end of an engine.
#![cfg(not(loom))]

use mxrs_engine::{Engine, EngineConfig, EngineKind, PoolId};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const KINDS: [EngineKind; 3] = [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice];

fn engine(kind: EngineKind) -> Engine {
    Engine::new(EngineConfig::of_kind(kind)).unwrap()
}

fn slow_count(counter: &Arc<AtomicUsize>) -> impl FnOnce(&mxrs_engine::RunContext) -> mxrs_types::Result<()> + 'static {
    let counter = Arc::clone(counter);
    move |_| {
        thread::sleep(Duration::from_millis(1));
        counter.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[test]
fn dropping_the_last_handle_finishes_pushed_tasks() {
    for kind in KINDS {
        let engine = engine(kind);
        let done = Arc::new(AtomicUsize::new(0));
        let x = engine.new_var();
        for _ in 0..10 {
            engine.task("slow").write(&x).push(slow_count(&done)).unwrap();
        }
        let clone = engine.clone();
        drop(engine);
        drop(clone);
        assert_eq!((done.load(Ordering::SeqCst), x.version()), (10, 10), "{kind:?}");
    }
}

#[test]
fn the_last_handle_may_go_away_inside_a_task() {
    for kind in KINDS {
        let engine = engine(kind);
        let done = Arc::new(AtomicBool::new(false));
        let (x, flag) = (engine.new_var(), Arc::clone(&done));
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let own = engine.clone();
        if kind == EngineKind::Naive {
            drop(go);
        } else {
            // Keeps the task blocked until the test has dropped its own handle of the engine.
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(20));
                drop(go);
            });
        }
        let body = move |_: &mxrs_engine::RunContext| {
            let _ = wait.recv();
            own.task("after").write(&own.new_var()).push(move |_| {
                flag.store(true, Ordering::SeqCst);
                Ok(())
            })?;
            drop(own);
            Ok(())
        };
        engine.task("last").write(&x).push(body).unwrap();
        drop(engine);
        let until = Instant::now() + Duration::from_secs(10);
        while !done.load(Ordering::SeqCst) && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(done.load(Ordering::SeqCst), "{kind:?}");
    }
}

#[test]
fn stopped_engine_refuses_tasks_frees_variables_and_starts_again() {
    for kind in KINDS {
        let engine = engine(kind);
        let (x, done) = (engine.new_var(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..5 {
            engine.task("slow").write(&x).push(slow_count(&done)).unwrap();
        }
        engine.stop();
        assert_eq!(done.load(Ordering::SeqCst), 5, "stop finishes what was pushed");
        assert!(engine.counters().pools.iter().all(|p| p.threads == 0));
        let refused = engine.task("late").write(&x).push(slow_count(&done)).unwrap_err();
        assert!(refused.to_string().contains("late: the engine is stopped"), "{refused}");
        engine.wait_to_read(&x).unwrap();

        let counter = Arc::clone(&done);
        assert!(engine.delete_var(x, move || {
            counter.fetch_add(100, Ordering::SeqCst);
        }));
        assert_eq!(done.load(Ordering::SeqCst), 105, "deletion works on a stopped engine");

        engine.start().unwrap();
        let y = engine.new_var();
        engine.task("again").write(&y).push(slow_count(&done)).unwrap();
        engine.wait_to_read(&y).unwrap();
        assert_eq!(done.load(Ordering::SeqCst), 106);
        // The wait above may end before the task is counted as completed, because the task's variables are released
        // first.
        engine.wait_for_all().unwrap();
        let counters = engine.counters();
        assert_eq!(counters.pushed, counters.completed);
        assert_eq!(counters.pushed, 7, "the refused push does not count");
    }
}

#[test]
fn stop_and_start_many_times_while_others_push() {
    let engine = engine(EngineKind::ThreadedPerDevice);
    let (x, accepted) = (engine.new_var(), AtomicUsize::new(0));
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    if engine.task("t").write(&x).push(|_| Ok(())).is_ok() {
                        accepted.fetch_add(1, Ordering::SeqCst);
                    } else {
                        thread::yield_now();
                    }
                }
            });
        }
        for _ in 0..100 {
            engine.stop();
            engine.start().unwrap();
        }
        over.store(true, Ordering::SeqCst);
    });
    engine.wait_for_all().unwrap();
    assert_eq!(x.version(), accepted.load(Ordering::SeqCst) as u64);
}

#[test]
fn errors_survive_a_stop() {
    let engine = engine(EngineKind::Threaded);
    let x = engine.new_var();
    engine.task("bad").write(&x).push(|_| Err(mxrs_types::Error::invalid("a", "b", "c"))).unwrap();
    engine.stop();
    engine.start().unwrap();
    assert!(engine.wait_to_read(&x).is_err());
}

#[test]
fn deletion_goes_ahead_of_queued_tasks_and_runs_on_failure() {
    let engine = engine(EngineKind::ThreadedPerDevice);
    let (x, y) = (engine.new_var(), engine.new_var());
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let fail = move |_: &mxrs_engine::RunContext| {
        let _ = wait.recv();
        Err(mxrs_types::Error::invalid("a", "b", "c"))
    };
    engine.task("bad").write(&x).push(fail).unwrap();
    for i in 0..3 {
        let order = Arc::clone(&order);
        let body = move |_: &mxrs_engine::RunContext| {
            order.lock().unwrap().push(i);
            Ok(())
        };
        engine.task("queued").read(&y).push(body).unwrap();
    }
    let log = Arc::clone(&order);
    assert!(engine.delete_var(x, move || log.lock().unwrap().push(99)));
    drop(go);
    assert!(engine.wait_for_all().is_err());
    assert_eq!(*order.lock().unwrap(), [99, 0, 1, 2]);
}

#[test]
fn weak_handle_does_not_keep_the_engine() {
    let engine = engine(EngineKind::ThreadedPerDevice);
    let weak = engine.downgrade();
    assert!(weak.upgrade().is_some());
    assert!(engine.counters().pool(PoolId::CpuPriority).is_some());
    drop(engine);
    assert!(weak.upgrade().is_none());
}
