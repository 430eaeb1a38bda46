//! `BestFit` seen from outside: the invariants of every pool, on ranges that grow and on segments.

use crate::{Bench, MIB};
use mxrs_storage::SimulatedCall::{Allocate, Commit, Decommit, Free};
use mxrs_storage::{
    ALIGNMENT, Block, DeviceMemory, PoolConfig, PoolKind, SimulatedMemory, Storage, StorageConfig, Tag,
};
use mxrs_types::{Device, ErrorKind};
use proptest::prelude::*;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

const GPU: Device = Device::gpu(0);
const UNIT: usize = 2 << 20;

/// Where the memory of a pool comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Backing {
    Ranges,
    Segments,
}

const BACKINGS: [Backing; 2] = [Backing::Ranges, Backing::Segments];

impl Backing {
    fn memory(self, total_bytes: u64) -> SimulatedMemory {
        let memory = SimulatedMemory::new(GPU, total_bytes).unbacked();
        match self {
            Self::Ranges => memory.with_ranges(UNIT, 1 << 40),
            Self::Segments => memory,
        }
    }

    fn bench(self, reserve_percent: u8, total_bytes: u64) -> Bench {
        Bench::of(config(reserve_percent), [self.memory(total_bytes)])
    }
}

fn config(reserve_percent: u8) -> StorageConfig {
    StorageConfig::uniform(PoolConfig { reserve_percent, ..PoolConfig::of_kind(PoolKind::BestFit) })
}

#[derive(Clone, Debug)]
enum Step {
    Allocate(usize),
    /// Index into the live blocks, modulo their number.
    Free(usize),
    FreeDirectly(usize),
    ReleaseAll,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![
        4 => 1usize..20_000,
        2 => (1usize..6).prop_map(|mib| mib << 20),
        3 => 1usize..40 << 20,
        1 => (90usize..140).prop_map(|mib| mib << 20),
    ];
    let step = prop_oneof![
        8 => size.prop_map(Step::Allocate),
        6 => any::<usize>().prop_map(Step::Free),
        1 => any::<usize>().prop_map(Step::FreeDirectly),
        1 => Just(Step::ReleaseAll),
    ];
    prop::collection::vec(step, 1..100)
}

/// A bench, the blocks it gave out, and what must hold after every step.
struct Follower {
    bench: Bench,
    backing: Backing,
    live: Vec<Block>,
    reserve: u64,
    /// Requests that the simulated device was told to refuse make failures that have nothing to do with room.
    may_fail: bool,
}

const TOTAL: u64 = 128 * MIB;

impl Follower {
    fn new(backing: Backing, reserve_percent: u8) -> Self {
        let reserve = TOTAL * u64::from(reserve_percent) / 100;
        Self { bench: backing.bench(reserve_percent, TOTAL), backing, live: Vec::new(), reserve, may_fail: false }
    }

    fn memory(&self) -> &SimulatedMemory {
        self.bench.memory(GPU)
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Allocate(size) => self.allocate(size),
            Step::Free(_) | Step::FreeDirectly(_) if self.live.is_empty() => {}
            Step::Free(index) => {
                let before = self.memory().counters();
                drop(self.live.swap_remove(index % self.live.len()));
                assert_eq!(self.memory().counters(), before, "an ordinary free asks the device nothing");
            }
            Step::FreeDirectly(index) => self.free_directly(index),
            Step::ReleaseAll => {
                let before = self.bench.storage.stats(GPU);
                let released = self.bench.storage.release_all(GPU);
                let after = self.bench.storage.stats(GPU);
                // S6
                assert_eq!(
                    (after.cached_bytes, after.reserved),
                    (before.cached_bytes - released, before.reserved - released)
                );
                assert_eq!(after.live_blocks_bytes, before.live_blocks_bytes);
                assert_eq!(after.flushes, before.flushes);
                assert_eq!(self.bench.storage.release_all(GPU), 0, "idempotent");
            }
        }
        self.check();
    }

    fn allocate(&mut self, size: usize) {
        let before = self.bench.storage.stats(GPU);
        let infos = self.memory().counters().infos;
        let outcome = self.bench.storage.allocate(GPU, size, Tag::default());
        let after = self.bench.storage.stats(GPU);
        match outcome {
            Ok(block) => {
                assert_eq!((block.len(), block.block_bytes()), (size, size.next_multiple_of(512)));
                let grew = after.system_requests - before.system_requests;
                assert_eq!(grew + after.hits - before.hits, 1, "one request of the device, or none");
                if after.hits > before.hits && after.refusals == before.refusals && after.flushes == before.flushes {
                    assert_eq!((after.reserved, self.memory().counters().infos), (before.reserved, infos));
                }
                self.live.push(block);
                let used = self.memory().counters().used_bytes;
                if grew == 1 && TOTAL - used < self.reserve {
                    // S8: nothing that could have left was still there.
                    assert_eq!(self.bench.storage.release_all(GPU), 0);
                }
            }
            Err(error) => {
                let ErrorKind::OutOfMemory { requested, live, cached, .. } = error.kind() else { panic!("{error}") };
                assert_eq!((*requested, *live), (size as u64, before.live_blocks_bytes));
                // S11: the cache may have been emptied on the way, the rest is as before.
                assert_eq!((after.cached_bytes, after.live_blocks), (*cached, before.live_blocks));
                assert_eq!(before.cached_bytes - after.cached_bytes, before.reserved - after.reserved);
                assert_eq!((after.allocations, after.live_requested), (before.allocations, before.live_requested));
                assert!(after.refusals > before.refusals);
                assert_eq!(self.bench.storage.release_all(GPU), 0, "nothing that could have made room is left");
                if !self.may_fail {
                    let free = TOTAL - self.memory().counters().used_bytes;
                    let block_bytes = size.next_multiple_of(512) as u64;
                    let slack = if self.backing == Backing::Ranges { UNIT as u64 } else { 0 };
                    assert!(free < block_bytes + slack, "{size} bytes refused with {free} free");
                }
            }
        }
    }

    /// S7: what is wholly free of the units, or the segment, the block lay in leaves; and no more than that.
    fn free_directly(&mut self, index: usize) {
        let block = self.live.swap_remove(index % self.live.len());
        let before = self.bench.storage.stats(GPU);
        let (start, block_bytes) = (block.as_ptr().addr(), block.block_bytes());
        block.free_directly();
        let after = self.bench.storage.stats(GPU);
        let left = before.reserved - after.reserved;
        assert_eq!(after.cached_bytes + left, before.cached_bytes + block_bytes as u64);
        if self.backing == Backing::Ranges {
            let inside = ((start + block_bytes) / UNIT * UNIT).saturating_sub(start.next_multiple_of(UNIT));
            let around = (start + block_bytes).next_multiple_of(UNIT) - start / UNIT * UNIT;
            assert!((inside as u64..=around as u64).contains(&left), "{left} bytes left of {block_bytes}");
        }
    }

    /// S1, S2, S3 and the counts of S13.
    fn check(&self) {
        let stats = self.bench.storage.stats(GPU);
        let counters = self.memory().counters();
        let mut ranges: Vec<_> = self.live.iter().map(|block| (block.as_ptr().addr(), block.block_bytes())).collect();
        ranges.sort_unstable();
        assert!(ranges.iter().all(|(start, _)| start.is_multiple_of(ALIGNMENT)));
        assert!(ranges.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
        let sum = |of: fn(&Block) -> usize| self.live.iter().map(|block| of(block) as u64).sum::<u64>();
        assert_eq!((stats.live_requested, stats.live_blocks_bytes), (sum(Block::len), sum(Block::block_bytes)));
        assert_eq!(stats.reserved, stats.live_blocks_bytes + stats.cached_bytes);
        assert_eq!((stats.reserved, stats.peak_reserved), (counters.used_bytes, counters.peak_used_bytes));
        assert_eq!((stats.system_requests, stats.system_frees), (counters.allocations, counters.frees));
        assert_eq!(stats.refusals, counters.refusals);
        assert_eq!(stats.allocations - stats.frees, self.live.len() as u64);
    }

    /// S3: everything returns.
    fn finish(mut self) {
        self.live.clear();
        self.check();
        self.bench.storage.release_all(GPU);
        let stats = self.bench.storage.stats(GPU);
        assert_eq!((stats.reserved, stats.cached_blocks, stats.live_requested), (0, 0, 0));
        assert_eq!(self.memory().counters().used_bytes, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn s1_s2_s3_s6_s7_s8_s11_with_ranges(reserve in 0u8..=100, steps in steps()) {
        let mut follower = Follower::new(Backing::Ranges, reserve);
        steps.iter().for_each(|step| follower.step(step));
        follower.finish();
    }

    #[test]
    fn s1_s2_s3_s6_s7_s8_s11_with_segments(reserve in 0u8..=100, steps in steps()) {
        let mut follower = Follower::new(Backing::Segments, reserve);
        steps.iter().for_each(|step| follower.step(step));
        follower.finish();
    }
}

/// A pool's life with growth, reuse, direct frees and flushes.
fn script() -> Vec<Step> {
    (0..40usize)
        .flat_map(|n| {
            let size = [3000, 700 << 10, 5 << 20, 23 << 20][n % 4] + n * 1000;
            let free = match n % 5 {
                0 => None,
                4 => Some(Step::FreeDirectly(n * 7)),
                _ => Some(Step::Free(n * 3)),
            };
            let release = (n % 16 == 15).then_some(Step::ReleaseAll);
            std::iter::once(Step::Allocate(size)).chain(free).chain(release)
        })
        .collect()
}

/// S11: whichever request fails, up to three times in a row, the books stay right and nothing is lost.
#[test]
fn s11_every_request_may_fail() {
    for backing in BACKINGS {
        let mut whole = Follower::new(backing, 5);
        script().iter().for_each(|step| whole.step(step));
        let n_requests = whole.memory().n_requests();
        assert!(n_requests >= 5, "{backing:?} made {n_requests} requests");
        for nth in 1..=n_requests {
            for n_failing in 1..=3 {
                let mut follower = Follower { may_fail: true, ..Follower::new(backing, 5) };
                (0..n_failing).for_each(|more| follower.memory().fail_on_request(nth + more));
                script().iter().for_each(|step| follower.step(step));
                let stats = follower.bench.storage.stats(GPU);
                assert!(stats.refusals >= 1);
                if n_failing == 1 {
                    let before = whole.bench.storage.stats(GPU);
                    assert_eq!(stats.allocations, before.allocations, "a single refusal is repaired");
                }
                follower.finish();
            }
        }
    }
}

/// S2, S3: a split's remainder serves the next request, and three neighbours become one again.
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

/// A pool grows by what is missing: memory at its end that is free already is not asked for again.
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

/// S8, with the calls in order: free memory leaves before the pool grows into the reserve.
#[test]
fn s8_memory_leaves_before_growth_into_the_reserve() {
    for backing in BACKINGS {
        let bench = backing.bench(5, 100 * MIB);
        let (pin, first) = (bench.allocate(GPU, 500 << 10), bench.allocate(GPU, 40 << 20));
        let second = bench.allocate(GPU, 40 << 20);
        drop(first);
        let n_before = bench.memory(GPU).calls().len();
        // 80 of 100 MiB and more are held; 50 fit nowhere in it.
        let _large = bench.allocate(GPU, 50 << 20);
        let calls = bench.memory(GPU).calls();
        let first_out = calls[n_before..].iter().position(|call| matches!(call, Free { .. } | Decommit { .. }));
        let first_in = calls[n_before..].iter().position(|call| matches!(call, Allocate { .. } | Commit { .. }));
        assert!(first_out.unwrap() < first_in.unwrap(), "{backing:?}: {:?}", &calls[n_before..]);
        assert_eq!(bench.storage.stats(GPU).flushes, 1);
        drop((pin, second));
    }
}

/// S10: during every call of the device another thread can read the books of the same pool.
#[test]
fn s10_no_lock_is_held_while_a_range_grows() {
    let handle: Arc<OnceLock<Storage>> = Arc::default();
    let seen = Arc::clone(&handle);
    let memory = Backing::Ranges.memory(100 * MIB).on_call(move |call| {
        let Some(storage) = seen.get().cloned() else { return };
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            let stats = storage.stats(GPU);
            // S3 holds between the two steps of a growth as well.
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

/// Several threads grow one range at once, each with a device that takes its time; what was asked for is what is there.
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
                        // SAFETY: simulated memory with backing, which this thread alone owns.
                        unsafe { block.as_ptr().write_bytes(byte, size) };
                        live.push(block);
                        if step % 3 != 0 {
                            let block = live.swap_remove(step % live.len());
                            // SAFETY: written whole above by this thread.
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

/// A thread that was refused waits for memory that another one is returning just then, instead of giving up.
#[test]
fn no_thread_runs_out_of_memory_while_another_returns_it() {
    let memory = Backing::Ranges.memory(64 * MIB).latency(Duration::from_millis(30));
    let bench = Bench::of(config(0), [memory]);
    // Ten free pieces with live ones between them, so that they leave one by one.
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

/// Where ranges are short, a pool takes another one; where they are too short to be of use, segments.
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

/// The last request of a full device gets what is left, although no whole segment is.
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

/// A pool that is gone has given its addresses up, those of blocks that outlived the storage last.
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
