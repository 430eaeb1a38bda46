//! `BestFit` and the blocks that threads cache in front of it (S1 to S13: see `src/lib.rs`; rule 9: see `src/pool/mod.rs`):
//! reuse of the same block, a limit on the cached bytes, and access to blocks that another thread caches.

use crate::best_fit::{BACKINGS, Backing, GPU, TOTAL, UNIT};
use crate::streams::{Event, dynamic};
use crate::{Bench, MIB};
use mxrs_storage::Block;
use std::sync::Barrier;
use std::thread;

/// Blocks of `size_bytes`, `size_bytes + 512` and so on, so that each has its own class.
fn distinct(bench: &Bench, n: usize, size_bytes: usize) -> Vec<Block> {
    (0..n).map(|n| bench.allocate(GPU, size_bytes + 512 * n)).collect()
}

/// Frees `blocks` on another thread, and runs `work` while that thread still caches them.
fn while_kept_elsewhere(blocks: Vec<Block>, work: impl FnOnce()) {
    let (freed, done) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            drop(blocks);
            freed.wait();
            done.wait();
        });
        freed.wait();
        // Lets the other thread end even if `work` panics, so that the failure is reported.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        done.wait();
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// S5 within a size class: a thread first reuses the block that it freed last; that block is not joined or split
/// before.
#[test]
fn s5_last_freed_is_first_reused() {
    for backing in BACKINGS {
        let bench = backing.bench(5, TOTAL);
        let blocks: Vec<_> = (0..4).map(|_| bench.allocate(GPU, 40_000)).collect();
        let addresses: Vec<_> = blocks.iter().map(|block| block.as_ptr().addr()).collect();
        let before = bench.storage.stats(GPU);
        blocks.into_iter().for_each(drop);
        let again: Vec<_> = (0..4).map(|_| bench.allocate(GPU, 40_000)).collect();
        let reused: Vec<_> = again.iter().rev().map(|block| block.as_ptr().addr()).collect();
        assert_eq!(reused, addresses);
        assert_eq!(bench.storage.stats(GPU).hits, before.hits + 4);
    }
}

/// All threads together cache at most 2 MiB, or a 32nd of a larger pool.
#[test]
fn what_threads_keep_is_bounded() {
    const SIZE: usize = 256 << 10;
    // Each case: the number of threads, the number of blocks that each thread frees, the live memory in MiB, and the limit
    // that follows from it. In the cases with several threads, each thread alone frees as many bytes as the limit allows for
    // all threads.
    for (n_threads, n_blocks, pin_mib, bound) in
        [(1, 40, 0, 2 * MIB), (3, 7, 0, 2 * MIB), (1, 100, 256, 9 * MIB), (3, 33, 256, 9 * MIB)]
    {
        let bench = Backing::Ranges.bench(0, 1024 * MIB);
        let pin = (pin_mib > 0).then(|| bench.allocate(GPU, pin_mib << 20));
        let (freed, seen) = (Barrier::new(n_threads + 1), Barrier::new(n_threads + 1));
        let mut shares: Vec<_> = (0..n_threads).map(|_| distinct(&bench, n_blocks, SIZE)).collect();
        let pieces = thread::scope(|scope| {
            for share in shares.drain(..) {
                scope.spawn(|| {
                    drop(share);
                    freed.wait();
                    seen.wait();
                });
            }
            freed.wait();
            let stats = bench.storage.stats(GPU);
            seen.wait();
            stats.cached_blocks
        });
        // The largest possible number of free pieces: the blocks that threads cache, and the joined memory between
        // them.
        let most = 2 * (bound / SIZE as u64) + 1;
        assert!(pieces > 1 && pieces <= most, "{n_threads} threads, {pin_mib} MiB: {pieces} pieces, at most {most}");
        drop(pin);
    }
}

/// S9, S6: a small block with unfinished work goes to the container and not to the thread's cache, so a flush finds the
/// block and waits for its work.
#[test]
fn s9_a_block_in_use_is_not_kept_by_its_thread() {
    for backing in BACKINGS {
        let bench = backing.bench(5, TOTAL);
        let event = Event::new(1);
        bench.allocate(GPU, 4096).free_after([dynamic(&event)]);
        bench.storage.release_all(GPU);
        assert_eq!((event.host_waits(), bench.storage.stats(GPU).reserved), (1, 0), "{backing:?}");
        // A block whose work is finished when it is freed is cached like any other.
        let block = bench.allocate(GPU, 4096);
        let address = block.as_ptr().addr();
        event.finish();
        block.free_after([dynamic(&event)]);
        drop(bench.allocate(GPU, 100));
        assert_eq!(bench.allocate(GPU, 4096).as_ptr().addr(), address);
        assert_eq!(event.host_waits(), 1);
    }
}

/// S3: with one thread, the peak of the requested bytes is exact, for every method of freeing a block.
#[test]
fn s3_the_peak_is_exact_where_a_block_in_use_is_freed() {
    for backing in BACKINGS {
        let bench = backing.bench(5, TOTAL);
        drop(bench.allocate(GPU, 4096));
        let in_use = bench.allocate(GPU, 1 << 20);
        let hit = bench.allocate(GPU, 4096);
        in_use.free_after([dynamic(&Event::new(1))]);
        drop(hit);
        assert_eq!(bench.storage.stats(GPU).peak_live_requested, MIB + 4096, "{backing:?}");
    }
}

/// S8: blocks that another thread caches are joined and serve a request before the pool grows.
#[test]
fn s8_what_others_keep_is_joined_before_growth() {
    for backing in BACKINGS {
        let bench = backing.bench(5, TOTAL);
        let blocks = distinct(&bench, 4, 200 << 10);
        let n_requests = bench.memory(GPU).n_requests();
        while_kept_elsewhere(blocks, || {
            drop(bench.allocate(GPU, 1 << 20));
            assert_eq!(bench.memory(GPU).n_requests(), n_requests, "{backing:?}");
        });
    }
}

/// S6, S3: a flush reaches the blocks of all threads, and the statistics count them as cached.
#[test]
fn s6_release_all_reaches_what_others_keep() {
    for backing in BACKINGS {
        let bench = backing.bench(5, TOTAL);
        let blocks = distinct(&bench, 4, 200 << 10);
        let sum: u64 = blocks.iter().map(|block| block.block_bytes() as u64).sum();
        let (own, kept) = (bench.allocate(GPU, 1000), bench.storage.stats(GPU).cached_bytes);
        while_kept_elsewhere(blocks, || {
            let stats = bench.storage.stats(GPU);
            assert_eq!((stats.live_blocks, stats.cached_bytes), (1, kept + sum));
            drop(own);
            assert_eq!(bench.storage.release_all(GPU), stats.reserved);
            assert_eq!((bench.storage.stats(GPU).reserved, bench.memory(GPU).counters().used_bytes), (0, 0));
        });
    }
}

/// S7: a block that is freed directly is returned together with adjacent free memory that a thread caches.
#[test]
fn s7_a_direct_free_takes_along_what_others_keep() {
    let bench = Backing::Ranges.bench(5, TOTAL);
    let (low, high) = (bench.allocate(GPU, UNIT / 2), bench.allocate(GPU, UNIT / 2));
    assert_eq!(bench.storage.stats(GPU).reserved, UNIT as u64);
    while_kept_elsewhere(vec![low], || {
        high.free_directly();
        assert_eq!(bench.storage.stats(GPU).reserved, 0);
    });
}

/// Rule 9: when a thread ends, the blocks that it cached can be joined.
#[test]
fn rule_9_a_thread_that_ends_joins_what_it_kept() {
    let bench = Backing::Ranges.bench(5, TOTAL);
    let blocks = distinct(&bench, 8, 100 << 10);
    thread::scope(|scope| _ = scope.spawn(|| drop(blocks)).join());
    assert_eq!(bench.storage.stats(GPU).cached_blocks, 1);
}
