//! What causes collected tasks to be pushed (rules E6, E7 and E16 of `mxrs_engine::var`).

use super::*;

/// E16: the buffer is pushed whenever it holds as many tasks as the scope's limit, and also when the scope ends.
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
            // The scope has ended, so this task is not buffered.
            engine.task("note").write(&var).push(note(&log, 6)).unwrap();
            assert!(let_run(|| var.version() == 3), "{kind:?}");
            assert_eq!(*log.lock().unwrap(), (0..7).collect::<Vec<_>>());
        });
    }
}

/// E16: a wait, another device, another kind of push, a deletion, a flush and a stop all push the buffer first.
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

/// E16, E7: another thread's wait for all covers the tasks that this thread has buffered.
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
                            // Stays in the scope until the other thread's wait has ended.
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

/// E16, E6: no buffered task is lost if the scope lasts longer than the last wait, if the engine stops, or if the
/// scope's thread ends.
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
                // Drops the scope and the handles.
            }
            assert!(let_run(|| log.lock().unwrap().len() == 2), "{kind:?}: drop");
            let engine = engine(kind);
            let (own, notes) = (engine.clone(), Arc::clone(&log));
            let ended = thread::spawn(move || {
                // The scope is never dropped, so that only the thread's end can push the buffer. `KEPT` stores the
                // scope's address, so that no leak detector reports the scope.
                static KEPT: Mutex<Vec<usize>> = Mutex::new(Vec::new());
                KEPT.lock().unwrap().push(Box::into_raw(Box::new(own.bulk(100))).expose_provenance());
                own.task("note").push(note(&notes, 2)).unwrap();
            });
            ended.join().unwrap();
            engine.wait_for_all().unwrap();
            assert!(let_run(|| log.lock().unwrap().len() == 3), "{kind:?}: thread's end");
        });
    }
}

/// E16, E6: accepted tasks run even if another thread stops the engine meanwhile.
#[test]
fn e16_e6_accepted_tasks_run_though_another_thread_stops_the_engine() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (ran, over) = (Arc::new(AtomicUsize::new(0)), AtomicBool::new(false));
            let accepted = thread::scope(|scope| {
                let collecting = scope.spawn(|| {
                    let (var, mut accepted) = (engine.new_var(), 0);
                    while !over.load(Ordering::Relaxed) {
                        let _scope = engine.bulk(100);
                        for _ in 0..20 {
                            let ran = Arc::clone(&ran);
                            let body = move |_: &RunContext| {
                                ran.fetch_add(1, Ordering::Relaxed);
                                Ok(())
                            };
                            accepted += usize::from(engine.task("t").write(&var).push(body).is_ok());
                        }
                    }
                    accepted
                });
                for _ in 0..300 {
                    engine.stop();
                    engine.start().unwrap();
                    thread::yield_now();
                }
                over.store(true, Ordering::Relaxed);
                collecting.join().unwrap()
            });
            engine.wait_for_all().unwrap();
            assert_eq!(ran.load(Ordering::Relaxed), accepted, "{kind:?}");
        });
    }
}
