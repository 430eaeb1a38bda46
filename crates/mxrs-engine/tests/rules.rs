//! The numbered rules of `mxrs_engine::var`, on every kind of engine.
#![cfg(not(loom))]

use mxrs_engine::{Engine, EngineConfig, EngineKind, Property};
use mxrs_types::{Error, ErrorKind};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

const KINDS: [EngineKind; 3] = [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice];
const THREADED: [EngineKind; 2] = [EngineKind::Threaded, EngineKind::ThreadedPerDevice];

fn engine(kind: EngineKind, workers: usize) -> Engine {
    let cpu_workers = NonZeroUsize::new(workers).unwrap();
    Engine::new(EngineConfig { cpu_workers, ..EngineConfig::of_kind(kind) }).unwrap()
}

fn failure(text: &str) -> Error {
    Error::invalid("test", text, "success")
}

/// A task body that blocks until `sender` is used or dropped.
fn gate() -> (mpsc::Sender<()>, impl FnOnce() + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    (sender, move || {
        let _ = receiver.recv_timeout(Duration::from_secs(20));
    })
}

/// E3: writers alone, readers together.
#[test]
fn e3_exclusion() {
    for kind in THREADED {
        let engine = engine(kind, 4);
        let vars: Vec<_> = (0..3).map(|_| engine.new_var()).collect();
        let inside: Arc<Vec<AtomicI32>> = Arc::new((0..3).map(|_| AtomicI32::new(0)).collect());
        let clashes = Arc::new(AtomicUsize::new(0));
        for i in 0..600_usize {
            let (read, write) = (i % 3, (i / 3) % 3);
            let (inside, clashes) = (Arc::clone(&inside), Arc::clone(&clashes));
            engine
                .task("touch")
                .read(&vars[read])
                .write(&vars[write])
                .push(move |_| {
                    if inside[write].swap(-1000, Ordering::SeqCst) != 0 {
                        clashes.fetch_add(1, Ordering::SeqCst);
                    }
                    if read != write && inside[read].fetch_add(1, Ordering::SeqCst) < 0 {
                        clashes.fetch_add(1, Ordering::SeqCst);
                    }
                    thread::yield_now();
                    if read != write {
                        inside[read].fetch_sub(1, Ordering::SeqCst);
                    }
                    inside[write].store(0, Ordering::SeqCst);
                    Ok(())
                })
                .unwrap();
        }
        engine.wait_for_all().unwrap();
        assert_eq!(clashes.load(Ordering::SeqCst), 0, "{kind:?}");
    }
}

/// E4: several pushing threads; on each variable the same order, which keeps each thread's own.
#[test]
fn e4_one_order_for_all_variables_and_each_threads_own() {
    for kind in KINDS {
        let engine = engine(kind, 3);
        let vars = Arc::new([engine.new_var(), engine.new_var()]);
        let logs = Arc::new([const { Mutex::new(Vec::new()) }; 2]);
        thread::scope(|scope| {
            for pusher in 0..3_u32 {
                let (engine, vars, logs) = (&engine, &vars, &logs);
                scope.spawn(move || {
                    for i in 0..100_u32 {
                        let logs = Arc::clone(logs);
                        // The order of naming differs by thread: it must not matter.
                        let (a, b) = if pusher % 2 == 0 { (0, 1) } else { (1, 0) };
                        engine
                            .task("log")
                            .write(&vars[a])
                            .write(&vars[b])
                            .push(move |_| {
                                logs[a].lock().unwrap().push((pusher, i));
                                logs[b].lock().unwrap().push((pusher, i));
                                Ok(())
                            })
                            .unwrap();
                    }
                });
            }
        });
        engine.wait_for_all().unwrap();
        let (first, second) = (logs[0].lock().unwrap().clone(), logs[1].lock().unwrap().clone());
        assert_eq!(first, second);
        for pusher in 0..3 {
            let own: Vec<u32> = first.iter().filter(|(p, _)| *p == pusher).map(|(_, i)| *i).collect();
            assert_eq!(own, (0..100).collect::<Vec<_>>(), "{kind:?}, pusher {pusher}");
        }
    }
}

/// E5: versions count writes, good and bad, under every kind.
#[test]
fn e5_version_counts_completed_writes() {
    for kind in KINDS {
        let engine = engine(kind, 2);
        let (x, y) = (engine.new_var(), engine.new_var());
        for i in 0..10 {
            let outcome = engine
                .task("maybe")
                .read(&y)
                .write(&x)
                .push(move |_| if i == 4 { Err(failure("fifth write")) } else { Ok(()) });
            assert_eq!(outcome.is_err(), kind == EngineKind::Naive && i == 4);
        }
        let _ = engine.wait_for_all();
        assert_eq!((x.version(), y.version()), (10, 0), "{kind:?}");
    }
}

/// E6: each task runs or is skipped once, and completes once.
#[test]
fn e6_run_or_skipped_exactly_once() {
    for kind in THREADED {
        let engine = engine(kind, 4);
        let x = engine.new_var();
        let runs: Arc<Vec<AtomicUsize>> = Arc::new((0..200).map(|_| AtomicUsize::new(0)).collect());
        let drops = Arc::new(());
        for i in 0..200 {
            let (runs, token) = (Arc::clone(&runs), Arc::clone(&drops));
            engine
                .task("count")
                .write(&x)
                .push(move |_| {
                    let _token = token;
                    runs[i].fetch_add(1, Ordering::Relaxed);
                    if i == 120 { Err(failure("stop here")) } else { Ok(()) }
                })
                .unwrap();
        }
        assert!(engine.wait_for_all().is_err());
        let counts: Vec<usize> = runs.iter().map(|r| r.load(Ordering::Relaxed)).collect();
        assert_eq!(counts, [vec![1; 121], vec![0; 79]].concat());
        let counters = engine.counters();
        assert_eq!((counters.pushed, counters.completed, counters.skipped, counters.failed), (200, 200, 79, 1));
        assert_eq!(Arc::strong_count(&drops), 1, "bodies are gone, also those of skipped tasks");
    }
}

/// E7: tasks without variables count too.
#[test]
fn e7_wait_for_all_sees_every_own_push() {
    for kind in KINDS {
        let engine = engine(kind, 3);
        let done = Arc::new(AtomicUsize::new(0));
        for round in 1..=50 {
            for i in 0..5 {
                let done = Arc::clone(&done);
                engine
                    .task("count")
                    .device(mxrs_types::Device::cpu(i))
                    .push(move |_| {
                        thread::yield_now();
                        done.fetch_add(1, Ordering::SeqCst);
                        Ok(())
                    })
                    .unwrap();
            }
            engine.wait_for_all().unwrap();
            assert_eq!(done.load(Ordering::SeqCst), 5 * round, "{kind:?}");
        }
        assert_eq!(engine.counters().pushed, 250);
    }
}

/// E9: naming a variable twice, or as both read and written, neither deadlocks nor counts twice.
#[test]
fn e9_duplicates_do_no_harm() {
    for kind in KINDS {
        let engine = engine(kind, 2);
        let (x, y) = (engine.new_var(), engine.new_var());
        for _ in 0..3 {
            engine.task("dup").read(&x).write(&x).write(&x).read(&y).read(&y).read(&x).push(|_| Ok(())).unwrap();
        }
        engine.wait_for_all().unwrap();
        assert_eq!((x.version(), y.version()), (3, 0), "{kind:?}");
    }
}

/// E10: "reads a, writes b" against "reads b, writes a" from two threads, which deadlocks without atomic pushes.
#[test]
fn e10_crossed_pushes_never_deadlock() {
    for kind in KINDS {
        let engine = engine(kind, 2);
        let (a, b) = (engine.new_var(), engine.new_var());
        thread::scope(|scope| {
            for (read, write) in [(&a, &b), (&b, &a)] {
                let engine = &engine;
                scope.spawn(move || {
                    for _ in 0..500 {
                        engine.task("cross").read(read).write(write).push(|_| Ok(())).unwrap();
                    }
                });
            }
        });
        engine.wait_for_all().unwrap();
        assert_eq!((a.version(), b.version()), (500, 500), "{kind:?}");
    }
}

/// E11: nothing uses a variable after its deletion was pushed; the deletion runs after all earlier uses.
#[test]
fn e11_deleted_variable_is_refused_and_freed_last() {
    for kind in KINDS {
        let engine = engine(kind, 2);
        let x = engine.new_var();
        let log = Arc::new(Mutex::new(Vec::new()));
        for i in 0..5 {
            let log = Arc::clone(&log);
            let task = if i < 3 { engine.task("use").write(&x) } else { engine.task("use").read(&x) };
            task.push(move |_| {
                thread::sleep(Duration::from_millis(1));
                log.lock().unwrap().push(i);
                Ok(())
            })
            .unwrap();
        }
        let freed = Arc::clone(&log);
        assert!(engine.delete_var(x.clone(), move || freed.lock().unwrap().push(99)));
        let is_engine_error =
            |e: Error| matches!(e.kind(), ErrorKind::Engine { message } if message.contains("deleted"));
        assert!(is_engine_error(engine.task("late").read(&x).push(|_| Ok(())).unwrap_err()));
        assert!(is_engine_error(engine.wait_to_read(&x).unwrap_err()));
        assert!(!engine.delete_var(x, || panic!("a second deletion must not run")), "deleted twice");
        engine.wait_for_all().unwrap();
        let mut log = log.lock().unwrap().clone();
        log[3..5].sort_unstable();
        assert_eq!(log, [0, 1, 2, 3, 4, 99], "{kind:?}");
    }
}

/// E12: x fails; y depends on x, z on y; w is untouched; v mixes. One failure, delivered once (E13).
#[test]
fn e12_e13_failure_travels_through_skipped_tasks_and_is_told_once() {
    for kind in THREADED {
        let engine = engine(kind, 2);
        let [x, y, z, w] = [(); 4].map(|_| engine.new_var());
        let ran = Arc::new(AtomicUsize::new(0));
        let count = || {
            let ran = Arc::clone(&ran);
            move |_: &mxrs_engine::RunContext| {
                ran.fetch_add(1, Ordering::SeqCst);
                Ok(())
            }
        };
        engine.task("bad").write(&x).push(|_| Err(failure("divided by zero"))).unwrap();
        engine.task("mid").read(&x).write(&y).push(count()).unwrap();
        engine.task("end").read(&y).write(&z).push(count()).unwrap();
        engine.task("free").write(&w).push(count()).unwrap();
        engine.wait_to_read(&w).unwrap();
        let text = engine.wait_to_read(&z).unwrap_err().to_string();
        assert!(text.contains("got divided by zero") && text.contains("while running `bad` on cpu(0)"), "{text}");
        assert!(text.contains("skipping what depends on it: `mid`, `end`"), "{text}");
        assert_eq!(ran.load(Ordering::SeqCst), 1);
        // Told: neither the other variables nor waiting for all say it again, and tasks run again.
        for var in [&x, &y, &z] {
            engine.wait_to_read(var).unwrap();
        }
        engine.task("again").read(&x).write(&y).push(count()).unwrap();
        engine.wait_for_all().unwrap();
        assert_eq!(ran.load(Ordering::SeqCst), 2);
    }
}

/// E13: two failures; waiting for all tells the first and clears the second.
#[test]
fn e13_wait_for_all_tells_the_first_and_clears_all() {
    for kind in THREADED {
        let engine = engine(kind, 1);
        let (x, y) = (engine.new_var(), engine.new_var());
        engine.task("one").write(&x).push(|_| Err(failure("one"))).unwrap();
        // Reads x only to come second; runs although x is tainted.
        engine.task("two").read(&x).write(&y).property(Property::NoSkip).push(|_| Err(failure("two"))).unwrap();
        assert!(engine.wait_for_all().unwrap_err().to_string().contains("got one"));
        engine.wait_to_read(&x).unwrap();
        engine.wait_to_read(&y).unwrap();
        engine.wait_for_all().unwrap();
    }
}

/// E13: many threads wait for one failure; one is told.
#[test]
fn e13_at_most_once_over_threads() {
    let engine = engine(EngineKind::ThreadedPerDevice, 2);
    let (open, gate) = gate();
    let x = engine.new_var();
    let gated = move |_: &mxrs_engine::RunContext| {
        gate();
        Err(failure("late"))
    };
    engine.task("bad").write(&x).push(gated).unwrap();
    let told: usize = thread::scope(|scope| {
        let waiters: Vec<_> = (0..4).map(|_| scope.spawn(|| usize::from(engine.wait_to_read(&x).is_err()))).collect();
        thread::sleep(Duration::from_millis(5));
        drop(open);
        waiters.into_iter().map(|w| w.join().unwrap()).sum()
    });
    assert_eq!(told, 1);
}

/// E14: everything pending completes whatever fails, panics included, and the panic is an error like any other.
#[test]
fn e14_failures_and_panics_never_block_progress() {
    for kind in THREADED {
        let engine = engine(kind, 2);
        let vars: Vec<_> = (0..4).map(|_| engine.new_var()).collect();
        for i in 0..200_usize {
            let task = engine.task(format!("t{i}")).read(&vars[i % 4]).write(&vars[(i * 7 + 1) % 4]);
            task.push(move |_| match i % 5 {
                0 => Err(failure("fails")),
                1 => panic!("task {i} panics"),
                _ => Ok(()),
            })
            .unwrap();
        }
        assert!(engine.wait_for_all().is_err());
        let c = engine.counters();
        assert_eq!((c.pushed, c.completed), (200, 200));
        let x = engine.new_var();
        engine.task("loud").write(&x).push(|_| panic!("with a message")).unwrap();
        let error = engine.wait_to_read(&x).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Panicked { what, message } if what == "`loud`" && message == "with a message"),
            "{error}"
        );
    }
}

/// E15: a `NoSkip` task runs and sees the error; an ordinary one is skipped.
#[test]
fn e15_noskip_sees_the_failure_and_runs() {
    for kind in THREADED {
        let engine = engine(kind, 1);
        let (x, y) = (engine.new_var(), engine.new_var());
        let seen = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&seen);
        engine.task("bad").write(&x).push(|_| Err(failure("original"))).unwrap();
        engine
            .task("completion")
            .read(&x)
            .write(&y)
            .property(Property::NoSkip)
            .push(move |context| {
                *slot.lock().unwrap() = context.inherited_error().map(ToString::to_string);
                Ok(())
            })
            .unwrap();
        assert!(engine.wait_to_read(&y).unwrap_err().to_string().contains("original"), "passed on");
        assert!(seen.lock().unwrap().as_ref().unwrap().contains("original"));
        assert_eq!(engine.counters().skipped, 0);
    }
}

/// Waiting from inside a body is an error for every kind, and pushing there is legal.
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
            // Needs what this task is writing: runs after it, even where tasks run on the pusher.
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
    assert_eq!(x.version(), 0, "a wait is no write");
}

/// A wait does not stand in a worker's queue: the only worker is blocked by an unrelated task.
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

/// Variables of one engine mean nothing to another.
#[test]
fn a_foreign_variable_is_refused() {
    let (one, two) = (engine(EngineKind::Naive, 1), engine(EngineKind::Naive, 1));
    let x = one.new_var();
    assert!(two.task("t").read(&x).push(|_| Ok(())).unwrap_err().to_string().contains("another engine"));
    assert!(two.wait_to_read(&x).is_err());
    assert!(one.task("gpu").device(mxrs_types::Device::gpu(0)).push(|_| Ok(())).is_err());
    assert_eq!(two.counters().pushed, 0, "a refused push does not count");
}
