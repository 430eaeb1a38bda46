//! An engine that has warmed up pushes, runs and completes tasks without allocating memory.
//!
//! This is a test program of its own, because its allocator counts the calls of every thread: pushers and workers.
//!
//! The number of blocks that a warm engine may still allocate follows from how they circulate (`slab.rs`). A push
//! allocates a block only if neither its thread nor the list of free blocks that all threads share has one. At that
//! moment every block is in a pending task or kept for reuse by a thread that ends tasks. Such a thread keeps at most
//! two batches of 32 blocks per size. So with at most `P` pending tasks and `W` such threads there are never more than
//! `P + 64·W` blocks. Warming up makes all `P` tasks of a round pending at the same time, so at least `P` blocks exist.
//! Later rounds therefore allocate at most `64·W` more blocks in total, for any scheduling of the threads. A leaked
//! block would be allocated again by each of the 10,000 pushes.
#![cfg(not(loom))]
// An allocator needs unsafe code. The one in this file counts each call and forwards it to the system's allocator.
#![allow(unsafe_code)]

use mxrs_engine::{Engine, EngineConfig, EngineKind, Property, Var};
use std::alloc::{GlobalAlloc, Layout, System};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

struct Counting;

/// Allocations by all threads that are aligned to a cache line: only blocks for tasks are. All other allocations are
/// counted in `OTHERS`.
static BLOCKS: AtomicU64 = AtomicU64::new(0);
static OTHERS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

fn count(bytes: usize, align: usize) {
    let kind = if align == 64 { &BLOCKS } else { &OTHERS };
    kind.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
}

// SAFETY: every method forwards its arguments to the system's allocator, which keeps the contract; counting does not
// allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), layout.align());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), layout.align());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.align());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const TASKS: usize = 10_000;
/// The largest number of free blocks of one size that a thread keeps for reuse: two batches of 32.
const KEPT: u64 = 64;

/// The tasks that a round pushes: variables read, variables written, property.
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

/// The numbers of workers that end tasks: those for normal tasks, and those for this property. Both are 0 if the pushing
/// threads run the tasks.
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

/// Blocks all workers for normal tasks, and all variables, until the caller waits at the returned barrier, so that
/// later pushes stay pending.
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

/// Counts blocks, other allocations, and bytes of both while `f` runs.
fn during(f: impl FnOnce()) -> [u64; 3] {
    let now = || [&BLOCKS, &OTHERS, &BYTES].map(|counter| counter.load(Ordering::SeqCst));
    let before = now();
    f();
    let after = now();
    std::array::from_fn(|i| after[i] - before[i])
}

/// No push allocates once the engine is warm: 0 to 8 variables; the default engine with one worker and with two, the
/// pooled engine and the naive engine. This program has no other test, because its allocations would be counted too.
#[test]
fn a_warm_engine_allocates_nothing() {
    let counted = during(|| drop(std::hint::black_box(vec![0_u8; 1000])));
    // The test harness's own thread may be counted too, while it starts.
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
            // In the second round the lists of each thread also reach their final length. The third round does not hold
            // the tasks back, like the measured round, because a thread also allocates memory at its first task that
            // does not have to wait.
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
            // A worker that slept through the earlier rounds may still allocate twice: for the bookkeeping of its
            // deque, from which others steal, and for its list of variables.
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
