//! Random steps on a pool, compared with a model written from the manual (S1 to S13: the guarantees in `src/lib.rs`). The
//! steps are allocations, frees, direct frees and release_all.

use crate::{Bench, MIB};
use mxrs_storage::{Block, PoolConfig, PoolKind, StorageConfig, Tag};
use mxrs_types::{Device, ErrorKind};
use proptest::prelude::*;
use std::collections::HashMap;

const GPU: Device = Device::gpu(0);
const TOTAL: u64 = 256 * MIB;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Allocate(usize),
    /// Frees the live block with this index, modulo the number of live blocks.
    Free(usize),
    /// Frees the live block with this index directly, modulo the number of live blocks.
    FreeDirectly(usize),
    ReleaseAll,
}

/// At least one and fewer than `most` steps, whose allocations have these sizes.
pub(crate) fn steps(size: impl Strategy<Value = usize>, most: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => size.prop_map(Step::Allocate),
        6 => any::<usize>().prop_map(Step::Free),
        1 => any::<usize>().prop_map(Step::FreeDirectly),
        1 => Just(Step::ReleaseAll),
    ];
    prop::collection::vec(step, 1..if cfg!(miri) { most.min(10) } else { most })
}

fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![
        4 => 0usize..20_000,
        3 => (1usize..6).prop_map(|mib| mib << 20),
        3 => 1usize..80 << 20,
        1 => (250usize..300).prop_map(|mib| mib << 20),
    ]
}

/// A model of a pool that applies the manual's rules, with the default settings, in the simplest form.
struct Model {
    kind: PoolKind,
    reserve: u64,
    /// Addresses of cached blocks by block size; the block freed last is at the end.
    cached: HashMap<usize, Vec<usize>>,
    live_blocks: u64,
    live_requested: u64,
    live_bytes: u64,
    flushes: u64,
}

enum Expected {
    /// The block at this address, from the cache.
    Hit(usize),
    Growth,
    NoRoom,
}

impl Model {
    fn block_bytes(&self, size: usize) -> usize {
        let up = |size: usize, unit: usize| size.div_ceil(unit) * unit;
        match self.kind {
            PoolKind::Naive if up(size, 4096) > 2 << 20 => up(up(size, 4096), 2 << 20),
            PoolKind::Naive => up(size, 4096),
            PoolKind::Round if size > 1 << 24 => up(size, 1 << 24),
            PoolKind::Round => (12..=24).map(|log2| 1 << log2).find(|&block| block >= size).unwrap(),
            _ => size,
        }
    }

    fn cached_bytes(&self) -> u64 {
        self.cached.iter().map(|(bytes, blocks)| (bytes * blocks.len()) as u64).sum()
    }

    fn flush(&mut self) {
        self.flushes += u64::from(self.cached_bytes() > 0);
        self.cached.clear();
    }

    fn allocate(&mut self, size: usize) -> Expected {
        let block_bytes = self.block_bytes(size);
        let hit = self.cached.get_mut(&block_bytes).and_then(Vec::pop);
        if hit.is_none() {
            let request = block_bytes as u64;
            let free = TOTAL - self.live_bytes - self.cached_bytes();
            if !(free > request && free - request >= self.reserve) {
                // S8: if the device would keep too little memory free (less than the reserve), the pool empties its
                // cache first.
                self.flush();
            }
            if self.live_bytes + self.cached_bytes() + request > TOTAL {
                self.flush();
            }
            if self.live_bytes + request > TOTAL {
                return Expected::NoRoom;
            }
        }
        self.live_blocks += 1;
        self.live_requested += size as u64;
        self.live_bytes += block_bytes as u64;
        hit.map_or(Expected::Growth, Expected::Hit)
    }

    fn free(&mut self, block: &Block, directly: bool) {
        self.live_blocks -= 1;
        self.live_requested -= block.len() as u64;
        self.live_bytes -= block.block_bytes() as u64;
        if !directly && self.kind != PoolKind::Unpooled {
            self.cached.entry(block.block_bytes()).or_default().push(block.as_ptr().addr());
        }
    }

    /// S2: live and cached ranges do not overlap.
    fn ranges_are_disjoint(&self, live: &[Block]) -> bool {
        let mut ranges: Vec<_> = live.iter().map(|block| (block.as_ptr().addr(), block.block_bytes())).collect();
        for (&bytes, addresses) in &self.cached {
            ranges.extend(addresses.iter().map(|&address| (address, bytes)));
        }
        ranges.sort_unstable();
        ranges.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0)
    }
}

fn follow(kind: PoolKind, reserve_percent: u8, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let config = PoolConfig { reserve_percent, ..PoolConfig::of_kind(kind) };
    let bench = Bench::new(StorageConfig { gpu: config, ..StorageConfig::default() }, TOTAL);
    let reserve = TOTAL * u64::from(reserve_percent) / 100;
    let mut model =
        Model { kind, reserve, cached: HashMap::new(), live_blocks: 0, live_requested: 0, live_bytes: 0, flushes: 0 };
    let mut live: Vec<Block> = Vec::new();
    for step in steps {
        match step {
            Step::Allocate(0) => prop_assert!(bench.allocate(GPU, 0).is_empty()),
            Step::Allocate(size) => {
                let granted_before = bench.memory(GPU).counters().allocations;
                let outcome = bench.storage.allocate(GPU, size, Tag::default());
                let granted = bench.memory(GPU).counters().allocations - granted_before;
                match (model.allocate(size), outcome) {
                    (Expected::Hit(address), Ok(block)) => {
                        prop_assert_eq!((block.as_ptr().addr(), granted), (address, 0));
                        live.push(block);
                    }
                    (Expected::Growth, Ok(block)) => {
                        prop_assert_eq!(granted, 1);
                        prop_assert_eq!(block.block_bytes(), model.block_bytes(size));
                        live.push(block);
                    }
                    (Expected::NoRoom, Err(error)) => {
                        let no_room =
                            matches!(error.kind(), ErrorKind::OutOfMemory { live, .. } if *live == model.live_bytes);
                        prop_assert!(no_room, "{}", error);
                    }
                    (_, outcome) => prop_assert!(false, "{} bytes: {:?}", size, outcome),
                }
            }
            Step::Free(_) | Step::FreeDirectly(_) if live.is_empty() => {}
            Step::Free(index) => {
                let block = live.swap_remove(index % live.len());
                model.free(&block, false);
                drop(block);
            }
            Step::FreeDirectly(index) => {
                let block = live.swap_remove(index % live.len());
                model.free(&block, true);
                block.free_directly();
            }
            Step::ReleaseAll => {
                prop_assert_eq!(bench.storage.release_all(GPU), model.cached_bytes());
                model.cached.clear();
            }
        }
        let stats = bench.storage.stats(GPU);
        prop_assert!(model.ranges_are_disjoint(&live));
        prop_assert_eq!(stats.live_blocks, model.live_blocks);
        prop_assert_eq!(stats.live_requested, model.live_requested);
        prop_assert_eq!(stats.live_blocks_bytes, model.live_bytes);
        prop_assert_eq!(stats.cached_bytes, model.cached_bytes());
        prop_assert_eq!(stats.reserved, model.live_bytes + model.cached_bytes());
        prop_assert_eq!(stats.reserved, bench.memory(GPU).counters().used_bytes);
        prop_assert_eq!(stats.flushes, model.flushes);
        prop_assert_eq!(stats.allocations - stats.frees, live.len() as u64);
    }
    drop(live);
    bench.storage.release_all(GPU);
    let stats = bench.storage.stats(GPU);
    prop_assert_eq!((stats.reserved, stats.live_requested), (0, 0));
    prop_assert_eq!(stats.system_requests, stats.system_frees);
    prop_assert_eq!(bench.memory(GPU).counters().used_bytes, 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 96 }))]

    /// S2, S3, S5, S8: the pool behaves like the model at every step.
    #[test]
    fn s2_s3_naive_follows_the_manual(reserve in 0u8..=100, steps in steps(sizes(), 120)) {
        follow(PoolKind::Naive, reserve, steps)?;
    }

    /// S2, S3, S5, S8: the pool behaves like the model at every step.
    #[test]
    fn s2_s3_round_follows_the_manual(reserve in 0u8..=100, steps in steps(sizes(), 120)) {
        follow(PoolKind::Round, reserve, steps)?;
    }

    /// S2, S3, S13: the pool behaves like the model at every step.
    #[test]
    fn s2_s3_unpooled_follows_the_manual(reserve in 0u8..=100, steps in steps(sizes(), 120)) {
        follow(PoolKind::Unpooled, reserve, steps)?;
    }
}
