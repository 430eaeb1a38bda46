//! Results, order and counts with and without bulks (rules E4, E5 and E16 of `mxrs_engine::var`).

use super::*;

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
                    // The tasks are independent of one another, and nevertheless run in order.
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

/// E16, E4: a push that flushes the buffer comes after the flushed tasks, if they share a variable.
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

/// E16: a body on the pushing thread may push while that thread collects.
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

/// E16: the counters distinguish tasks from bulks.
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
            assert_eq!(counters.bulked, bulked, "{kind:?}: tasks that were part of a bulk");
            assert_eq!(var.version(), operators, "E5");
        });
    }
}
