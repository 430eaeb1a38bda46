//! Start, stop, deletion and end of an engine, a thousand times and concurrently: no task is lost, and no thread remains.
//! The rules E6 to E14 are those of `mxrs_engine::var`.
#![cfg(not(loom))]

mod support;

use mxrs_engine::{Engine, EngineKind, Property, Var};
use mxrs_types::Device;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use support::{KINDS, alone, engine, engine_threads, engine_threads_settling_at, failure, within};

const LIMIT: Duration = Duration::from_secs(60);

/// Pushes a task that adds 1 to `done`; returns whether the push was accepted.
fn count(engine: &Engine, var: &Var, device: u32, property: Property, done: &Arc<AtomicUsize>) -> bool {
    let done = Arc::clone(done);
    let task = engine.task("count").write(var).device(Device::cpu(device)).property(property);
    task.push(move |_| {
        done.fetch_add(1, Ordering::Relaxed);
        Ok(())
    })
    .is_ok()
}

/// E6, E7 and E14 over a thousand stops: every task runs, and each stop ends the threads.
#[test]
fn stop_and_start_1000_times_loses_nothing() {
    let _alone = alone();
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let done = Arc::new(AtomicUsize::new(0));
            let vars: Vec<Var> = (0..4).map(|_| engine.new_var()).collect();
            let mut pushed = 0;
            for round in 0..1000 {
                for i in 0..round % 7 {
                    let property = [Property::Normal, Property::CpuPrioritized, Property::CopyFromGpu][i % 3];
                    assert!(count(&engine, &vars[i % 4], (i % 2) as u32, property, &done));
                    pushed += 1;
                }
                if round % 100 == 50 {
                    let _ = engine.task("bad").write(&engine.new_var()).push(|_| Err(failure("kept over the stop")));
                    pushed += 1;
                    done.fetch_add(1, Ordering::Relaxed);
                }
                engine.stop();
                assert_eq!(done.load(Ordering::Relaxed), pushed, "{kind:?}, round {round}");
                assert!(engine.counters().pools.iter().all(|pool| pool.threads == 0), "{kind:?}, round {round}");
                assert!(!count(&engine, &vars[0], 0, Property::Normal, &done), "a stopped engine refuses");
                engine.start().unwrap();
            }
            let counters = engine.counters();
            assert_eq!((counters.pushed, counters.completed), (pushed as u64, pushed as u64), "{kind:?}");
            let writes: u64 = vars.iter().map(Var::version).sum();
            assert_eq!(writes, counters.pushed - 10, "E5, {kind:?}");
            assert_eq!(engine.wait_for_all().is_err(), kind != EngineKind::Naive, "E13: kept until asked for");
            drop(engine);
        });
        assert_eq!(engine_threads_settling_at(0), 0, "{kind:?}");
    }
}

/// E10: an accepted task runs even if the engine stopped and started again during its push. Each pushing thread waits
/// for its own task before it pushes again, so that no later push can wake a worker for the task.
#[test]
fn e10_accepted_tasks_run_whatever_stops_and_starts_meanwhile() {
    let _alone = alone();
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (accepted, over) = (AtomicU64::new(0), AtomicBool::new(false));
            let var = engine.new_var();
            thread::scope(|scope| {
                let pusher = |device: u32| {
                    let (engine, accepted, over, var) = (&engine, &accepted, &over, &var);
                    move || {
                        let own = engine.new_var();
                        let mut runs = 0;
                        while !over.load(Ordering::Relaxed) {
                            // The body captures this large value, so that a push takes long and stops happen during the
                            // push.
                            let ballast = [device as u8; 1 << 16];
                            let task = engine.task("heavy").device(Device::cpu(device)).write(&own).read(var);
                            let pushed = task.push(move |_| {
                                std::hint::black_box(&ballast);
                                Ok(())
                            });
                            if pushed.is_ok() {
                                runs += 1;
                                engine.wait_to_read(&own).unwrap();
                                assert_eq!(own.version(), runs, "{kind:?}");
                            } else {
                                thread::yield_now();
                            }
                        }
                        accepted.fetch_add(runs, Ordering::Relaxed);
                    }
                };
                let pushers = [scope.spawn(pusher(0)), scope.spawn(pusher(1))];
                for _ in 0..1000 {
                    engine.stop();
                    engine.start().unwrap();
                }
                over.store(true, Ordering::Relaxed);
                pushers.into_iter().for_each(|pusher| pusher.join().unwrap());
            });
            engine.stop();
            let counters = engine.counters();
            assert_eq!((counters.pushed, counters.completed), (accepted.into_inner(), counters.pushed), "{kind:?}");
        });
        assert_eq!(engine_threads_settling_at(0), 0, "{kind:?}");
    }
}

/// E10: two threads stop and start at the same time, a third pushes chains over several pools.
#[test]
fn e10_stops_and_starts_of_several_threads_do_not_strand_tasks() {
    let _alone = alone();
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let done = Arc::new(AtomicUsize::new(0));
            let var = engine.new_var();
            let accepted = thread::scope(|scope| {
                let stoppers: Vec<_> = (0..2)
                    .map(|_| {
                        scope.spawn(|| {
                            for _ in 0..300 {
                                engine.stop();
                                engine.start().unwrap();
                            }
                        })
                    })
                    .collect();
                let mut accepted = 0;
                while !stoppers.iter().all(|stopper| stopper.is_finished()) {
                    for device in 0..3 {
                        accepted += usize::from(count(&engine, &var, device, Property::Normal, &done));
                    }
                    accepted += usize::from(count(&engine, &var, 0, Property::CpuPrioritized, &done));
                    engine.wait_to_read(&var).unwrap();
                    assert_eq!(done.load(Ordering::Relaxed), accepted, "{kind:?}");
                }
                accepted
            });
            engine.wait_for_all().unwrap();
            assert_eq!((done.load(Ordering::Relaxed), var.version()), (accepted, accepted as u64), "{kind:?}");
        });
        assert_eq!(engine_threads_settling_at(0), 0, "{kind:?}");
    }
}

/// E11: variables deleted while the engine stops, starts and is dropped are freed once each, after their last use.
#[test]
fn e11_deletions_during_shutdown_free_everything_once() {
    let _alone = alone();
    for kind in KINDS {
        within(LIMIT, move || {
            for round in 0..100 {
                let engine = engine(kind);
                let (freed, used) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
                let vars: Vec<Var> = (0..20).map(|_| engine.new_var()).collect();
                let mut uses = 0;
                for (i, var) in vars.iter().enumerate() {
                    for _ in 0..i % 3 {
                        uses += usize::from(count(&engine, var, (i % 2) as u32, Property::Normal, &used));
                    }
                }
                thread::scope(|scope| {
                    let (engine, freed) = (&engine, &freed);
                    let deleter = scope.spawn(move || {
                        for var in vars {
                            let freed = Arc::clone(freed);
                            assert!(engine.delete_var(var, move || {
                                freed.fetch_add(1, Ordering::Relaxed);
                            }));
                        }
                    });
                    engine.stop();
                    if round % 2 == 0 {
                        engine.start().unwrap();
                        engine.stop();
                    }
                    deleter.join().unwrap();
                });
                drop(engine);
                assert_eq!(freed.load(Ordering::Relaxed), 20, "{kind:?}, round {round}");
                assert_eq!(used.load(Ordering::Relaxed), uses, "{kind:?}, round {round}");
            }
        });
        assert_eq!(engine_threads_settling_at(0), 0, "{kind:?}");
    }
}

/// A thousand engines, dropped busy, idle, stopped or never used; no thread and no task remains.
#[test]
fn a_thousand_engines_leave_nothing() {
    let _alone = alone();
    assert_eq!(engine_threads_settling_at(0), 0);
    within(LIMIT, || {
        for round in 0..1000 {
            let kind = KINDS[[0, 2, 2, 2, 1][round % 5]];
            let engine = engine(kind);
            let done = Arc::new(AtomicUsize::new(0));
            let var = engine.new_var();
            let n_tasks = round % 4 * 5;
            for i in 0..n_tasks {
                assert!(count(&engine, &var, (i % 2) as u32, Property::Normal, &done));
            }
            match round % 3 {
                0 => engine.wait_for_all().unwrap(),
                1 => engine.stop(),
                _ => {}
            }
            drop(engine);
            assert_eq!((done.load(Ordering::Relaxed), Arc::strong_count(&done)), (n_tasks, 1), "{kind:?}");
        }
    });
    assert_eq!(engine_threads_settling_at(0), 0);
}

/// The last handle is dropped inside a task a hundred times; the engine ends nevertheless.
#[test]
fn engines_dropped_inside_their_own_tasks_leave_no_thread() {
    let _alone = alone();
    for kind in KINDS {
        let done = Arc::new(AtomicUsize::new(0));
        for _ in 0..100 {
            let engine = engine(kind);
            let var = engine.new_var();
            let (own, flag) = (engine.clone(), Arc::clone(&done));
            let body = move |_: &mxrs_engine::RunContext| {
                thread::yield_now();
                drop(own);
                flag.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            engine.task("drops").write(&var).push(body).unwrap();
            drop(engine);
        }
        assert_eq!(engine_threads_settling_at(0), 0, "{kind:?}: {:?}", engine_threads());
        assert_eq!(done.load(Ordering::Relaxed), 100, "{kind:?}");
    }
}

/// Many threads stop, wait and drop clones at the same time; each call returns after all pushed tasks are done.
#[test]
fn stop_from_many_threads_at_once() {
    let _alone = alone();
    for kind in KINDS {
        within(LIMIT, move || {
            for _ in 0..50 {
                let engine = engine(kind);
                let done = Arc::new(AtomicUsize::new(0));
                let var = engine.new_var();
                for _ in 0..10 {
                    assert!(count(&engine, &var, 0, Property::Normal, &done));
                }
                thread::scope(|scope| {
                    for i in 0..4 {
                        let (own, done) = (engine.clone(), Arc::clone(&done));
                        scope.spawn(move || {
                            if i % 2 == 0 {
                                own.stop()
                            } else {
                                own.wait_for_all().unwrap()
                            }
                            assert_eq!(done.load(Ordering::Relaxed), 10, "E7, {kind:?}");
                        });
                    }
                });
            }
        });
        assert_eq!(engine_threads_settling_at(0), 0, "{kind:?}");
    }
}
