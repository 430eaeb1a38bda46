//! Single cases of `BestFit` through the public interface (S1 to S13: the guarantees in `src/lib.rs`): growth, remainders,
//! the memory that a pool should leave free (the reserve), threads, the end of a pool.

use crate::best_fit::{BACKINGS, Backing, GPU, TOTAL, UNIT, config};
use crate::{Bench, MIB};
use mxrs_simulated_gpu::SimulatedCall::{Allocate, Commit, Decommit, Free};
use mxrs_simulated_gpu::SimulatedMemory;
use mxrs_storage::{ALIGNMENT, Block, DeviceMemory, Storage, Tag};
use mxrs_types::{Device, ErrorKind};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

/// S2, S3: the remainder of a split serves the next request, and three neighbors are joined again.
#[test]
fn s3_remainders_are_used_and_joined() {
    for backing in BACKINGS {
        let bench = backing.bench(5, TOTAL);
        let blocks = [12 << 20, 14 << 20, 13 << 20].map(|size| bench.allocate(GPU, size));
        let requests = bench.memory(GPU).n_requests();
        let lowest = blocks.iter().map(|block| block.as_ptr().addr()).min().unwrap();
        drop(blocks);
        if backing == Backing::Ranges {
            assert_eq!(bench.allocate(GPU, 39 << 20).as_ptr().addr(), lowest);
        }
        let parts: Vec<_> = (0..12).map(|_| bench.allocate(GPU, 3 << 20)).collect();
        assert_eq!(bench.memory(GPU).n_requests(), requests, "36 MiB in pieces fit into 12 + 13 + 14");
        drop(parts);
    }
}

/// A pool requests only the missing bytes: memory that is already free at the end of its range counts.
#[test]
fn growth_is_what_is_missing() {
    let bench = Backing::Ranges.bench(5, TOTAL);
    let kept = bench.allocate(GPU, 1000);
    drop(bench.allocate(GPU, 30 << 20));
    assert_eq!(bench.storage.stats(GPU).reserved, 32 * MIB);
    let _longer = bench.allocate(GPU, 45 << 20);
    assert_eq!(bench.storage.stats(GPU).reserved, 46 * MIB);
    drop(kept);
}

/// S8, by the order of calls: the pool returns its free memory before it uses device memory that it should leave free.
#[test]
fn s8_memory_leaves_before_growth_into_the_reserve() {
    for backing in BACKINGS {
        let bench = backing.bench(5, 100 * MIB);
        let (pin, first) = (bench.allocate(GPU, 500 << 10), bench.allocate(GPU, 40 << 20));
        let second = bench.allocate(GPU, 40 << 20);
        drop(first);
        let n_before = bench.memory(GPU).calls().len();
        // The pool holds more than 80 of 100 MiB, so there is no room for 50 MiB.
        let _large = bench.allocate(GPU, 50 << 20);
        let calls = bench.memory(GPU).calls();
        let first_out = calls[n_before..].iter().position(|call| matches!(call, Free { .. } | Decommit { .. }));
        let first_in = calls[n_before..].iter().position(|call| matches!(call, Allocate { .. } | Commit { .. }));
        assert!(first_out.unwrap() < first_in.unwrap(), "{backing:?}: {:?}", &calls[n_before..]);
        assert_eq!(bench.storage.stats(GPU).flushes, 1);
        drop((pin, second));
    }
}

/// S10: during every call of the device another thread can read the statistics of the same pool.
#[test]
fn s10_no_lock_is_held_while_a_range_grows() {
    let handle: Arc<OnceLock<Storage>> = Arc::default();
    let seen = Arc::clone(&handle);
    let memory = Backing::Ranges.memory(100 * MIB).on_call(move |call| {
        let Some(storage) = seen.get().cloned() else { return };
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            let stats = storage.stats(GPU);
            // S3, the equality of these sums, also holds while the device is adding memory.
            assert_eq!(stats.reserved, stats.live_blocks_bytes + stats.cached_bytes);
            send.send(()).ok()
        });
        assert!(receive.recv_timeout(Duration::from_secs(20)).is_ok(), "the pool is locked during {call:?}");
    });
    let bench = Bench::of(config(5), [memory]);
    handle.set(bench.storage.clone()).ok().unwrap();
    drop(bench.allocate(GPU, 80 << 20));
    let kept = bench.allocate(GPU, 8 << 20);
    drop(bench.allocate(GPU, 85 << 20));
    assert!(bench.storage.allocate(GPU, 200 << 20, Tag::default()).is_err());
    bench.allocate(GPU, 4 << 20).free_directly();
    drop(kept);
    bench.storage.release_all(GPU);
    let counters = bench.memory(GPU).counters();
    assert!(counters.refusals > 0 && counters.frees > 1 && counters.used_bytes == 0, "{counters:?}");
}

/// Several threads grow one range at the same time on a slow device; each gets exactly what it requested.
#[test]
fn s2_s3_threads_grow_one_range() {
    for latency in [Duration::ZERO, Duration::from_micros(300)] {
        let memory = SimulatedMemory::new(GPU, 1024 * MIB).with_ranges(UNIT, 1 << 34).latency(latency);
        let bench = Bench::of(config(5), [memory]);
        thread::scope(|scope| {
            for byte in 1..=4u8 {
                let bench = &bench;
                scope.spawn(move || {
                    let mut live: Vec<Block> = Vec::new();
                    for step in 0..60usize {
                        let size = 1 + (step * 7919 + usize::from(byte) * 104_729) % 600_000;
                        let block = bench.allocate(GPU, size);
                        // SAFETY: simulated memory with backing, which only this thread uses.
                        unsafe { block.as_ptr().write_bytes(byte, size) };
                        live.push(block);
                        if step % 3 != 0 {
                            let block = live.swap_remove(step % live.len());
                            // SAFETY: this thread wrote all of it above.
                            let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr(), block.len()) };
                            assert!(bytes.iter().all(|&found| found == byte));
                            if step % 7 == 0 { block.free_directly() } else { drop(block) }
                        }
                        if step % 20 == 19 {
                            bench.storage.release_all(GPU);
                        }
                    }
                });
            }
        });
        let stats = bench.storage.stats(GPU);
        assert_eq!((stats.live_blocks, stats.live_requested), (0, 0));
        assert_eq!(stats.reserved, bench.memory(GPU).counters().used_bytes);
        bench.storage.release_all(GPU);
        assert_eq!(bench.memory(GPU).counters().used_bytes, 0);
    }
}

/// A refused thread waits for memory that another thread is returning, instead of failing.
#[test]
fn no_thread_runs_out_of_memory_while_another_returns_it() {
    let memory = Backing::Ranges.memory(64 * MIB).latency(Duration::from_millis(30));
    let bench = Bench::of(config(0), [memory]);
    // Ten free pieces separated by live blocks, so that the pool returns the pieces one by one.
    let (large, pins): (Vec<_>, Vec<_>) =
        (0..10).map(|_| (bench.allocate(GPU, 6 << 20), bench.allocate(GPU, 512))).unzip();
    drop(large);
    thread::scope(|scope| {
        let release = scope.spawn(|| bench.storage.release_all(GPU));
        while bench.storage.stats(GPU).reserved > 30 * MIB && !release.is_finished() {
            thread::yield_now();
        }
        assert_eq!(bench.allocate(GPU, 40 << 20).len(), 40 << 20);
        assert!(release.join().unwrap() >= 40 * MIB);
    });
    drop(pins);
}

/// If the device can reserve only short ranges, a pool reserves several; if these are too short to be useful, it uses
/// segments.
#[test]
fn short_ranges_are_joined_by_others() {
    let memory = SimulatedMemory::new(GPU, 1024 * MIB).unbacked().with_ranges(UNIT, 100 << 20);
    let bench = Bench::of(config(0), [memory]);
    let blocks: Vec<_> = (0..9).map(|_| bench.allocate(GPU, 40 << 20)).collect();
    assert!(bench.memory(GPU).calls().iter().any(|call| matches!(call, Commit { .. })));
    let error = bench.storage.allocate(GPU, 101 << 20, Tag::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
    drop(blocks);
    assert_eq!(bench.storage.release_all(GPU), 360 * MIB);
    assert_eq!(bench.memory(GPU).counters().used_bytes, 0);

    let memory = SimulatedMemory::new(GPU, 1024 * MIB).unbacked().with_ranges(UNIT, 8 << 20);
    let bench = Bench::of(config(0), [memory]);
    drop(bench.allocate(GPU, 40 << 20));
    assert!(bench.memory(GPU).calls().iter().all(|call| !matches!(call, Commit { .. })));
}

/// The last request on a nearly full device gets the rest of the memory, although the rest is less than a whole segment.
#[test]
fn a_full_device_gives_less_than_a_segment() {
    let bench = Backing::Segments.bench(0, 21 * MIB);
    let _most = bench.allocate(GPU, 20 << 20);
    let last = bench.allocate(GPU, 700_000);
    assert_eq!(bench.storage.stats(GPU).reserved, 20 * MIB + last.block_bytes() as u64);
}

/// S1, S2 on the memory of this machine: blocks keep their bytes while the pool grows, shrinks and grows again.
#[test]
fn s1_s2_host_memory_grows_and_shrinks() {
    let storage = Storage::new(config(5)).unwrap();
    let cpu = Device::cpu(0);
    let mut live: Vec<(Block, u8)> = Vec::new();
    for n in 0..120u8 {
        let size = 1 + usize::from(n) * 9973 % 300_000;
        let block = storage.allocate(cpu, size, Tag::default()).unwrap();
        assert!(block.as_ptr().addr().is_multiple_of(ALIGNMENT));
        assert_eq!(block.block_bytes(), size.next_multiple_of(64));
        // SAFETY: host memory of this many bytes that only this test uses.
        unsafe { block.as_ptr().write_bytes(n, block.block_bytes()) };
        live.push((block, n));
        if n % 3 != 0 {
            live.swap_remove(usize::from(n) * 5 % live.len());
        }
        if n % 30 == 29 {
            storage.release_all(cpu);
        }
    }
    for (block, fill) in &live {
        // SAFETY: all `block_bytes` bytes were written above.
        let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr(), block.block_bytes()) };
        assert!(bytes.iter().all(|byte| byte == fill));
    }
    live.clear();
    storage.release_all(cpu);
    let stats = storage.stats(cpu);
    assert_eq!((stats.reserved, stats.cached_bytes), (0, 0));
    assert!(stats.hits > stats.system_requests, "{stats:?}");
}

/// A dropped pool unreserves its addresses. If blocks outlive the storage, this happens when the last one is freed.
#[test]
fn ranges_end_with_their_last_block() {
    let memory = Arc::new(SimulatedMemory::new(GPU, TOTAL).with_ranges(UNIT, 1 << 30));
    let storage = Storage::builder(config(5)).device(Arc::clone(&memory) as Arc<dyn DeviceMemory>).build().unwrap();
    let block = storage.allocate(GPU, 5000, Tag::default()).unwrap();
    drop(storage.allocate(GPU, 5 << 20, Tag::default()).unwrap());
    drop(storage);
    assert!(memory.counters().used_bytes > 0);
    drop(block);
    assert_eq!(memory.counters().used_bytes, 0);
}
