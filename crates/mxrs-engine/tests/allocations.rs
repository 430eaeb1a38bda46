//! A warm engine pushes, runs and completes tasks without asking for memory.
//!
//! A program of its own, as its allocator counts. Calls of every thread count: pushers' and workers'.
#![cfg(not(loom))]
// An allocator can only be written with unsafe code; this one counts and hands on.
#![allow(unsafe_code)]

use mxrs_engine::{Engine, EngineConfig, EngineKind, Property, Var};
use std::alloc::{GlobalAlloc, Layout, System};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

/// Allocations by all threads.
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

fn count(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
}

// SAFETY: every method hands its arguments on to the system's allocator, which keeps the contract; counting does not
// allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is the system's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller's promise is the system's.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TASKS: usize = 10_000;

/// What a round of pushes does: (variables read, variables written, property).
type Shape = (usize, usize, Property);

const SHAPES: [Shape; 9] = [
    (0, 0, Property::Normal),
    (0, 1, Property::Normal),
    (1, 0, Property::Normal),
    (2, 1, Property::Normal),
    (4, 1, Property::Normal),
    (4, 4, Property::Normal),
    (8, 0, Property::Normal),
    (2, 1, Property::CpuPrioritized),
    (2, 1, Property::Async),
];

/// Pushes the tasks of one round and waits for all. A blocked first task makes sure that all of them are pending at the
/// same time, which is the most memory a round can need.
fn round(engine: &Engine, vars: &[Var], shape: Shape, cell: &Arc<AtomicU64>, all_pending: bool) {
    let (n_reads, n_writes, property) = shape;
    let gate = all_pending.then(|| {
        let (open, closed) = std::sync::mpsc::channel::<()>();
        let blocked = move |_: &mxrs_engine::RunContext| {
            let _ = closed.recv();
            Ok(())
        };
        engine.task("gate").writes(vars).push(blocked).unwrap();
        open
    });
    for i in 0..TASKS {
        let at = |k: usize| &vars[(i * 7 + k * 3) % vars.len()];
        let own = Arc::clone(cell);
        let task = engine.task("count").property(property).priority((i % 5) as i32);
        let task = task.reads((0..n_reads).map(at)).writes((n_reads..n_reads + n_writes).map(at));
        task.push(move |_| {
            own.fetch_add(i as u64, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
    }
    drop(gate);
    engine.wait_for_all().unwrap();
}

/// Allocations and bytes while `f` runs.
fn during(f: impl FnOnce()) -> (u64, u64) {
    let before = (ALLOCATIONS.load(Ordering::SeqCst), BYTES.load(Ordering::SeqCst));
    f();
    (ALLOCATIONS.load(Ordering::SeqCst) - before.0, BYTES.load(Ordering::SeqCst) - before.1)
}

/// No allocation per push once warm: 0 to 8 variables, on the default engine with one worker and with two, on the pooled
/// one, and on the naive one. The only test here: another would be counted too.
#[test]
fn a_warm_engine_allocates_nothing() {
    let (n, bytes) = during(|| drop(std::hint::black_box(vec![0_u8; 1000])));
    assert!(n == 1 && bytes == 1000, "the counter does not count: {n} allocations of {bytes} bytes");
    let configs = [
        EngineConfig::default(),
        EngineConfig { cpu_workers: NonZeroUsize::new(2).unwrap(), ..EngineConfig::default() },
        EngineConfig::of_kind(EngineKind::Threaded),
        EngineConfig::of_kind(EngineKind::Naive),
    ];
    let mut found = Vec::new();
    for config in configs {
        let is_naive = config.kind == EngineKind::Naive;
        let name = format!("{}, {} CPU workers", config.kind.word(), config.cpu_workers);
        let engine = Engine::new(config).unwrap();
        let vars: Vec<Var> = (0..64).map(|_| engine.new_var()).collect();
        let cell = Arc::new(AtomicU64::new(0));
        for shape in SHAPES {
            (0..2).for_each(|_| round(&engine, &vars, shape, &cell, !is_naive));
            let (n, bytes) = during(|| round(&engine, &vars, shape, &cell, false));
            // Up to 64 free blocks stay with the thread that ended the last tasks, more or fewer than in the rounds before.
            if n > 64 {
                found.push(format!("{name}, {shape:?}: {n} allocations of {bytes} bytes in {TASKS} pushes"));
            }
        }
        drop(engine);
        assert_eq!(Arc::strong_count(&cell), 1);
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}
