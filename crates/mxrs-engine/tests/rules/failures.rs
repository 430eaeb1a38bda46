//! Tests the rules E12 to E15 of `mxrs_engine::var`: failures of tasks.

use super::*;

/// E12: the writer of `x` fails. So the writers of `y` and `z`, which depend on `x`, are skipped, and the writer of `w`
/// runs. The failure is reported once (E13).
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
        // The failure was reported, so no wait for a variable or for all tasks reports it again, and tasks on these
        // variables run.
        for var in [&x, &y, &z] {
            engine.wait_to_read(var).unwrap();
        }
        engine.task("again").read(&x).write(&y).push(count()).unwrap();
        engine.wait_for_all().unwrap();
        assert_eq!(ran.load(Ordering::SeqCst), 2);
    }
}

/// E13: two failures; a wait for all reports the first and clears the second.
#[test]
fn e13_wait_for_all_tells_the_first_and_clears_all() {
    for kind in THREADED {
        let engine = engine(kind, 1);
        let (x, y) = (engine.new_var(), engine.new_var());
        engine.task("one").write(&x).push(|_| Err(failure("one"))).unwrap();
        // Reads `x` only so that it runs after task `one`. It runs although `x` is tainted, because it is a `NoSkip`
        // task.
        engine.task("two").read(&x).write(&y).property(Property::NoSkip).push(|_| Err(failure("two"))).unwrap();
        assert!(engine.wait_for_all().unwrap_err().to_string().contains("got one"));
        engine.wait_to_read(&x).unwrap();
        engine.wait_to_read(&y).unwrap();
        engine.wait_for_all().unwrap();
    }
}

/// E13: many threads wait for a variable that carries a failure; exactly one of them gets the failure.
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

/// E13: of two threads that wait for all at the same time, neither returns while a failure is still to be reported.
#[test]
fn e13_two_threads_wait_for_all_at_once() {
    for kind in THREADED {
        let engine = engine(kind, 2);
        for _ in 0..10 {
            let vars: Vec<_> = (0..500).map(|_| engine.new_var()).collect();
            for var in &vars {
                engine.task("bad").write(var).push(|_| Err(failure("bad"))).unwrap();
            }
            let told: usize = thread::scope(|scope| {
                let wait = || {
                    let told = usize::from(engine.wait_for_all().is_err());
                    assert!(vars.iter().rev().all(|var| engine.wait_to_read(var).is_ok()), "reported again");
                    told
                };
                let other = scope.spawn(wait);
                wait() + other.join().unwrap()
            });
            assert_eq!(told, 1);
        }
    }
}

/// E14: all pending tasks complete even if some fail or panic; a panic is an error like any other.
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
