//! Tests the rules E3 to E11 of `mxrs_engine::var`: the order in which tasks use variables, and the end of tasks and
//! waits.

use super::*;

/// E3: a writer runs alone, and readers run together.
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

/// E4: with several pushing threads, tasks have the same order on all variables, and the tasks of one thread keep the
/// order of their pushes.
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
                        // Threads name the two variables in different orders, which must not matter.
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

/// E5: versions count writes, successful or not, for every kind of engine.
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

/// E7: a wait for all also covers tasks without variables.
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

/// E10: one thread pushes tasks that read `a` and write `b`, another thread pushes tasks that read `b` and write `a`.
/// The tasks would deadlock if pushes were not atomic.
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

/// E11: no task uses a variable after its deletion was pushed; the deletion runs after all earlier uses.
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
