//! Observable effects of the settings: the environment variables D4, D5 and D29 of `docs/env.md`.
#![cfg(not(loom))]

use mxrs_engine::{Engine, EngineConfig, EngineKind, PoolId, Property, RunContext};
use mxrs_types::EngineType;
use mxrs_types::{Device, Error, Result};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

fn count(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap()
}

/// Makes bodies that block until the door is opened, and counts the bodies.
#[derive(Clone, Default)]
struct Door(Arc<(Mutex<(usize, bool)>, Condvar)>);

impl Door {
    fn body(&self) -> impl FnOnce(&RunContext) -> Result<()> + Send + 'static {
        let door = self.clone();
        move |_| {
            let (lock, changed) = &*door.0;
            let mut state = lock.lock().unwrap();
            state.0 += 1;
            changed.notify_all();
            while !state.1 {
                state = changed.wait(state).unwrap();
            }
            Ok(())
        }
    }

    /// Waits until `n` bodies have reached the door, at most ten seconds; returns the number of bodies that reached it.
    fn inside(&self, n: usize) -> usize {
        let (lock, changed) = &*self.0;
        let until = Instant::now() + Duration::from_secs(10);
        let mut state = lock.lock().unwrap();
        while state.0 < n && Instant::now() < until {
            state = changed.wait_timeout(state, Duration::from_millis(50)).unwrap().0;
        }
        state.0
    }

    fn open(&self) {
        self.0.0.lock().unwrap().1 = true;
        self.0.1.notify_all();
    }
}

/// D4: exactly `cpu_workers` operators run at the same time on each CPU device.
#[test]
fn d4_workers_per_cpu_device() {
    for workers in [1, 4] {
        let engine = Engine::new(EngineConfig { cpu_workers: count(workers), ..EngineConfig::default() }).unwrap();
        let door = Door::default();
        for _ in 0..8 {
            engine.task("block").push(door.body()).unwrap();
        }
        assert_eq!(door.inside(workers), workers);
        thread::sleep(Duration::from_millis(20));
        assert_eq!(door.inside(workers), workers, "no more than the setting");
        // Another device id has workers of its own.
        let other = Door::default();
        engine.task("elsewhere").device(Device::cpu(1)).push(other.body()).unwrap();
        assert_eq!(other.inside(1), 1);
        other.open();
        door.open();
        engine.wait_for_all().unwrap();
        let counters = engine.counters();
        let pool = counters.pool(PoolId::Cpu(0)).unwrap();
        assert_eq!((pool.threads, pool.peak_running, pool.executed), (workers, workers, 8));
        assert_eq!(counters.pool(PoolId::Cpu(1)).unwrap().threads, workers);
    }
}

/// D4: four tasks that wait for each other at a barrier end only if there are four workers.
#[test]
fn d4_barrier_of_four() {
    let engine = Engine::new(EngineConfig { cpu_workers: count(4), ..EngineConfig::default() }).unwrap();
    let barrier = Arc::new(Barrier::new(4));
    for _ in 0..8 {
        let barrier = Arc::clone(&barrier);
        engine
            .task("meet")
            .push(move |_| {
                barrier.wait();
                Ok(())
            })
            .unwrap();
    }
    engine.wait_for_all().unwrap();
}

/// D4: a chain of dependent operators stays serial with 4 workers.
#[test]
fn d4_chain_stays_serial() {
    let engine = Engine::new(EngineConfig { cpu_workers: count(4), ..EngineConfig::default() }).unwrap();
    let x = engine.new_var();
    let (running, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for _ in 0..100 {
        let (running, peak) = (Arc::clone(&running), Arc::clone(&peak));
        engine
            .task("link")
            .write(&x)
            .push(move |_| {
                peak.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            })
            .unwrap();
    }
    engine.wait_to_read(&x).unwrap();
    assert_eq!(peak.load(Ordering::SeqCst), 1);
}

/// One worker runs a mix of chains and independent operators in the order of their pushes.
#[test]
fn one_worker_keeps_push_order() {
    let engine = Engine::new(EngineConfig::default()).unwrap();
    let door = Door::default();
    let (x, order) = (engine.new_var(), Arc::new(Mutex::new(Vec::new())));
    engine.task("block").push(door.body()).unwrap();
    let log = |i: u32| {
        let order = Arc::clone(&order);
        move |_: &RunContext| {
            order.lock().unwrap().push(i);
            Ok(())
        }
    };
    for i in 0..20 {
        // These tasks use no variables, so each is ready to run as soon as it is pushed.
        engine.task("free").push(log(i)).unwrap();
    }
    engine.task("chain").write(&x).push(log(20)).unwrap();
    engine.task("free").push(log(21)).unwrap();
    engine.task("chain").write(&x).push(log(22)).unwrap();
    door.open();
    engine.wait_for_all().unwrap();
    assert_eq!(*order.lock().unwrap(), (0..=22).collect::<Vec<_>>());
}

/// D5: prioritized operators run while all normal workers are blocked; `cpu_priority_workers` limits how many of them
/// run at the same time.
#[test]
fn d5_prioritized_run_while_normal_workers_are_blocked() {
    for workers in [1, 4] {
        let config = EngineConfig { cpu_priority_workers: count(workers), ..EngineConfig::default() };
        let engine = Engine::new(config).unwrap();
        assert_eq!(engine.counters().pool(PoolId::CpuPriority).unwrap().threads, workers, "from the start");
        let (normal, prioritized) = (Door::default(), Door::default());
        engine.task("block").push(normal.body()).unwrap();
        assert_eq!(normal.inside(1), 1);
        for i in 0..8 {
            let task = engine.task("reduce").property(Property::CpuPrioritized).device(Device::cpu(i % 3));
            task.push(prioritized.body()).unwrap();
        }
        assert_eq!(prioritized.inside(workers), workers);
        thread::sleep(Duration::from_millis(10));
        prioritized.open();
        while engine.counters().completed < 8 {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(engine.counters().pool(PoolId::CpuPriority).unwrap().peak_running, workers);
        normal.open();
        engine.wait_for_all().unwrap();
    }
}

/// D5: with one worker, completion order follows priority, and push order within one priority.
#[test]
fn d5_order_by_priority() {
    let engine = Engine::new(EngineConfig { cpu_priority_workers: count(1), ..EngineConfig::default() }).unwrap();
    let door = Door::default();
    engine.task("block").property(Property::CpuPrioritized).priority(i32::MAX).push(door.body()).unwrap();
    assert_eq!(door.inside(1), 1);
    let order = Arc::new(Mutex::new(Vec::new()));
    for (i, priority) in [0, -3, 7, 0, 7, i32::MIN].into_iter().enumerate() {
        let order = Arc::clone(&order);
        let body = move |_: &RunContext| {
            order.lock().unwrap().push(i);
            Ok(())
        };
        engine.task("p").property(Property::CpuPrioritized).priority(priority).push(body).unwrap();
    }
    door.open();
    engine.wait_for_all().unwrap();
    assert_eq!(*order.lock().unwrap(), [2, 4, 0, 3, 1, 5]);
}

/// D29: an operator runs on the caller's thread only under NaiveEngine; the suffix `Async` changes nothing for
/// operators on the CPU.
#[test]
fn d29_thread_of_an_operator() {
    for word in ["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"] {
        for suffix in ["", "Async"] {
            let engine_type: EngineType = format!("{word}{suffix}").parse().unwrap();
            let (kind, is_async) = (engine_type.kind(), engine_type.is_async());
            let engine = Engine::new(EngineConfig { kind, is_async, ..EngineConfig::default() }).unwrap();
            let seen = Arc::new(Mutex::new(None));
            let slot = Arc::clone(&seen);
            let (x, kind_is_naive) = (engine.new_var(), kind == EngineKind::Naive);
            engine
                .task("who")
                .write(&x)
                .push(move |context| {
                    assert_eq!(context.worker().is_none(), kind_is_naive);
                    *slot.lock().unwrap() = Some(thread::current().id());
                    Ok(())
                })
                .unwrap();
            engine.wait_to_read(&x).unwrap();
            assert_eq!(*seen.lock().unwrap() == Some(thread::current().id()), kind_is_naive, "{word}{suffix}");
        }
    }
}

/// D29: under ThreadedEngine, 16 of 20 blocked operators run at the same time, whatever the settings for the number of
/// workers are; copies have a worker of their own.
#[test]
fn d29_sixteen_global_workers_and_one_for_copies() {
    let config = EngineConfig { cpu_workers: count(2), ..EngineConfig::of_kind(EngineKind::Threaded) };
    let engine = Engine::new(config).unwrap();
    let (door, copies) = (Door::default(), Door::default());
    for i in 0..20 {
        engine.task("block").device(Device::cpu(i % 2)).push(door.body()).unwrap();
    }
    assert_eq!(door.inside(16), 16);
    for _ in 0..2 {
        engine.task("copy").property(Property::CopyToGpu).push(copies.body()).unwrap();
    }
    assert_eq!(copies.inside(1), 1);
    thread::sleep(Duration::from_millis(20));
    assert_eq!((door.inside(16), copies.inside(1)), (16, 1));
    door.open();
    copies.open();
    engine.wait_for_all().unwrap();
    let counters = engine.counters();
    let global = counters.pool(PoolId::Global).unwrap();
    assert_eq!((global.threads, global.peak_running, global.executed), (16, 16, 20));
    assert_eq!(counters.pool(PoolId::Copy).unwrap().threads, 1);
}

/// D29: a failing operator causes an error at the push under NaiveEngine, and at the wait under the other kinds of
/// engine.
#[test]
fn d29_error_at_push_or_at_wait() {
    for kind in [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice] {
        let engine = Engine::new(EngineConfig::of_kind(kind)).unwrap();
        let (x, y) = (engine.new_var(), engine.new_var());
        let pushed = engine.task("bad").write(&x).push(|_| Err(Error::invalid("n", 1, "2")));
        let dependant = engine.task("next").read(&x).write(&y).push(|_| Ok(()));
        assert!(dependant.is_ok());
        let waited = engine.wait_to_read(&y);
        let naive = kind == EngineKind::Naive;
        assert_eq!((pushed.is_err(), waited.is_err()), (naive, !naive), "{kind:?}");
        let text = pushed.and(waited).unwrap_err().to_string();
        assert!(text.contains("n: got 1, expected 2") && text.contains("`bad`"), "{text}");
        assert_eq!((x.version(), y.version()), (1, 1));
    }
}

/// A task with property `Async` runs on the pushing thread if it need not wait, otherwise on a worker.
#[test]
fn async_property_runs_inline_when_ready() {
    let engine = Engine::new(EngineConfig::default()).unwrap();
    let (x, door) = (engine.new_var(), Door::default());
    let threads = Arc::new(Mutex::new(Vec::new()));
    let log = || {
        let threads = Arc::clone(&threads);
        move |_: &RunContext| {
            threads.lock().unwrap().push(thread::current().id());
            Ok(())
        }
    };
    engine.task("now").read(&x).property(Property::Async).push(log()).unwrap();
    assert_eq!(*threads.lock().unwrap(), [thread::current().id()]);
    engine.task("block").write(&x).push(door.body()).unwrap();
    engine.task("later").read(&x).property(Property::Async).push(log()).unwrap();
    door.open();
    engine.wait_for_all().unwrap();
    assert_ne!(threads.lock().unwrap()[1], thread::current().id());
}
