//! Deep chains of tasks, tasks with many variables, and bodies that push thousands of tasks.
//! Tests the rules E3, E4, E9, E12 and E14 of [`mxrs_engine::var`].

use super::*;

/// Returns a task body that adds 1 to `runs`.
fn counts(runs: &Arc<AtomicUsize>) -> impl FnOnce(&RunContext) -> mxrs_types::Result<()> + Send + 'static {
    let runs = Arc::clone(runs);
    move |_| {
        runs.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// E4, E14: a hundred thousand tasks queued on one variable complete in order, without recursion.
#[test]
fn a_chain_of_100_000_tasks() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let var = engine.new_var();
            let next = Arc::new(AtomicU64::new(0));
            let open = block(&engine, &var);
            for i in 0..100_000 {
                let next = Arc::clone(&next);
                let body = move |_: &RunContext| {
                    assert_eq!(next.fetch_add(1, Ordering::Relaxed), i);
                    Ok(())
                };
                engine.task("link").write(&var).push(body).unwrap();
            }
            drop(open);
            engine.wait_to_read(&var).unwrap();
            assert_eq!((var.version(), next.load(Ordering::Relaxed)), (100_001, 100_000), "{kind:?}");
        });
    }
}

/// E12, E14: a hundred thousand skipped tasks complete too, and the error message stays short.
#[test]
fn a_chain_of_100_000_skipped_tasks() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (var, token) = (engine.new_var(), Arc::new(()));
            let open = block(&engine, &var);
            engine.task("bad").write(&var).push(|_| Err(failure("at the head"))).unwrap();
            for _ in 0..100_000 {
                let token = Arc::clone(&token);
                let body = move |_: &RunContext| panic!("skipped, not run, holding {token:?}");
                engine.task("link").write(&var).push(body).unwrap();
            }
            drop(open);
            let text = engine.wait_to_read(&var).unwrap_err().to_string();
            assert!(text.len() < 2000 && text.contains("at the head"), "{}", &text[..2000.min(text.len())]);
            engine.wait_for_all().unwrap();
            assert_eq!((engine.counters().skipped, Arc::strong_count(&token)), (100_000, 1), "{kind:?}");
        });
    }
}

/// E14: one writer, then a hundred thousand readers, then another writer: all of them complete.
#[test]
fn a_fan_of_100_000_readers() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (var, done) = (engine.new_var(), Arc::new(AtomicUsize::new(0)));
            let open = block(&engine, &var);
            (0..100_000).for_each(|_| engine.task("read").read(&var).push(counts(&done)).unwrap());
            let seen = Arc::clone(&done);
            let last = move |_: &RunContext| {
                assert_eq!(seen.load(Ordering::Relaxed), 100_000, "E3");
                Ok(())
            };
            engine.task("last").write(&var).push(last).unwrap();
            drop(open);
            engine.wait_to_read(&var).unwrap();
        });
    }
}

/// E14: an engine that is dropped while many tasks are queued runs these tasks first.
#[test]
fn dropping_an_engine_with_a_deep_queue() {
    for kind in THREADED {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (var, done) = (engine.new_var(), Arc::new(AtomicUsize::new(0)));
            let open = block(&engine, &var);
            (0..100_000).for_each(|_| engine.task("link").write(&var).push(counts(&done)).unwrap());
            let opener = thread::spawn(move || {
                thread::sleep(Duration::from_millis(2));
                drop(open);
            });
            drop(engine);
            assert_eq!(done.load(Ordering::Relaxed), 100_000, "{kind:?}");
            opener.join().unwrap();
        });
    }
}

/// A body pushes ten thousand tasks: half use the variable that it is writing and run after it, half use none.
#[test]
fn a_body_that_pushes_10_000_tasks() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let (var, done) = (engine.new_var(), Arc::new(AtomicUsize::new(0)));
            let (own, target, total) = (engine.clone(), var.clone(), Arc::clone(&done));
            let body = move |_: &RunContext| {
                for i in 0..10_000 {
                    let task = if i % 2 == 0 { own.task("inner").write(&target) } else { own.task("inner") };
                    task.push(counts(&total))?;
                }
                Ok(())
            };
            engine.task("outer").write(&var).push(body).unwrap();
            engine.wait_for_all().unwrap();
            assert_eq!((done.load(Ordering::Relaxed), var.version()), (10_000, 5001), "{kind:?}");
            engine.stop();
        });
    }
}

/// Each body pushes the next task on the variable that it is writing: the stack does not grow with the number of tasks.
#[test]
fn a_relay_of_20_000_bodies() {
    fn run_on(engine: &Engine, var: &Var, left: u32) -> mxrs_types::Result<()> {
        let (own, same) = (engine.downgrade(), var.clone());
        engine.task("relay").write(var).push(move |_| match own.upgrade() {
            Some(engine) if left > 0 => run_on(&engine, &same, left - 1),
            _ => Ok(()),
        })
    }
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let var = engine.new_var();
            run_on(&engine, &var, 20_000).unwrap();
            engine.wait_for_all().unwrap();
            assert_eq!(var.version(), 20_001, "{kind:?}");
        });
    }
}

/// A task may name a thousand variables, in any order and repeatedly. Still no running task shares a written variable
/// (E3), results are those of the order of the pushes (E4), and each variable counts once (E9).
#[test]
fn tasks_with_1000_variables() {
    for kind in KINDS {
        within(LIMIT, move || {
            let engine = engine(kind);
            let vars: Vec<Var> = (0..1000).map(|_| engine.new_var()).collect();
            let cells: Arc<Vec<AtomicU64>> = Arc::new((0..1000).map(|_| AtomicU64::new(1)).collect());
            let mut model = vec![1_u64; 1000];
            for step in 0..40_u64 {
                // 7 and 13 are coprime to 1000, so this visits all variables, half of them written and half read.
                let writes: Vec<usize> = (0..500).map(|i| (i * 7 + step as usize) % 1000).collect();
                let reads: Vec<usize> = (0..1000).map(|i| (i * 13) % 1000).collect();
                let own = Arc::clone(&cells);
                let targets = writes.clone();
                let body = move |_: &RunContext| {
                    let sum = own.iter().fold(0, |sum: u64, cell| sum.wrapping_add(cell.load(Ordering::Relaxed)));
                    targets.iter().for_each(|v| own[*v].store(sum.wrapping_mul(step + *v as u64), Ordering::Relaxed));
                    Ok(())
                };
                let named = writes.iter().chain(&writes[..50]).map(|v| &vars[*v]);
                engine.task("wide").reads(reads.iter().map(|v| &vars[*v])).writes(named).push(body).unwrap();
                let sum = model.iter().fold(0, |sum: u64, v| sum.wrapping_add(*v));
                writes.iter().for_each(|v| model[*v] = sum.wrapping_mul(step + *v as u64));
                // This task has one variable. It comes between two tasks that have all variables.
                let (own, v) = (Arc::clone(&cells), (step as usize * 29) % 1000);
                let body = move |_: &RunContext| {
                    own[v].fetch_xor(step, Ordering::Relaxed);
                    Ok(())
                };
                engine.task("narrow").write(&vars[v]).push(body).unwrap();
                model[v] ^= step;
            }
            engine.wait_for_all().unwrap();
            let values: Vec<u64> = cells.iter().map(|cell| cell.load(Ordering::Relaxed)).collect();
            assert_eq!(values, model, "{kind:?}");
        });
    }
}

/// Tasks with extreme priorities run in the order of their priorities. The only worker is blocked until all of them are
/// queued.
#[test]
fn priorities_at_the_ends_of_the_range() {
    within(LIMIT, || {
        let one = std::num::NonZeroUsize::MIN;
        let config = mxrs_engine::EngineConfig { cpu_priority_workers: one, ..Default::default() };
        let engine = Engine::new(config).unwrap();
        let order = Arc::new(std::sync::Mutex::new(Vec::new()));
        let (open, closed) = channel::<()>();
        let (begin, begun) = channel::<()>();
        let blocker = move |_: &RunContext| {
            let _ = begin.send(());
            let _ = closed.recv();
            Ok(())
        };
        engine.task("block").property(Property::CpuPrioritized).push(blocker).unwrap();
        begun.recv().unwrap();
        for priority in [0, i32::MIN, 1, i32::MAX, -1, i32::MIN + 1, i32::MAX - 1] {
            let order = Arc::clone(&order);
            let body = move |_: &RunContext| {
                order.lock().unwrap().push(priority);
                Ok(())
            };
            engine.task("ranked").property(Property::CpuPrioritized).priority(priority).push(body).unwrap();
        }
        drop(open);
        engine.wait_for_all().unwrap();
        let sorted = [i32::MAX, i32::MAX - 1, 1, 0, -1, i32::MIN + 1, i32::MIN];
        assert_eq!(*order.lock().unwrap(), sorted);
    });
}
