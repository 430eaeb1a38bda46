//! Where collecting begins and ends (rule E16 of `mxrs_engine::var`).

use super::*;

/// E16: scopes nest, the innermost limit applies, and lowering the limit pushes the collected tasks if they exceed the
/// new limit.
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
            assert_eq!(log.lock().unwrap().len(), 5, "{kind:?}: the outer limit applies again");
            drop(outer);
            assert!(let_run(|| var.version() == 3), "{kind:?}");
            assert_eq!(*log.lock().unwrap(), (0..10).collect::<Vec<_>>());
        });
    }
}

/// E16: limits below 2 collect nothing, and the naive engine never collects.
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

/// E16: a scope applies to one thread and one engine.
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

/// E16: a scope with limit 0 lies inside a collecting scope, and a third scope lies inside it. The end of the third scope
/// does not end the other two.
#[test]
fn e16_a_scope_inside_one_that_collects_nothing() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (var, log) = (engine.new_var(), Log::default());
            let outer = engine.bulk(100);
            {
                let _none = engine.bulk(0);
                drop(engine.bulk(10));
                engine.task("note").write(&var).push(note(&log, 0)).unwrap();
                assert!(let_run(|| var.version() == 1), "{kind:?}: not collected");
            }
            engine.task("note").write(&var).push(note(&log, 1)).unwrap();
            pause();
            assert_eq!(var.version(), 1, "{kind:?}: the outer scope collects again");
            drop(outer);
            engine.wait_for_all().unwrap();
            assert_eq!(*log.lock().unwrap(), [0, 1]);
        });
    }
}
