//! Searches the interleavings of pushes, waits and completions of tasks on shared variables (rules E1 to E10 of
//! `mxrs_engine::var`): `RUSTFLAGS="--cfg loom" cargo test -p mxrs-engine --release --test loom_var`.
//!
//! The naive engine has no workers: each pushing thread waits for its own task's grant and completes it, so two pushing
//! threads exercise atomic push, grant, completion and parking, and nothing else.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use mxrs_engine::{Engine, EngineConfig, EngineKind, Var};

/// Searches all interleavings if `preemptions` is `None`, which is feasible for two threads; otherwise only those with
/// at most this number of forced switches between threads.
fn model(preemptions: Option<usize>, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(body);
}

fn naive() -> Engine {
    Engine::new(EngineConfig::of_kind(EngineKind::Naive)).unwrap()
}

/// The number of tasks that are using each variable: readers in the low half, writers in the high half.
struct Inside([AtomicUsize; 2]);

const WRITER: usize = 1 << 16;

impl Inside {
    fn new() -> Arc<Self> {
        Arc::new(Self([AtomicUsize::new(0), AtomicUsize::new(0)]))
    }

    fn visit(&self, reads: &[usize], writes: &[usize]) {
        for w in writes {
            assert_eq!(self.0[*w].fetch_add(WRITER, Ordering::Relaxed), 0, "E3: a writer is alone");
        }
        for r in reads {
            assert!(self.0[*r].fetch_add(1, Ordering::Relaxed) < WRITER, "E3: no writer together with a reader");
        }
        for r in reads {
            self.0[*r].fetch_sub(1, Ordering::Relaxed);
        }
        for w in writes {
            self.0[*w].fetch_sub(WRITER, Ordering::Relaxed);
        }
    }
}

fn push(engine: &Engine, vars: &[Var; 2], inside: &Arc<Inside>, reads: &'static [usize], writes: &'static [usize]) {
    let inside = Arc::clone(inside);
    let task = engine.task("t").reads(reads.iter().map(|i| &vars[*i])).writes(writes.iter().map(|i| &vars[*i]));
    task.push(move |_| {
        inside.visit(reads, writes);
        Ok(())
    })
    .unwrap();
}

/// E10, E3, E8, E1, E2: one task reads variable 0 and writes variable 1, and the other task does the opposite. Neither
/// blocks the other forever.
#[test]
fn e10_crossed_read_and_write() {
    model(None, || {
        let engine = naive();
        let vars = [engine.new_var(), engine.new_var()];
        let inside = Inside::new();
        let other = {
            let (engine, vars, inside) = (engine.clone(), vars.clone(), Arc::clone(&inside));
            thread::spawn(move || push(&engine, &vars, &inside, &[0], &[1]))
        };
        push(&engine, &vars, &inside, &[1], &[0]);
        other.join().unwrap();
        assert_eq!((vars[0].version(), vars[1].version()), (1, 1), "E5, E6");
    });
}

/// E3, E4: two tasks write both variables, and name them in opposite orders.
#[test]
fn e4_two_writers_of_both() {
    model(None, || {
        let engine = naive();
        let vars = [engine.new_var(), engine.new_var()];
        let inside = Inside::new();
        let other = {
            let (engine, vars, inside) = (engine.clone(), vars.clone(), Arc::clone(&inside));
            thread::spawn(move || push(&engine, &vars, &inside, &[], &[0, 1]))
        };
        push(&engine, &vars, &inside, &[], &[1, 0]);
        other.join().unwrap();
        assert_eq!((vars[0].version(), vars[1].version()), (2, 2), "E5");
    });
}

/// E1, E2, E3: one thread pushes two readers of a variable, the other pushes a writer of it.
#[test]
fn e3_reader_and_writer_two_tasks_each() {
    model(None, || {
        let engine = naive();
        let vars = [engine.new_var(), engine.new_var()];
        let inside = Inside::new();
        let other = {
            let (engine, vars, inside) = (engine.clone(), vars.clone(), Arc::clone(&inside));
            thread::spawn(move || {
                push(&engine, &vars, &inside, &[0], &[]);
                push(&engine, &vars, &inside, &[0], &[1]);
            })
        };
        push(&engine, &vars, &inside, &[], &[0]);
        other.join().unwrap();
        assert_eq!((vars[0].version(), vars[1].version()), (1, 1), "E5");
    });
}

/// E7: waits for all tasks and waits for one variable end; no thread misses its wake-up.
#[test]
fn e7_waits_end() {
    model(None, || {
        let engine = naive();
        let vars = [engine.new_var(), engine.new_var()];
        let inside = Inside::new();
        let other = {
            let (engine, vars, inside) = (engine.clone(), vars.clone(), Arc::clone(&inside));
            thread::spawn(move || push(&engine, &vars, &inside, &[0], &[1]))
        };
        engine.wait_to_write(&vars[0]).unwrap();
        engine.wait_to_read(&vars[1]).unwrap();
        engine.wait_for_all().unwrap();
        other.join().unwrap();
        assert_eq!(vars[1].version(), 1);
    });
}

/// E3, E4, E10: three threads, whose tasks form a cycle of reads and writes over two variables.
#[test]
fn e10_three_threads() {
    model(Some(2), || {
        let engine = naive();
        let vars = [engine.new_var(), engine.new_var()];
        let inside = Inside::new();
        let sets: [(&'static [usize], &'static [usize]); 2] = [(&[0], &[1]), (&[], &[0, 1])];
        let others = sets.map(|(reads, writes)| {
            let (engine, vars, inside) = (engine.clone(), vars.clone(), Arc::clone(&inside));
            thread::spawn(move || push(&engine, &vars, &inside, reads, writes))
        });
        push(&engine, &vars, &inside, &[1], &[0]);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!((vars[0].version(), vars[1].version()), (2, 2), "E5");
    });
}
