//! A warm engine pushes, runs and completes tasks without asking for memory.
//!
//! A program of its own, as its allocator counts. Calls of every thread count: pushers' and workers'.
//!
//! How many blocks for tasks a warm engine may still ask for follows from how they go round (`slab.rs`). A push asks for a
//! new one only when its thread and the common depot have none; then every block there is lies in a pending task or on the
//! shelves of a thread that ends tasks, which holds two batches of 32 of a size at most. So with `P` tasks pending at the
//! most and `W` such threads there are never more than `P + 64·W` blocks. Warming has all `P` tasks of a round pending at
//! once, so there are `P` at least: a round asks for `64·W` more at most, however the threads are scheduled, and once. A
//! block that leaked would be asked for again by each of the 10,000 pushes.
#![cfg(not(loom))]
// An allocator can only be written with unsafe code; this one counts and hands on.
#![allow(unsafe_code)]

use mxrs_engine::{Engine, EngineConfig, EngineKind, Property, Var};
use std::alloc::{GlobalAlloc, Layout, System};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

struct Counting;

/// Allocations by all threads: blocks for tasks, which alone begin at a cache line, and others.
static BLOCKS: AtomicU64 = AtomicU64::new(0);
static OTHERS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

fn count(bytes: usize, align: usize) {
    let kind = if align == 64 { &BLOCKS } else { &OTHERS };
    kind.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
}

// SAFETY: every method hands its arguments on to the system's allocator, which keeps the contract; counting does not
// allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), layout.align());
        // SAFETY: the caller's promise is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), layout.align());
        // SAFETY: the caller's promise is the system's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.align());
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
/// Free blocks of one size that a thread keeps: two batches.
const KEPT: u64 = 64;

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

/// Workers for normal tasks, and those for tasks of a property: the threads that end them. None where pushers do.
fn workers(config: &EngineConfig, property: Property) -> [usize; 2] {
    let normal = match config.kind {
        EngineKind::Naive => return [0; 2],
        EngineKind::Threaded => 16,
        EngineKind::ThreadedPerDevice => config.cpu_workers.get(),
    };
    let is_apart = config.kind == EngineKind::ThreadedPerDevice && property == Property::CpuPrioritized;
    [normal, if is_apart { config.cpu_priority_workers.get() } else { normal }]
}

/// Pushes the tasks of one round.
fn round(engine: &Engine, vars: &[Var], shape: Shape, cell: &Arc<AtomicU64>) {
    let (n_reads, n_writes, property) = shape;
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
}

/// Holds all workers for normal tasks, and all variables, until the barrier is met again: what is pushed meanwhile stays
/// pending.
fn hold(engine: &Engine, vars: &[Var], n_workers: usize) -> Arc<Barrier> {
    let barrier = Arc::new(Barrier::new(n_workers + 1));
    for i in 0..n_workers {
        let met = Arc::clone(&barrier);
        let task = engine.task("gate").writes(if i == 0 { vars } else { &[] });
        task.push(move |_| {
            met.wait();
            met.wait();
            Ok(())
        })
        .unwrap();
    }
    barrier.wait();
    barrier
}

/// Blocks, other allocations and bytes of both while `f` runs.
fn during(f: impl FnOnce()) -> [u64; 3] {
    let now = || [&BLOCKS, &OTHERS, &BYTES].map(|counter| counter.load(Ordering::SeqCst));
    let before = now();
    f();
    let after = now();
    std::array::from_fn(|i| after[i] - before[i])
}

/// No allocation per push once warm: 0 to 8 variables, on the default engine with one worker and with two, on the pooled
/// one, and on the naive one. The only test here: another would be counted too.
#[test]
fn a_warm_engine_allocates_nothing() {
    let counted = during(|| drop(std::hint::black_box(vec![0_u8; 1000])));
    // The test harness's own thread may be counted too, as it starts.
    assert!(counted[1] >= 1 && counted[2] >= 1000, "the counter does not count: {counted:?}");
    let configs = [
        EngineConfig::default(),
        EngineConfig { cpu_workers: NonZeroUsize::new(2).unwrap(), ..EngineConfig::default() },
        EngineConfig::of_kind(EngineKind::Threaded),
        EngineConfig::of_kind(EngineKind::Naive),
    ];
    let mut found = Vec::new();
    for config in configs {
        let name = format!("{}, {} CPU workers", config.kind.word(), config.cpu_workers);
        let engine = Engine::new(config.clone()).unwrap();
        let vars: Vec<Var> = (0..64).map(|_| engine.new_var()).collect();
        let cell = Arc::new(AtomicU64::new(0));
        for shape in SHAPES {
            let [n_normal, n_enders] = workers(&config, shape.2);
            // The second time the lists of each thread, too, are as long as they get; and a round like the one that counts,
            // for what a thread keeps from its first task that was pending on nothing.
            for held in [true, true, false] {
                let gate = (held && n_normal > 0).then(|| hold(&engine, &vars, n_normal));
                round(&engine, &vars, shape, &cell);
                if let Some(barrier) = gate {
                    barrier.wait();
                }
                engine.wait_for_all().unwrap();
            }
            let [blocks, others, bytes] = during(|| {
                round(&engine, &vars, shape, &cell);
                engine.wait_for_all().unwrap();
            });
            // A worker that has slept through the rounds before gets its record for stealing and its list of variables.
            if blocks > KEPT * n_enders as u64 || others > 2 * n_enders as u64 {
                found.push(format!(
                    "{name}, {shape:?}: {blocks} blocks, {others} others, {bytes} bytes in {TASKS} pushes"
                ));
            }
        }
        drop(engine);
        assert_eq!(Arc::strong_count(&cell), 1);
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}
