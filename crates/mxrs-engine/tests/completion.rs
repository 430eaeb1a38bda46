//! Tasks that end on another thread: each completes once, and a dropped completion is a failure. The rules E3 to E14 are
//! those of `mxrs_engine::var`.
#![cfg(not(loom))]

mod support;

use mxrs_engine::{Completion, Engine, EngineKind, Property, RunContext};
use mxrs_types::{ErrorKind, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use support::{KINDS, THREADED, engine, failure, within};

const LIMIT: Duration = Duration::from_secs(30);

/// A body that returns immediately and completes the task after a moment, on another thread.
fn later(result: Result<()>, ended: &Arc<AtomicBool>) -> impl FnOnce(&RunContext, Completion) + Send + 'static {
    let ended = Arc::clone(ended);
    move |_, done| {
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(5));
            ended.store(true, Ordering::SeqCst);
            done.complete(result).unwrap();
        });
    }
}

/// E3, E7: the variables stay in use until the completion, not until the body returns.
#[test]
fn e3_e7_a_task_lasts_until_it_is_completed() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (x, y) = (engine.new_var(), engine.new_var());
            let ended = Arc::new(AtomicBool::new(false));
            engine.task("later").write(&x).push_async(later(Ok(()), &ended)).unwrap();
            let seen = Arc::clone(&ended);
            let check = move |_: &RunContext| {
                assert!(seen.load(Ordering::SeqCst));
                Ok(())
            };
            engine.task("after").read(&x).write(&y).push(check).unwrap();
            engine.wait_to_read(&y).unwrap();
            ended.store(false, Ordering::SeqCst);
            engine.task("no variable").push_async(later(Ok(()), &ended)).unwrap();
            engine.wait_for_all().unwrap();
            assert!(ended.load(Ordering::SeqCst), "{kind:?}");
            assert_eq!((x.version(), y.version()), (1, 1), "{kind:?}");
        });
    }
}

/// E6: completing a task a second time is an error that changes nothing, also through a clone of the completion.
#[test]
fn e6_completing_twice_is_an_error() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let x = engine.new_var();
            let kept = Arc::new(Mutex::new(None));
            let slot = Arc::clone(&kept);
            let body = move |_: &RunContext, done: Completion| {
                *slot.lock().unwrap() = Some(done.clone());
                done.complete(Ok(())).unwrap();
                let second = done.complete(Err(failure("second"))).unwrap_err();
                assert!(matches!(second.kind(), ErrorKind::Engine { .. }), "{second}");
            };
            engine.task("twice").write(&x).push_async(body).unwrap();
            engine.wait_to_read(&x).unwrap();
            let clone = kept.lock().unwrap().take().unwrap();
            let third = clone.complete(Ok(())).unwrap_err().to_string();
            assert!(third.contains("twice"), "names the task or says what is wrong: {third}");
            engine.wait_for_all().unwrap();
            let counters = engine.counters();
            assert_eq!((counters.pushed, counters.completed, x.version()), (1, 1, 1), "{kind:?}");
        });
    }
}

/// E6: of many threads that complete one task, one succeeds.
#[test]
fn e6_one_of_many_completions_counts() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let x = engine.new_var();
            let good = Arc::new(AtomicUsize::new(0));
            for _ in 0..200 {
                let good = Arc::clone(&good);
                let body = move |_: &RunContext, done: Completion| {
                    for _ in 0..3 {
                        let (done, good) = (done.clone(), Arc::clone(&good));
                        thread::spawn(move || good.fetch_add(done.complete(Ok(())).is_ok().into(), Ordering::SeqCst));
                    }
                };
                engine.task("race").write(&x).push_async(body).unwrap();
            }
            engine.wait_for_all().unwrap();
            assert_eq!((x.version(), engine.counters().completed), (200, 200), "{kind:?}");
            // The other threads may still be running.
            while Arc::strong_count(&good) > 1 {
                thread::yield_now();
            }
            assert_eq!(good.load(Ordering::SeqCst), 200, "{kind:?}");
        });
    }
}

/// E12, E13, E14: errors passed to a completion, dropped completions, and panics before it are failures like others.
#[test]
fn e14_late_errors_and_broken_promises_are_failures() {
    fn tell(engine: &Engine, kind: EngineKind, body: impl FnOnce(&RunContext, Completion) + Send + 'static) -> String {
        let (x, y) = (engine.new_var(), engine.new_var());
        let pushed = engine.task("bad").write(&x).push_async(body);
        let error = if kind == EngineKind::Naive {
            pushed.unwrap_err()
        } else {
            pushed.unwrap();
            engine.task("skipped").read(&x).write(&y).push(|_| panic!("runs")).unwrap();
            engine.wait_to_read(&y).unwrap_err()
        };
        engine.wait_for_all().unwrap();
        assert_eq!(x.version(), 1, "E5, {kind:?}");
        error.to_string()
    }
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let ended = Arc::new(AtomicBool::new(false));
            let text = tell(&engine, kind, later(Err(failure("late")), &ended));
            assert!(text.contains("got late") && text.contains("running `bad` on cpu(0)"), "{kind:?}: {text}");
            let text = tell(&engine, kind, |_, done| drop(done));
            assert!(text.contains("bad"), "{kind:?}: a dropped promise: {text}");
            let text = tell(&engine, kind, |_, done| {
                thread::spawn(move || {
                    let clones = vec![done.clone(), done.clone(), done];
                    thread::sleep(Duration::from_millis(2));
                    drop(clones);
                });
            });
            assert!(text.contains("bad"), "{kind:?}: a promise dropped later: {text}");
            let text = tell(&engine, kind, |_, _done| panic!("before the promise"));
            assert!(text.contains("before the promise"), "{kind:?}: {text}");
        });
    }
}

/// E6: if a body completes its task and then panics or drops the completion, the task has succeeded.
#[test]
fn e6_what_happens_after_the_completion_does_not_count() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let x = engine.new_var();
            let pushed = engine.task("then panics").write(&x).push_async(|_, done: Completion| {
                done.complete(Ok(())).unwrap();
                panic!("after the completion");
            });
            // It is unspecified whether the push reports the panic. In both cases the task is done exactly once.
            let _ = pushed;
            let _ = engine.wait_for_all();
            engine.task("next").write(&x).push(|_| Ok(())).unwrap();
            engine.wait_for_all().unwrap();
            assert_eq!((x.version(), engine.counters().completed), (2, 2), "{kind:?}");
        });
    }
}

/// E7: stopping and dropping wait for tasks whose body has returned.
#[test]
fn e7_stop_and_drop_wait_for_completions() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let ended = Arc::new(AtomicBool::new(false));
            engine.task("later").push_async(later(Ok(()), &ended)).unwrap();
            engine.stop();
            assert!(ended.swap(false, Ordering::SeqCst), "{kind:?}: stop");
            engine.start().unwrap();
            engine.task("later").write(&engine.new_var()).push_async(later(Ok(()), &ended)).unwrap();
            drop(engine);
            assert!(ended.load(Ordering::SeqCst), "{kind:?}: drop");
        });
    }
}

/// E10: a worker is free while one of its tasks waits for its completion.
#[test]
fn e10_a_waiting_completion_blocks_no_worker() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (x, y) = (engine.new_var(), engine.new_var());
            let kept = Arc::new(Mutex::new(None));
            let slot = Arc::clone(&kept);
            let keep = move |_: &RunContext, done: Completion| *slot.lock().unwrap() = Some(done);
            engine.task("kept").write(&x).push_async(keep).unwrap();
            // More tasks than any pool has workers.
            for _ in 0..40 {
                engine.task("other").write(&y).push(|_| Ok(())).unwrap();
            }
            engine.wait_to_read(&y).unwrap();
            assert_eq!((x.version(), y.version()), (0, 40), "{kind:?}");
            // One task completes another.
            let promise = loop {
                if let Some(promise) = kept.lock().unwrap().take() {
                    break promise;
                }
                thread::yield_now();
            };
            engine.task("completes").property(Property::Async).push(move |_| promise.complete(Ok(()))).unwrap();
            engine.wait_to_read(&x).unwrap();
            assert_eq!(x.version(), 1, "{kind:?}");
        });
    }
}
