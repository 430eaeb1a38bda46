//! E16: tasks pushed in bulk give the same results in the same order; only when they run, and how many tasks the engine
//! counts, differ.
#![cfg(not(loom))]

mod support;

use mxrs_engine::{Engine, EngineKind, Property, RunContext, Var};
use mxrs_types::{Device, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use support::{KINDS, THREADED, engine, failure, within};

const LIMIT: Duration = Duration::from_secs(30);

type Log = Arc<Mutex<Vec<usize>>>;

fn note(log: &Log, number: usize) -> impl FnOnce(&RunContext) -> Result<()> + Send + 'static {
    let log = Arc::clone(log);
    move |_| {
        log.lock().unwrap().push(number);
        Ok(())
    }
}

/// Long enough for a task that has been pushed on to run.
fn let_run(mut done: impl FnMut() -> bool) -> bool {
    (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(1));
        done()
    })
}

/// Long enough to see that a task does not run, for a worker that has nothing else to do.
fn pause() {
    thread::sleep(Duration::from_millis(20));
}

/// E16: random programs end with the same values with and without bulks of any size.
#[test]
fn e16_bulk_changes_no_result() {
    fn run(kind: EngineKind, seed: u64, bulk: usize) -> Vec<u64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let engine = engine(kind);
        let n = rng.random_range(1..10);
        let vars: Vec<Var> = (0..n).map(|_| engine.new_var()).collect();
        let cells: Arc<Vec<AtomicU64>> = Arc::new((0..n).map(|_| AtomicU64::new(0)).collect());
        let _scope = (bulk > 0).then(|| engine.bulk(bulk));
        for number in 0..100_u64 {
            let mut pick =
                |most| (0..rng.random_range(0..=most)).map(|_| rng.random_range(0..n)).collect::<Vec<usize>>();
            let (reads, writes) = (pick(3), pick(2));
            let property =
                [Property::Normal, Property::Async, Property::NoSkip][(rng.random_range(0..20_usize) / 9).min(2)];
            let device = Device::cpu(rng.random_range(0..8_u32) / 7);
            let task =
                engine.task("step").reads(reads.iter().map(|v| &vars[*v])).writes(writes.iter().map(|v| &vars[*v]));
            let own = Arc::clone(&cells);
            let body = move |_: &RunContext| {
                let seen = reads.iter().chain(&writes).map(|v| own[*v].load(Ordering::Relaxed));
                let value = seen.fold(number + 1, |h, v| (h ^ v).wrapping_mul(0x100_0000_01b3).rotate_left(17));
                let targets: BTreeSet<usize> = writes.iter().copied().collect();
                targets.iter().for_each(|v| own[*v].store(value ^ *v as u64, Ordering::Relaxed));
                Ok(())
            };
            task.property(property).device(device).push(body).unwrap();
            if rng.random_bool(0.03) {
                engine.wait_to_read(&vars[0]).unwrap();
            }
        }
        engine.wait_for_all().unwrap();
        cells.iter().map(|cell| cell.load(Ordering::Relaxed)).collect()
    }
    for seed in 0..60 {
        let expected = run(EngineKind::Naive, seed, 0);
        for kind in KINDS {
            for bulk in [0, 1, 2, 15, 1000] {
                assert_eq!(run(kind, seed, bulk), expected, "seed {seed}, {kind:?}, bulks of {bulk}");
            }
        }
    }
}

/// E16, E5: bodies run in the order of their pushes, and n writes in a bulk raise the version by 1.
#[test]
fn e16_a_bulk_keeps_the_order_and_counts_as_one_write() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (var, other, log) = (engine.new_var(), engine.new_var(), Log::default());
            {
                let _scope = engine.bulk(15);
                for number in 0..10 {
                    // Independent of one another, and in order all the same.
                    let task = engine.task("note").read(&other);
                    let task = if number % 2 == 0 { task.write(&var) } else { task };
                    task.push(note(&log, number)).unwrap();
                }
            }
            engine.wait_for_all().unwrap();
            assert_eq!(*log.lock().unwrap(), (0..10).collect::<Vec<_>>(), "{kind:?}");
            assert_eq!((var.version(), other.version()), (1, 0), "{kind:?}");
        });
    }
}

/// E16: the buffer goes out when it holds as many tasks as the scope says, and the rest when the scope ends.
#[test]
fn e16_flush_at_the_count_and_at_the_end_of_the_scope() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (var, log) = (engine.new_var(), Log::default());
            let n_run = || log.lock().unwrap().len();
            let scope = engine.bulk(4);
            for number in 0..3 {
                engine.task("note").write(&var).push(note(&log, number)).unwrap();
            }
            pause();
            assert_eq!((n_run(), var.version()), (0, 0), "{kind:?}: three of four stay in the buffer");
            engine.task("note").write(&var).push(note(&log, 3)).unwrap();
            assert!(let_run(|| var.version() == 1), "{kind:?}: the fourth sends them off");
            for number in 4..6 {
                engine.task("note").write(&var).push(note(&log, number)).unwrap();
            }
            pause();
            assert_eq!(n_run(), 4, "{kind:?}");
            drop(scope);
            assert!(let_run(|| var.version() == 2), "{kind:?}: the scope's end sends the rest");
            // Out of the scope nothing is buffered.
            engine.task("note").write(&var).push(note(&log, 6)).unwrap();
            assert!(let_run(|| var.version() == 3), "{kind:?}");
            assert_eq!(*log.lock().unwrap(), (0..7).collect::<Vec<_>>());
        });
    }
}

/// E16: a wait, another device, another kind of push, a deletion, a flush and a stop all send the buffer off first.
#[test]
fn e16_what_flushes() {
    type Trigger = (&'static str, fn(&Engine, &Var, &Log));
    fn other(engine: &Engine, log: &Log, property: Property, priority: i32, device: u32) {
        let task = engine.task("other").property(property).priority(priority).device(Device::cpu(device));
        task.push(note(log, 99)).unwrap();
    }
    let triggers: [Trigger; 11] = [
        ("wait_to_read", |engine, var, _| engine.wait_to_read(var).unwrap()),
        ("wait_to_write", |engine, var, _| engine.wait_to_write(var).unwrap()),
        ("wait_to_read of another", |engine, _, _| engine.wait_to_read(&engine.new_var()).unwrap()),
        ("wait_for_all", |engine, _, _| engine.wait_for_all().unwrap()),
        ("another device", |engine, _, log| other(engine, log, Property::Normal, 0, 1)),
        ("a priority", |engine, _, log| other(engine, log, Property::Normal, 1, 0)),
        ("CpuPrioritized", |engine, _, log| other(engine, log, Property::CpuPrioritized, 0, 0)),
        ("Async", |engine, _, log| other(engine, log, Property::Async, 0, 0)),
        ("NoSkip", |engine, _, log| other(engine, log, Property::NoSkip, 0, 0)),
        ("a deletion", |engine, _, _| assert!(engine.delete_var(engine.new_var(), || {}))),
        ("flush", |engine, _, _| engine.flush()),
    ];
    for kind in THREADED {
        for (name, trigger) in triggers {
            within(LIMIT, move || {
                let engine = engine(kind);
                let (var, log) = (engine.new_var(), Log::default());
                let scope = engine.bulk(100);
                for number in 0..5 {
                    engine.task("note").write(&var).push(note(&log, number)).unwrap();
                }
                pause();
                assert_eq!(log.lock().unwrap().len(), 0, "{kind:?}, before {name}");
                trigger(&engine, &var, &log);
                assert!(let_run(|| var.version() == 1), "{kind:?}, {name} does not flush");
                let first: Vec<usize> = log.lock().unwrap().iter().copied().filter(|n| *n != 99).collect();
                assert_eq!(first, [0, 1, 2, 3, 4], "{kind:?}, {name}");
                drop(scope);
            });
        }
    }
}

/// E16, E4: what flushes comes after what it flushes, if they share a variable.
#[test]
fn e16_a_push_that_flushes_stays_behind_the_buffer() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (var, log) = (engine.new_var(), Log::default());
            let _scope = engine.bulk(100);
            for number in 0..60 {
                let task = engine.task("note").write(&var);
                let task = match number % 6 {
                    5 => task.property(Property::Async),
                    3 => task.priority(7),
                    1 => task.device(Device::cpu(1)),
                    _ => task,
                };
                task.push(note(&log, number)).unwrap();
            }
            engine.wait_for_all().unwrap();
            assert_eq!(*log.lock().unwrap(), (0..60).collect::<Vec<_>>(), "{kind:?}");
        });
    }
}

/// E16, E7: another thread's wait for all sees what this thread has buffered.
#[test]
fn e16_e7_wait_for_all_of_another_thread_sees_buffers() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let done = Arc::new(AtomicUsize::new(0));
            let (tell, told) = channel::<()>();
            thread::scope(|scope| {
                let threads: Vec<_> = (0..3)
                    .map(|_| {
                        let (engine, done, tell) = (&engine, Arc::clone(&done), tell.clone());
                        scope.spawn(move || {
                            let var = engine.new_var();
                            let _bulk = engine.bulk(1000);
                            for _ in 0..7 {
                                let done = Arc::clone(&done);
                                let body = move |_: &RunContext| {
                                    done.fetch_add(1, Ordering::Relaxed);
                                    Ok(())
                                };
                                engine.task("count").write(&var).push(body).unwrap();
                            }
                            tell.send(()).unwrap();
                            // Stays in its scope until the other thread has waited.
                            thread::park();
                        })
                    })
                    .collect();
                (0..3).for_each(|_| told.recv().unwrap());
                let before = done.load(Ordering::Relaxed);
                engine.wait_for_all().unwrap();
                let after = done.load(Ordering::Relaxed);
                threads.iter().for_each(|thread| thread.thread().unpark());
                assert_eq!((before, after), (0, 21), "{kind:?}: all buffered, then all done");
            });
        });
    }
}

/// E16, E12: one body's failure taints its outputs only, and skips only what depends on it.
#[test]
fn e16_e12_failure_in_a_bulk_stays_with_its_body() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let [bad, after, good, free, later] = [(); 5].map(|_| engine.new_var());
            let log = Log::default();
            {
                let _scope = engine.bulk(15);
                engine.task("good").write(&good).push(note(&log, 0)).unwrap();
                engine.task("bad").write(&bad).push(|_| Err(failure("in a bulk"))).unwrap();
                engine.task("after").read(&bad).write(&after).push(note(&log, 1)).unwrap();
                engine.task("free").read(&good).write(&free).push(note(&log, 2)).unwrap();
                engine.task("panics").push(|_| panic!("beside it")).unwrap();
                engine.task("good again").write(&good).push(note(&log, 3)).unwrap();
            }
            engine.task("later").read(&after).write(&later).push(note(&log, 4)).unwrap();
            engine.wait_to_read(&good).unwrap();
            engine.wait_to_read(&free).unwrap();
            let text = engine.wait_to_read(&later).unwrap_err().to_string();
            assert!(text.contains("got in a bulk") && text.contains("running `bad`"), "{kind:?}: {text}");
            assert!(text.contains("`after`") && text.contains("`later`") && !text.contains("`free`"), "{text}");
            // E13: told once; the panic is a failure of its own.
            engine.wait_to_read(&after).unwrap();
            engine.wait_to_read(&bad).unwrap();
            assert!(engine.wait_for_all().unwrap_err().to_string().contains("beside it"), "{kind:?}");
            engine.wait_for_all().unwrap();
            assert_eq!(*log.lock().unwrap(), [0, 2, 3], "{kind:?}");
        });
    }
}

/// E16, E12: a failure from before the bulk skips the bodies it reaches, not their neighbours.
#[test]
fn e16_e12_failure_from_outside_skips_only_what_it_reaches() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let [bad, touched, free] = [(); 3].map(|_| engine.new_var());
            let log = Log::default();
            engine.task("bad").write(&bad).push(|_| Err(failure("outside"))).unwrap();
            {
                let _scope = engine.bulk(15);
                engine.task("first").write(&free).push(note(&log, 0)).unwrap();
                engine.task("reads bad").read(&bad).write(&touched).push(note(&log, 1)).unwrap();
                engine.task("last").read(&free).push(note(&log, 2)).unwrap();
            }
            engine.wait_to_read(&free).unwrap();
            assert!(engine.wait_to_read(&touched).is_err(), "{kind:?}");
            engine.wait_for_all().unwrap();
            assert_eq!(*log.lock().unwrap(), [0, 2], "{kind:?}");
        });
    }
}

/// E16, E11: a deletion first sends off what uses the variable; later uses are refused.
#[test]
fn e16_e11_deletion_of_a_variable_a_buffer_holds() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (var, log) = (engine.new_var(), Log::default());
            let _scope = engine.bulk(15);
            engine.task("use").write(&var).push(note(&log, 0)).unwrap();
            engine.task("use").read(&var).push(note(&log, 1)).unwrap();
            let freed = Arc::clone(&log);
            assert!(engine.delete_var(var.clone(), move || freed.lock().unwrap().push(2)));
            assert!(engine.task("late").read(&var).push(note(&log, 3)).is_err(), "{kind:?}");
            assert!(!engine.delete_var(var, || {}), "{kind:?}: deleted twice");
            engine.wait_for_all().unwrap();
            assert_eq!(*log.lock().unwrap(), [0, 1, 2], "{kind:?}");
        });
    }
}

/// E16: scopes nest, the inner one's number counts, and lowering it sends off what is too much.
#[test]
fn e16_scopes_nest() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (var, log) = (engine.new_var(), Log::default());
            let push = |number| engine.task("note").write(&var).push(note(&log, number)).unwrap();
            let outer = engine.bulk(100);
            (0..3).for_each(push);
            {
                let _inner = engine.bulk(2);
                assert!(let_run(|| var.version() == 1), "{kind:?}: three are more than two");
                push(3);
                push(4);
                assert!(let_run(|| var.version() == 2), "{kind:?}");
            }
            (5..10).for_each(push);
            pause();
            assert_eq!(log.lock().unwrap().len(), 5, "{kind:?}: the outer number counts again");
            drop(outer);
            assert!(let_run(|| var.version() == 3), "{kind:?}");
            assert_eq!(*log.lock().unwrap(), (0..10).collect::<Vec<_>>());
        });
    }
}

/// E16: numbers below 2 buffer nothing, and the naive engine never does.
#[test]
fn e16_nothing_to_buffer() {
    for (kind, bulk) in [(EngineKind::Naive, 15), (EngineKind::Threaded, 0), (EngineKind::ThreadedPerDevice, 1)] {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (var, log) = (engine.new_var(), Log::default());
            let _scope = engine.bulk(bulk);
            for number in 0..5 {
                engine.task("note").write(&var).push(note(&log, number)).unwrap();
                if kind == EngineKind::Naive {
                    assert_eq!(log.lock().unwrap().len(), number + 1, "has run when the push returns");
                }
            }
            assert!(let_run(|| var.version() == 5), "{kind:?}");
            if kind == EngineKind::Naive {
                let told = engine.task("bad").write(&var).push(|_| Err(failure("at once")));
                assert!(told.unwrap_err().to_string().contains("at once"));
            }
        });
    }
}

/// E16: a scope is its thread's alone, and its engine's alone.
#[test]
fn e16_a_scope_is_of_one_thread_and_one_engine() {
    within(LIMIT, || {
        let (one, two) = (engine(EngineKind::ThreadedPerDevice), engine(EngineKind::ThreadedPerDevice));
        let (x, y, log) = (one.new_var(), two.new_var(), Log::default());
        let _scope = one.bulk(100);
        two.task("other engine").write(&y).push(note(&log, 0)).unwrap();
        assert!(let_run(|| y.version() == 1), "another engine's pushes are not buffered");
        thread::scope(|scope| {
            scope.spawn(|| {
                one.task("other thread").write(&x).push(note(&log, 1)).unwrap();
                assert!(let_run(|| x.version() == 1), "another thread's pushes are not buffered");
            });
        });
        one.task("buffered").write(&x).push(note(&log, 2)).unwrap();
        pause();
        assert_eq!(x.version(), 1);
        one.wait_to_read(&x).unwrap();
        assert_eq!(*log.lock().unwrap(), [0, 1, 2]);
    });
}

/// E16, E6: nothing buffered is lost when the scope outlives the last wait, the engine stops, or its thread ends.
#[test]
fn e16_e6_buffers_are_not_lost_at_the_end() {
    for kind in THREADED {
        within(LIMIT, move || {
            let log = Log::default();
            {
                let engine = engine(kind);
                let var = engine.new_var();
                let _scope = engine.bulk(100);
                engine.task("note").write(&var).push(note(&log, 0)).unwrap();
                engine.stop();
                assert_eq!(*log.lock().unwrap(), [0], "{kind:?}: stop");
                engine.start().unwrap();
                engine.task("note").write(&var).push(note(&log, 1)).unwrap();
                // Scope and handles end here.
            }
            assert!(let_run(|| log.lock().unwrap().len() == 2), "{kind:?}: drop");
            let engine = engine(kind);
            let (own, notes) = (engine.clone(), Arc::clone(&log));
            let ended = thread::spawn(move || {
                // Never dropped: only the thread's end can send the buffer off.
                std::mem::forget(own.bulk(100));
                own.task("note").push(note(&notes, 2)).unwrap();
            });
            ended.join().unwrap();
            engine.wait_for_all().unwrap();
            assert!(let_run(|| log.lock().unwrap().len() == 3), "{kind:?}: thread's end");
        });
    }
}

/// E16: a body that runs on the pushing thread and pushes, while that thread buffers.
#[test]
fn e16_bodies_on_the_pushing_thread_may_push() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (var, log) = (engine.new_var(), Log::default());
            let _scope = engine.bulk(10);
            engine.task("note").write(&var).push(note(&log, 0)).unwrap();
            let (own, target, notes) = (engine.clone(), var.clone(), Arc::clone(&log));
            let body = move |_: &RunContext| {
                for number in 1..4 {
                    own.task("inner").write(&target).push(note(&notes, number))?;
                }
                Ok(())
            };
            engine.task("outer").property(Property::Async).push(body).unwrap();
            engine.wait_for_all().unwrap();
            assert_eq!(*log.lock().unwrap(), [0, 1, 2, 3], "{kind:?}");
        });
    }
}

/// E16: counters tell tasks from the operators the engine made of them.
#[test]
fn e16_counters_tell_tasks_and_operators() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let var = engine.new_var();
            {
                let _scope = engine.bulk(5);
                for _ in 0..20 {
                    engine.task("t").write(&var).push(|_| Ok(())).unwrap();
                }
            }
            engine.wait_for_all().unwrap();
            let counters = engine.counters();
            let operators = if kind == EngineKind::Naive { 20 } else { 4 };
            assert_eq!((counters.pushed, counters.completed), (operators, operators), "{kind:?}");
            let bulked = if kind == EngineKind::Naive { 0 } else { 20 };
            assert_eq!(counters.bulked, bulked, "{kind:?}: tasks that came in bulks");
            assert_eq!(var.version(), operators, "E5");
        });
    }
}

/// E16, E11: collected tasks keep their variables, whose last handle may go away before they are pushed, and which other
/// variables must not take the place of.
#[test]
fn e16_collected_tasks_keep_their_variables() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let sum = Arc::new(Mutex::new(0_u64));
            for round in 0..200 {
                let _scope = engine.bulk(50);
                for i in 0..20 {
                    // As an array that lives for one statement.
                    let var = engine.new_var();
                    let sum = Arc::clone(&sum);
                    let body = move |_: &RunContext| {
                        *sum.lock().unwrap() += 1;
                        Ok(())
                    };
                    engine.task("t").write(&var).push(body).unwrap();
                    if (round + i) % 7 == 0 {
                        assert!(engine.delete_var(var, || {}));
                    }
                }
                // New variables where the old ones may have been.
                let fresh: Vec<_> = (0..20).map(|_| engine.new_var()).collect();
                engine.flush();
                assert!(fresh.iter().all(|var| var.version() == 0), "{kind:?}");
            }
            engine.wait_for_all().unwrap();
            assert_eq!(*sum.lock().unwrap(), 200 * 20, "{kind:?}: E6");
        });
    }
}
