//! Searches the interleavings of collecting tasks into bulks, pushing the bulks and deleting variables (rules E6, E10,
//! E11 and E16 of `mxrs_engine::var`): `RUSTFLAGS="--cfg loom" cargo test -p mxrs-engine --release --test loom_bulk`.
//!
//! Each model has two threads and a worker. Three threads have too many interleavings to search them all, so only those
//! with at most two forced switches between threads are searched.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use mxrs_engine::{Engine, EngineConfig, Var};
use std::num::NonZeroUsize;

/// Searches the interleavings with at most two forced switches between threads.
fn model(body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.check(body);
}

fn one_worker() -> Engine {
    let one = NonZeroUsize::MIN;
    Engine::new(EngineConfig { cpu_workers: one, cpu_priority_workers: one, ..EngineConfig::default() }).unwrap()
}

/// The number of bodies that ran, of deletions that ran, and of bodies that ran after the deletion.
#[derive(Default)]
struct Seen {
    ran: AtomicUsize,
    deleted: AtomicUsize,
    late: AtomicUsize,
}

/// Pushes a task that writes the variables; returns 1 if it was accepted, otherwise 0.
fn push(engine: &Engine, vars: &[&Var], seen: &Arc<Seen>) -> usize {
    let seen = Arc::clone(seen);
    let task = engine.task("t").writes(vars.iter().copied());
    let pushed = task.push(move |_| {
        seen.ran.fetch_add(1, Ordering::Relaxed);
        seen.late.fetch_add(seen.deleted.load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(())
    });
    usize::from(pushed.is_ok())
}

/// Starts a thread that collects one task on `var` and returns 1 if it was accepted, otherwise 0.
fn collect_elsewhere(engine: &Engine, var: &Var, seen: &Arc<Seen>) -> thread::JoinHandle<usize> {
    let (engine, var, seen) = (engine.clone(), var.clone(), Arc::clone(seen));
    thread::spawn(move || {
        let _scope = engine.bulk(10);
        push(&engine, &[&var], &seen)
    })
}

fn delete(engine: &Engine, var: &Var, seen: &Arc<Seen>) {
    let seen = Arc::clone(seen);
    assert!(engine.delete_var(var.clone(), move || {
        seen.deleted.fetch_add(1, Ordering::Relaxed);
    }));
}

/// E16, E11, E6: two threads collect tasks on one variable, and one of the threads deletes the variable. The deletion
/// must wait for every buffer that still holds a task on the variable.
#[test]
fn e16_e11_two_threads_collect_and_one_deletes() {
    model(|| {
        let engine = one_worker();
        let (var, seen) = (engine.new_var(), Arc::new(Seen::default()));
        let other = collect_elsewhere(&engine, &var, &seen);
        let accepted = {
            let _scope = engine.bulk(10);
            let accepted = push(&engine, &[&var], &seen);
            delete(&engine, &var, &seen);
            accepted
        };
        let accepted = accepted + other.join().unwrap();
        engine.wait_for_all().unwrap();
        assert_eq!(seen.ran.load(Ordering::Relaxed), accepted, "E6");
        assert_eq!(seen.deleted.load(Ordering::Relaxed), 1, "E6");
        assert_eq!(seen.late.load(Ordering::Relaxed), 0, "E11");
    });
}

/// E16, E10, E6: two threads collect tasks on two variables in opposite order. Each thread pushes the other's buffer
/// when it finds the mark of that buffer on a variable.
#[test]
fn e16_e10_crossed_collecting() {
    model(|| {
        let engine = one_worker();
        let (a, b, seen) = (engine.new_var(), engine.new_var(), Arc::new(Seen::default()));
        let other = {
            let (engine, a, b, seen) = (engine.clone(), a.clone(), b.clone(), Arc::clone(&seen));
            thread::spawn(move || {
                let _scope = engine.bulk(10);
                push(&engine, &[&a], &seen) + push(&engine, &[&b], &seen)
            })
        };
        let accepted = {
            let _scope = engine.bulk(10);
            push(&engine, &[&b], &seen) + push(&engine, &[&a], &seen)
        };
        assert_eq!(accepted + other.join().unwrap(), 4);
        engine.wait_for_all().unwrap();
        assert_eq!(seen.ran.load(Ordering::Relaxed), 4, "E6");
    });
}

/// E16, E6, E7: one thread collects tasks while the other stops and restarts the engine. After a wait for all, every
/// accepted task must have run.
#[test]
fn e16_e6_collecting_against_a_stop() {
    model(|| {
        let engine = one_worker();
        let (var, seen) = (engine.new_var(), Arc::new(Seen::default()));
        let other = collect_elsewhere(&engine, &var, &seen);
        engine.stop();
        let accepted = other.join().unwrap();
        engine.start().unwrap();
        engine.wait_for_all().unwrap();
        assert_eq!(seen.ran.load(Ordering::Relaxed), accepted, "E6");
    });
}
