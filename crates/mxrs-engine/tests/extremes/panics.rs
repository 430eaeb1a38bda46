//! Panics in unusual places (rules E6, E11, E12 and E14 of `mxrs_engine::var`).

use super::*;

/// Panics when dropped.
struct Bomb(&'static str);

impl Drop for Bomb {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("the destructor of {} panics", self.0);
        }
    }
}

/// Checks that the engine still works on several variables and that all its workers are alive.
fn still_works(engine: &Engine, kind: EngineKind) {
    let (x, y) = (engine.new_var(), engine.new_var());
    for i in 0..20 {
        let (read, write) = if i % 2 == 0 { (&x, &y) } else { (&y, &x) };
        engine.task("after").read(read).write(write).push(|_| Ok(())).unwrap();
    }
    engine.wait_for_all().unwrap();
    assert_eq!((x.version(), y.version()), (10, 10), "{kind:?}");
    let counters = engine.counters();
    assert_eq!(counters.pushed, counters.completed, "{kind:?}");
}

/// E14: a panic in the destructor of a captured value is the body's error.
#[test]
fn e14_panic_in_a_destructor_of_a_body_that_ran() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (x, y) = (engine.new_var(), engine.new_var());
            let bomb = Bomb("what ran");
            let pushed = engine.task("bomb").write(&x).push(move |_| {
                let _bomb = &bomb;
                Ok(())
            });
            let told = if kind == EngineKind::Naive { pushed } else { engine.wait_to_read(&x) };
            let error = told.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Panicked { .. }), "{kind:?}: {error}");
            engine.task("next").read(&x).write(&y).push(|_| Ok(())).unwrap();
            engine.wait_to_read(&y).unwrap();
            still_works(&engine, kind);
        });
    }
}

/// E12, E14: a panic in the destructor of a skipped body's captured value changes nothing.
#[test]
fn e14_panic_in_a_destructor_of_a_skipped_body() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (x, y) = (engine.new_var(), engine.new_var());
            let open = block(&engine, &x);
            engine.task("bad").write(&x).push(|_| Err(failure("first"))).unwrap();
            for _ in 0..20 {
                let bomb = Bomb("what was skipped");
                engine
                    .task("skip")
                    .read(&x)
                    .write(&y)
                    .push(move |_| {
                        let _bomb = &bomb;
                        Ok(())
                    })
                    .unwrap();
            }
            drop(open);
            let text = engine.wait_to_read(&y).unwrap_err().to_string();
            assert!(text.contains("got first"), "{kind:?}: {text}");
            engine.wait_for_all().unwrap();
            assert_eq!(engine.counters().skipped, 20, "{kind:?}");
            still_works(&engine, kind);
        });
    }
}

/// E14: the payload of a panic may itself panic when dropped; no worker is lost.
#[test]
fn e14_panic_payload_whose_destructor_panics() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let x = engine.new_var();
            for _ in 0..20 {
                let pushed = engine.task("bomb").write(&x).push(|_| panic_any(Bomb("a payload")));
                let told = if kind == EngineKind::Naive { pushed } else { engine.wait_to_read(&x) };
                assert!(matches!(told.unwrap_err().kind(), ErrorKind::Panicked { .. }), "{kind:?}");
            }
            still_works(&engine, kind);
        });
    }
}

/// E11: a deletion whose function panics still deletes the variable.
#[test]
fn e11_panic_in_the_function_of_a_deletion() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            for _ in 0..20 {
                let x = engine.new_var();
                engine.task("use").write(&x).push(|_| Ok(())).unwrap();
                engine.delete_var(x.clone(), || panic!("freeing panics"));
                assert!(engine.task("late").read(&x).push(|_| Ok(())).is_err(), "{kind:?}");
            }
            let _ = engine.wait_for_all();
            still_works(&engine, kind);
        });
    }
}

/// A refused push drops its body in the caller. If that panics, the caller gets the panic and the engine is not
/// affected.
#[test]
fn panic_in_a_destructor_of_a_refused_body() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let x = engine.new_var();
            assert!(engine.delete_var(x.clone(), || {}));
            for _ in 0..20 {
                let bomb = Bomb("what was refused");
                let push = || {
                    engine.task("late").write(&x).push(move |_| {
                        let _bomb = &bomb;
                        Ok(())
                    })
                };
                if let Ok(answer) = catch_unwind(AssertUnwindSafe(push)) {
                    assert!(answer.is_err(), "{kind:?}");
                }
            }
            still_works(&engine, kind);
        });
    }
}

/// E6, E11: values captured by skipped bodies may push when they are dropped, as an array does that deletes its
/// variable.
#[test]
fn skipped_bodies_whose_destructors_push() {
    struct Array(Engine, Option<Var>, Arc<AtomicUsize>);
    impl Drop for Array {
        fn drop(&mut self) {
            let freed = Arc::clone(&self.2);
            if let Some(var) = self.1.take() {
                assert!(self.0.delete_var(var, move || {
                    freed.fetch_add(1, Ordering::Relaxed);
                }));
            }
        }
    }
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (x, freed) = (engine.new_var(), Arc::new(AtomicUsize::new(0)));
            let open = block(&engine, &x);
            engine.task("bad").write(&x).push(|_| Err(failure("first"))).unwrap();
            for _ in 0..100 {
                let var = engine.new_var();
                let task = engine.task("skip").read(&x).write(&var);
                let array = Array(engine.clone(), Some(var.clone()), Arc::clone(&freed));
                task.push(move |_| {
                    let _array = &array;
                    Ok(())
                })
                .unwrap();
            }
            drop(open);
            assert!(engine.wait_for_all().is_err());
            engine.wait_for_all().unwrap();
            assert_eq!(freed.load(Ordering::Relaxed), 100, "{kind:?}");
            still_works(&engine, kind);
        });
    }
}
