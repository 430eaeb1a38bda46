//! `BestFit` through the public interface: the guarantees of every pool (S1 to S13, see `src/lib.rs`) after every step, on
//! ranges that grow and on segments.

use crate::properties::{Step, steps};
use crate::{Bench, MIB};
use mxrs_simulated_gpu::SimulatedMemory;
use mxrs_storage::{ALIGNMENT, Block, PoolConfig, PoolKind, StorageConfig, Tag};
use mxrs_types::{Device, ErrorKind};
use proptest::prelude::*;

pub(crate) const GPU: Device = Device::gpu(0);
pub(crate) const UNIT: usize = 2 << 20;

/// How the simulated device provides a pool's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backing {
    Ranges,
    Segments,
}

pub(crate) const BACKINGS: [Backing; 2] = [Backing::Ranges, Backing::Segments];

impl Backing {
    pub(crate) fn memory(self, total_bytes: u64) -> SimulatedMemory {
        let memory = SimulatedMemory::new(GPU, total_bytes).unbacked();
        match self {
            Self::Ranges => memory.with_ranges(UNIT, 1 << 40),
            Self::Segments => memory,
        }
    }

    pub(crate) fn bench(self, reserve_percent: u8, total_bytes: u64) -> Bench {
        Bench::of(config(reserve_percent), [self.memory(total_bytes)])
    }
}

pub(crate) fn config(reserve_percent: u8) -> StorageConfig {
    StorageConfig::uniform(PoolConfig { reserve_percent, ..PoolConfig::of_kind(PoolKind::BestFit) })
}

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![
        4 => 1usize..20_000,
        2 => (1usize..6).prop_map(|mib| mib << 20),
        3 => 1usize..40 << 20,
        1 => (90usize..140).prop_map(|mib| mib << 20),
    ]
}

/// A storage on a simulated device (a bench), the blocks allocated so far, and the conditions to check after every
/// step.
struct Follower {
    bench: Bench,
    backing: Backing,
    live: Vec<Block>,
    reserve: u64,
    /// Whether the simulated device refuses requests on command, which causes failures although memory is available.
    may_fail: bool,
}

pub(crate) const TOTAL: u64 = 128 * MIB;

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
                // S6: the cache shrank by exactly the released bytes.
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
                    // S8: the pool used memory that it should leave free only because it had no cached block to
                    // release.
                    assert_eq!(self.bench.storage.release_all(GPU), 0);
                }
            }
            Err(error) => {
                let ErrorKind::OutOfMemory { requested, live, cached, .. } = error.kind() else { panic!("{error}") };
                assert_eq!((*requested, *live), (size as u64, before.live_blocks_bytes));
                // S11: the failed request may have emptied the cache; everything else is unchanged.
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

    /// S7: a direct free returns each unit of the block that is now entirely free or, with segments, the block's segment if
    /// that is entirely free.
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

    /// Checks that blocks are aligned (S1) and do not overlap (S2), that the sums of bytes agree (S3), and that the
    /// counts of allocations and frees agree with the device and the live blocks.
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

    /// S3: all memory is returned.
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
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 128 }))]

    #[test]
    fn s1_s2_s3_s6_s7_s8_s11_with_ranges(reserve in 0u8..=100, steps in steps(sizes(), 100)) {
        let mut follower = Follower::new(Backing::Ranges, reserve);
        steps.iter().for_each(|step| follower.step(step));
        follower.finish();
    }

    #[test]
    fn s1_s2_s3_s6_s7_s8_s11_with_segments(reserve in 0u8..=100, steps in steps(sizes(), 100)) {
        let mut follower = Follower::new(Backing::Segments, reserve);
        steps.iter().for_each(|step| follower.step(step));
        follower.finish();
    }
}

/// A sequence of steps with growth, reuse, direct frees and flushes.
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

/// S11: if any request fails, up to three times in a row, the pool's statistics stay consistent and no memory is lost.
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
