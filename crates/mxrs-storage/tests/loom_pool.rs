//! Tests every interleaving of two threads on a pool (S1 to S13: see `src/lib.rs`; rules 1 to 10: see `src/pool/mod.rs`).
//! The threads use one size class, or two classes of a pool that joins blocks. To run the tests, call
//! `RUSTFLAGS="--cfg loom" cargo test -p mxrs-storage --release --test loom_pool`.
//!
//! The blocks have 2 MiB, because a thread caches only two blocks of that size: a third freed block goes to the container.
//!
//! Unsafe code: the tests simulate a host device whose addresses have no memory behind them.
#![cfg(loom)]
#![allow(unsafe_code)]

use loom::thread;
use mxrs_simulated_gpu::SimulatedMemory;
use mxrs_storage::{Block, PoolConfig, PoolKind, Storage, StorageConfig, Tag};
use mxrs_types::Device;
use std::sync::Arc;

const SIZE: usize = 2 << 20;
const CPU: Device = Device::cpu(0);

/// Runs `body` in all interleavings, or in those with at most `preemptions` forced switches between threads.
fn model(preemptions: Option<usize>, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    if builder.preemption_bound.is_none() {
        builder.preemption_bound = preemptions;
    }
    builder.max_branches = 10_000;
    builder.check(body);
}

/// A storage on simulated devices only, with room for `n_blocks` blocks of `SIZE`.
fn storage(n_blocks: u64) -> (Storage, Arc<SimulatedMemory>) {
    of_kind(PoolKind::Naive, n_blocks)
}

fn of_kind(kind: PoolKind, n_blocks: u64) -> (Storage, Arc<SimulatedMemory>) {
    // SAFETY: nothing in this file reads or writes through a block.
    let memory = |device| Arc::new(unsafe { SimulatedMemory::new(device, n_blocks * SIZE as u64).unbacked_host() });
    let cpu = memory(CPU);
    let config = StorageConfig::uniform(PoolConfig::of_kind(kind));
    let builder = Storage::builder(config).device(Arc::clone(&cpu) as _);
    (builder.device(memory(Device::cpu_pinned(0))).build().unwrap(), cpu)
}

fn allocate(storage: &Storage) -> Block {
    storage.allocate(CPU, SIZE, Tag::new("loom")).unwrap()
}

/// S3 at the end: the pool's statistics agree with the device, and all memory is returned to it.
fn balance(storage: &Storage, memory: &SimulatedMemory) {
    let stats = storage.stats(CPU);
    assert_eq!(stats.reserved, stats.live_blocks_bytes + stats.cached_bytes);
    assert_eq!(stats.reserved, memory.counters().used_bytes);
    assert_eq!(stats.allocations, stats.hits + stats.system_requests);
    assert_eq!(stats.allocations - stats.frees, stats.live_blocks);
    storage.release_all(CPU);
    let stats = storage.stats(CPU);
    assert_eq!((stats.reserved, stats.live_requested, memory.counters().used_bytes), (0, 0, 0));
}

/// S2, S3, S10: both threads allocate and free; they never have the same block.
#[test]
fn s2_two_threads_one_bucket() {
    model(Some(3), || {
        let (storage, memory) = storage(9);
        let other = {
            let storage = storage.clone();
            thread::spawn(move || {
                let block = allocate(&storage);
                (block.as_ptr().addr(), block)
            })
        };
        let block = allocate(&storage);
        let (address, theirs) = other.join().unwrap();
        assert_ne!(block.as_ptr().addr(), address);
        drop((block, theirs));
        assert_eq!(storage.stats(CPU).cached_blocks, 2);
        balance(&storage, &memory);
    });
}

/// One thread frees a block while another requests one: if the block is already free, the request finds it wherever it is
/// cached, and memory does not grow.
#[test]
fn s3_freed_on_another_thread_and_stolen() {
    model(Some(3), || {
        let (storage, memory) = storage(9);
        let first = allocate(&storage);
        let other = {
            let storage = storage.clone();
            thread::spawn(move || {
                drop(first);
                // This value is read before the thread ends: the freed block is in its cache or was taken from there.
                storage.stats(CPU).live_blocks
            })
        };
        let second = allocate(&storage);
        other.join().unwrap();
        let n_requests = memory.counters().allocations;
        assert!(n_requests <= 2);
        drop(second);
        let both: Vec<_> = (0..n_requests).map(|_| allocate(&storage)).collect();
        assert_eq!(memory.counters().allocations, n_requests, "all freed blocks are found");
        drop(both);
        balance(&storage, &memory);
    });
}

/// S6: one thread calls release_all while the other allocates a block of the cached class.
#[test]
fn s6_release_all_against_a_hit() {
    model(None, || {
        let (storage, memory) = storage(9);
        drop(allocate(&storage));
        let other = {
            let storage = storage.clone();
            thread::spawn(move || storage.release_all(CPU))
        };
        let block = allocate(&storage);
        let released = other.join().unwrap();
        assert_eq!(memory.counters().used_bytes, SIZE as u64, "the live block stays");
        assert_eq!(released, memory.counters().frees * SIZE as u64);
        drop(block);
        balance(&storage, &memory);
    });
}

/// S8, rule 5: if the device has no room for a request, the pool first releases the block that another thread has cached. It
/// cannot release the block while the other thread uses it.
#[test]
fn s8_flush_against_a_hit() {
    model(Some(3), || {
        let (storage, memory) = storage(1);
        drop(allocate(&storage));
        let other = {
            let storage = storage.clone();
            thread::spawn(move || storage.allocate(CPU, SIZE, Tag::new("hit")).is_ok())
        };
        // Requests another class. The device has no room for it unless the pool releases the cached block.
        let large = storage.allocate(CPU, SIZE / 2, Tag::new("growth")).is_ok();
        let hit = other.join().unwrap();
        assert!(large || hit, "one of them has the memory");
        balance(&storage, &memory);
    });
}

/// S3: in every snapshot of the statistics, reserved bytes are the sum of live and cached bytes, even while another
/// thread allocates, frees, or moves blocks from its full cache to the container.
#[test]
fn s3_snapshot_balances_at_every_moment() {
    model(None, || {
        let (storage, memory) = storage(9);
        let blocks: Vec<_> = (0..3).map(|_| allocate(&storage)).collect();
        let other = {
            let storage = storage.clone();
            thread::spawn(move || {
                let stats = storage.stats(CPU);
                assert_eq!(stats.reserved, 3 * SIZE as u64);
                assert_eq!(stats.reserved, stats.live_blocks_bytes + stats.cached_bytes);
                assert_eq!(stats.live_blocks * SIZE as u64, stats.live_blocks_bytes);
            })
        };
        drop(blocks);
        drop(allocate(&storage));
        other.join().unwrap();
        assert_eq!(memory.counters().allocations, 3);
        balance(&storage, &memory);
    });
}

/// Rule 8: one thread drops the last handle while the other frees the last block; no memory is left.
#[test]
fn rule_8_last_handle_against_last_block() {
    model(None, || {
        let (storage, memory) = storage(9);
        let (block, cached) = (allocate(&storage), allocate(&storage));
        drop(cached);
        let other = thread::spawn(move || drop(block));
        drop(storage);
        other.join().unwrap();
        assert_eq!(memory.counters().used_bytes, 0);
        assert_eq!(memory.counters().frees, 2);
    });
}

/// Rule 8: one thread drops the last handle and then a block, while another thread frees the other live block.
#[test]
fn rule_8_two_last_blocks() {
    model(Some(4), || {
        let (storage, memory) = storage(9);
        let (first, second) = (allocate(&storage), allocate(&storage));
        let other = thread::spawn(move || drop(first));
        drop(storage);
        drop(second);
        other.join().unwrap();
        assert_eq!((memory.counters().used_bytes, memory.counters().frees), (0, 2));
    });
}

/// Rule 9: a thread ends while another thread calls release_all; a block that was not released is reused.
#[test]
fn rule_9_a_thread_that_ends_leaves_its_blocks() {
    model(None, || {
        let (storage, memory) = storage(9);
        let other = {
            let storage = storage.clone();
            thread::spawn(move || drop(allocate(&storage)))
        };
        storage.release_all(CPU);
        other.join().unwrap();
        let n_requests = memory.counters().allocations;
        let freed = memory.counters().frees;
        drop(allocate(&storage));
        assert_eq!(memory.counters().allocations, n_requests + freed, "a block that was not released is reused");
        balance(&storage, &memory);
    });
}

/// A block of a quarter of a `BestFit` segment; each of two threads may cache two of them.
fn quarter(storage: &Storage) -> Block {
    storage.allocate(CPU, SIZE / 4, Tag::new("quarter")).unwrap()
}

/// A block of half a segment, as large as two neighboring quarters joined.
fn half(storage: &Storage) -> Block {
    storage.allocate(CPU, SIZE / 2, Tag::new("half")).unwrap()
}

/// S8: blocks that the other thread caches, or is freeing, are joined before the pool grows. If they are still live, the
/// pool grows.
#[test]
fn s8_best_fit_joins_what_the_other_thread_keeps() {
    model(Some(2), || {
        let (storage, memory) = of_kind(PoolKind::BestFit, 9);
        let (other_half, low, high) = (half(&storage), quarter(&storage), quarter(&storage));
        let other = {
            let storage = storage.clone();
            thread::spawn(move || {
                drop((low, high));
                storage.stats(CPU).live_blocks
            })
        };
        let joined = half(&storage);
        other.join().unwrap();
        let n_requests = memory.counters().allocations;
        assert!(n_requests <= 2);
        drop((joined, other_half));
        let all: Vec<_> = (0..4 * n_requests).map(|_| quarter(&storage)).collect();
        assert_eq!(memory.counters().allocations, n_requests, "all freed memory is found");
        drop(all);
        balance(&storage, &memory);
    });
}

/// S6, S7: one thread calls release_all and frees a block directly while the other thread allocates a block.
#[test]
fn s6_s7_best_fit_flush_and_direct_free_against_a_hit() {
    model(Some(2), || {
        let (storage, memory) = of_kind(PoolKind::BestFit, 9);
        let direct = quarter(&storage);
        drop(quarter(&storage));
        let other = {
            let storage = storage.clone();
            thread::spawn(move || {
                direct.free_directly();
                storage.release_all(CPU)
            })
        };
        let block = quarter(&storage);
        other.join().unwrap();
        assert_eq!(memory.counters().used_bytes, SIZE as u64, "the segment of the live block stays");
        drop(block);
        balance(&storage, &memory);
    });
}

/// Rule 8: one thread drops the last handle while the other frees the last block.
#[test]
fn rule_8_best_fit_last_handle_against_last_block() {
    model(Some(3), || {
        let (storage, memory) = of_kind(PoolKind::BestFit, 9);
        let (block, cached) = (quarter(&storage), quarter(&storage));
        drop(cached);
        let other = thread::spawn(move || drop(block));
        drop(storage);
        other.join().unwrap();
        assert_eq!((memory.counters().used_bytes, memory.counters().frees), (0, 1));
    });
}
