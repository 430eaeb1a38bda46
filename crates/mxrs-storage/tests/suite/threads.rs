//! Blocks across threads are found wherever they were freed (S3 to S8: see `src/lib.rs`; rule 9: see `src/pool/mod.rs`).
//! Other threads' caches are emptied too.

use crate::{Bench, MIB};
use mxrs_storage::{Block, PoolConfig, PoolKind, Tag};
use mxrs_types::Device;
use std::sync::Barrier;
use std::sync::mpsc;
use std::thread;

const GPU: Device = Device::gpu(0);
const POOLED: [PoolKind; 2] = [PoolKind::Naive, PoolKind::Round];

/// A thread that runs the closures sent to it, one after another, so that its cache stays between them.
struct Worker {
    orders: mpsc::SyncSender<Box<dyn FnOnce() + Send>>,
    done: mpsc::Receiver<()>,
    thread: thread::JoinHandle<()>,
}

impl Worker {
    fn start() -> Self {
        let (orders, todo) = mpsc::sync_channel::<Box<dyn FnOnce() + Send>>(0);
        let (report, done) = mpsc::sync_channel(0);
        let thread = thread::spawn(move || {
            for order in todo {
                order();
                report.send(()).unwrap();
            }
        });
        Self { orders, done, thread }
    }

    fn run(&self, order: impl FnOnce() + Send + 'static) {
        self.orders.send(Box::new(order)).unwrap();
        self.done.recv().unwrap();
    }

    fn end(self) {
        drop(self.orders);
        self.thread.join().unwrap();
    }
}

/// S3, S5 across threads: one thread allocates and another frees, repeatedly; memory does not grow.
#[test]
#[cfg_attr(miri, ignore = "thousands of steps")]
fn what_one_thread_frees_another_finds() {
    for kind in POOLED {
        for size in [1000, 1 << 20, 40 << 20] {
            let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
            let other = Worker::start();
            for _ in 0..200 {
                let block = bench.allocate(GPU, size);
                other.run(move || drop(block));
            }
            let stats = bench.storage.stats(GPU);
            assert_eq!((stats.system_requests, stats.hits), (1, 199), "{kind} {size}");
            // At most two blocks are live at the same time, so the pool never holds more than two.
            for _ in 0..20 {
                let blocks: Vec<_> = (0..2).map(|_| bench.allocate(GPU, size)).collect();
                other.run(move || drop(blocks));
            }
            assert_eq!(bench.storage.stats(GPU).system_requests, 2);
            other.end();
        }
    }
}

/// S6: release_all returns exactly the blocks that other threads cache.
#[test]
fn s6_release_all_empties_the_caches_of_other_threads() {
    for kind in POOLED {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        let workers = [Worker::start(), Worker::start()];
        for (worker, size) in workers.iter().zip([1000, 100_000]) {
            let storage = bench.storage.clone();
            worker.run(move || {
                drop((0..3).map(|_| storage.allocate(GPU, size, Tag::default()).unwrap()).collect::<Vec<_>>());
            });
        }
        let stats = bench.storage.stats(GPU);
        assert_eq!((stats.cached_blocks, stats.reserved), (6, stats.cached_bytes));
        assert_eq!(bench.storage.release_all(GPU), stats.cached_bytes);
        assert_eq!((bench.storage.release_all(GPU), bench.memory(GPU).counters().used_bytes), (0, 0));
        // The workers can still allocate and free after release_all.
        let storage = bench.storage.clone();
        workers[0].run(move || drop(storage.allocate(GPU, 1000, Tag::default()).unwrap()));
        assert_eq!(bench.storage.stats(GPU).cached_blocks, 1);
        workers.into_iter().for_each(Worker::end);
    }
}

/// S8: if a request would leave less memory free than the reserve, the pool also releases the blocks that other threads
/// cache.
#[test]
fn s8_flush_reaches_the_caches_of_other_threads() {
    for kind in POOLED {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        let other = Worker::start();
        let block = bench.allocate(GPU, 64 << 20);
        other.run(move || drop(block));
        drop(bench.allocate(GPU, 1000));
        let _large = bench.allocate(GPU, 96 << 20);
        let stats = bench.storage.stats(GPU);
        assert_eq!((stats.flushes, stats.cached_bytes, stats.flushed_bytes), (1, 0, 64 * MIB + 4096), "{kind}");
        other.end();
    }
}

/// Rule 9: the blocks of a thread that ends are available to others.
#[test]
fn blocks_of_a_thread_that_ended_are_reused() {
    for kind in POOLED {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        for _ in 0..10 {
            let storage = bench.storage.clone();
            thread::spawn(move || {
                drop([1000, 2 << 20].map(|size| storage.allocate(GPU, size, Tag::default()).unwrap()));
            })
            .join()
            .unwrap();
        }
        assert_eq!(bench.storage.stats(GPU).system_requests, 2, "{kind}");
    }
}

/// S5 for more blocks than a thread caches: on one thread, blocks are reused last in, first out, for any number of
/// blocks.
#[test]
#[cfg_attr(miri, ignore = "thousands of steps")]
fn s5_last_in_first_out_beyond_a_magazine() {
    for kind in POOLED {
        for (size, n_blocks) in [(1000, 300), (1 << 20, 50), (6 << 20, 12)] {
            let bench = Bench::uniform(PoolConfig::of_kind(kind), 1000 * MIB);
            let blocks: Vec<_> = (0..n_blocks).map(|_| bench.allocate(GPU, size)).collect();
            let mut freed: Vec<_> = blocks.iter().map(Block::as_ptr).collect();
            blocks.into_iter().for_each(drop);
            // Some blocks are taken and freed again, and then all blocks are taken.
            let mut some: Vec<_> = (0..n_blocks / 3).map(|_| bench.allocate(GPU, size)).collect();
            let taken = freed.split_off(freed.len() - some.len());
            assert!(some.iter().map(Block::as_ptr).eq(taken.into_iter().rev()), "{kind} {size}");
            freed.extend(some.iter().map(Block::as_ptr));
            some.drain(..).for_each(drop);
            let again: Vec<_> = (0..n_blocks).map(|_| bench.allocate(GPU, size)).collect();
            assert!(again.iter().map(Block::as_ptr).eq(freed.into_iter().rev()), "{kind} {size}");
            assert_eq!(bench.storage.stats(GPU).system_requests, n_blocks as u64);
        }
    }
}

/// The last handle is dropped while other threads have blocks and caches; the device gets all memory back.
#[test]
fn blocks_on_many_threads_outlive_every_handle() {
    for kind in PoolKind::ALL {
        for _ in 0..20 {
            let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
            let barrier = Barrier::new(4);
            let Bench { storage, memories } = bench;
            thread::scope(|scope| {
                for n in 0..3usize {
                    let storage = storage.clone();
                    let barrier = &barrier;
                    scope.spawn(move || {
                        let blocks: Vec<_> = (0..20)
                            .map(|k| storage.allocate(GPU, 1000 * (n + k % 3 + 1), Tag::default()).unwrap())
                            .collect();
                        let mut blocks = blocks.into_iter();
                        blocks.by_ref().take(9).for_each(drop);
                        drop(storage);
                        barrier.wait();
                        blocks.for_each(drop);
                    });
                }
                barrier.wait();
                drop(storage);
            });
            let counters = memories[1].counters();
            assert_eq!((counters.used_bytes, counters.frees), (0, counters.allocations), "{kind}");
        }
    }
}

/// Blocks are freed while their thread is ending and no longer has a cache.
#[test]
fn blocks_in_thread_locals_come_back() {
    thread_local! {
        static KEPT: std::cell::RefCell<Vec<Block>> = const { std::cell::RefCell::new(Vec::new()) };
    }
    for kind in PoolKind::ALL {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        let storage = bench.storage.clone();
        thread::spawn(move || {
            // `KEPT` is registered before the thread's cache, so it is destroyed after the cache.
            KEPT.with_borrow_mut(|kept| kept.push(storage.allocate(GPU, 5000, Tag::default()).unwrap()));
            drop(storage.allocate(GPU, 9000, Tag::default()).unwrap());
        })
        .join()
        .unwrap();
        let stats = bench.storage.stats(GPU);
        assert_eq!((stats.live_blocks, stats.frees), (0, 2), "{kind}");
        bench.storage.release_all(GPU);
        assert_eq!(bench.memory(GPU).counters().used_bytes, 0);
    }
}

/// With one thread, the peak of the requested bytes is exact, even after misses, hits and frees into a full cache.
#[test]
#[cfg_attr(miri, ignore = "thousands of steps")]
fn peaks_are_exact_on_one_thread() {
    let bench = Bench::uniform(PoolConfig::default(), 1000 * MIB);
    let (mut live, mut peak, mut state) = (Vec::<Block>::new(), 0, 7_usize);
    for _ in 0..3000 {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let draw = state >> 33;
        if draw.is_multiple_of(2) || live.is_empty() {
            live.push(bench.allocate(GPU, draw % 20_000 + 1));
        } else {
            live.swap_remove(draw / 2 % live.len());
        }
        peak = peak.max(live.iter().map(|block| block.len() as u64).sum());
        if draw.is_multiple_of(50) {
            assert_eq!(bench.storage.stats(GPU).peak_live_requested, peak);
        }
    }
    assert_eq!(bench.storage.stats(GPU).peak_live_requested, peak);
}
