//! Failures inside a bulk, and failures that happened before it (rules E12, E13 and E16 of `mxrs_engine::var`).

use super::*;

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
                engine.task("panics").push(|_| panic!("on no variable")).unwrap();
                engine.task("good again").write(&good).push(note(&log, 3)).unwrap();
            }
            engine.task("later").read(&after).write(&later).push(note(&log, 4)).unwrap();
            engine.wait_to_read(&good).unwrap();
            engine.wait_to_read(&free).unwrap();
            let text = engine.wait_to_read(&later).unwrap_err().to_string();
            assert!(text.contains("got in a bulk") && text.contains("running `bad`"), "{kind:?}: {text}");
            assert!(text.contains("`after`") && text.contains("`later`") && !text.contains("`free`"), "{text}");
            // E13: the failure was reported above, so these waits succeed. The panic is a separate failure, which the
            // next wait for all reports.
            engine.wait_to_read(&after).unwrap();
            engine.wait_to_read(&bad).unwrap();
            assert!(engine.wait_for_all().unwrap_err().to_string().contains("on no variable"), "{kind:?}");
            engine.wait_for_all().unwrap();
            assert_eq!(*log.lock().unwrap(), [0, 2, 3], "{kind:?}");
        });
    }
}

/// E16, E12: a failure from before the bulk skips only the bodies that depend on it, not the others of the bulk.
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

/// E16, E13: a write in a bulk ends a sticky failure that was reported: neither later bodies of the bulk nor later
/// tasks see it.
#[test]
fn e16_e13_a_write_in_a_bulk_ends_a_sticky_failure() {
    for kind in THREADED {
        within(LIMIT, move || {
            let config = EngineConfig { sticky_errors: true, ..EngineConfig::of_kind(kind) };
            let engine = Engine::new(config).unwrap();
            let (var, copy, log) = (engine.new_var(), engine.new_var(), Log::default());
            engine.task("bad").write(&var).push(|_| Err(failure("sticks"))).unwrap();
            assert!(engine.wait_to_read(&var).is_err());
            {
                let _scope = engine.bulk(15);
                engine.task("reads it").read(&var).push(note(&log, 0)).unwrap();
                engine.task("rewrites it").write(&var).push(note(&log, 1)).unwrap();
                engine.task("reads again").read(&var).write(&copy).push(note(&log, 2)).unwrap();
            }
            engine.wait_to_read(&copy).unwrap();
            engine.wait_to_read(&var).unwrap();
            assert_eq!(*log.lock().unwrap(), [1, 2], "{kind:?}");
        });
    }
}
