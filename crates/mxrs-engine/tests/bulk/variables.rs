//! Variables of collected tasks: kept alive, and deleted in their turn (rules E6, E11 and E16 of `mxrs_engine::var`).

use super::*;

/// E16, E11: a deletion first pushes the buffer that uses the variable; later uses are refused.
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

/// E16, E11: collected tasks keep their variables alive, even if the last handle is dropped before the push; no new
/// variable may get their memory.
#[test]
fn e16_collected_tasks_keep_their_variables() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let sum = Arc::new(Mutex::new(0_u64));
            for round in 0..200 {
                let _scope = engine.bulk(50);
                for i in 0..20 {
                    // This variable is used like that of an array that lives for one statement.
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
                // New variables, possibly at the addresses of the old ones.
                let fresh: Vec<_> = (0..20).map(|_| engine.new_var()).collect();
                engine.flush();
                assert!(fresh.iter().all(|var| var.version() == 0), "{kind:?}");
            }
            engine.wait_for_all().unwrap();
            assert_eq!(*sum.lock().unwrap(), 200 * 20, "{kind:?}: E6");
        });
    }
}

/// E16, E11, E6: two threads collect on the same variables while both delete them. Accepted tasks run before the
/// deletion, and later ones are refused.
#[test]
fn e16_e11_two_threads_collect_on_variables_they_delete() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let ran = Arc::new(AtomicUsize::new(0));
            let mut accepted = 0;
            for round in 0..300_usize {
                let vars: Vec<Var> = (0..3).map(|_| engine.new_var()).collect();
                let freed: Arc<[AtomicBool; 3]> = Arc::default();
                let late = Arc::new(AtomicUsize::new(0));
                let work = |thread: usize| {
                    let _scope = engine.bulk(2 + round % 4);
                    let mut accepted = 0;
                    for i in 0..9 {
                        let (a, b) = ((i + thread) % 3, (i + thread + 1 + i / 3 % 2) % 3);
                        let (ran, late, seen) = (Arc::clone(&ran), Arc::clone(&late), Arc::clone(&freed));
                        let body = move |_: &RunContext| {
                            ran.fetch_add(1, Ordering::Relaxed);
                            let gone = [a, b].iter().any(|var| seen[*var].load(Ordering::Relaxed));
                            late.fetch_add(usize::from(gone), Ordering::Relaxed);
                            Ok(())
                        };
                        accepted += usize::from(engine.task("t").read(&vars[a]).write(&vars[b]).push(body).is_ok());
                        if i % 4 == 2 + thread {
                            let own = Arc::clone(&freed);
                            let _ = engine.delete_var(vars[a].clone(), move || own[a].store(true, Ordering::Relaxed));
                        }
                    }
                    accepted
                };
                accepted += thread::scope(|scope| {
                    let other = scope.spawn(|| work(1));
                    work(0) + other.join().unwrap()
                });
                engine.wait_for_all().unwrap();
                assert_eq!(late.load(Ordering::Relaxed), 0, "E11, {kind:?}: uses after the deletion");
                assert_eq!(ran.load(Ordering::Relaxed), accepted, "E6, {kind:?}, round {round}");
            }
        });
    }
}

/// E16, E11: a refused task leaves no mark and no handle behind, even if an earlier task of the buffer uses the
/// variable.
#[test]
fn e16_e11_a_refused_task_leaves_nothing_behind() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (used, fresh, gone) = (engine.new_var(), engine.new_var(), engine.new_var());
            assert!(engine.delete_var(gone.clone(), || {}));
            let (log, _scope) = (Log::default(), engine.bulk(100));
            engine.task("note").write(&used).push(note(&log, 0)).unwrap();
            assert!(engine.task("bad").reads([&used, &fresh, &gone]).push(note(&log, 9)).is_err());
            // Collected tasks use `used`, so its deletion comes after them. No collected task uses `fresh`, so a
            // deletion of `fresh` by another thread pushes nothing.
            thread::scope(|scope| {
                let thread = scope.spawn(|| engine.delete_var(fresh.clone(), || {}));
                assert!(thread.join().unwrap());
                pause();
                assert_eq!(log.lock().unwrap().len(), 0, "{kind:?}");
                let freed = Arc::clone(&log);
                let thread = scope.spawn(|| engine.delete_var(used.clone(), move || freed.lock().unwrap().push(1)));
                assert!(thread.join().unwrap());
            });
            engine.wait_for_all().unwrap();
            assert_eq!(*log.lock().unwrap(), [0, 1], "{kind:?}");
        });
    }
}
