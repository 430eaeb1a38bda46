//! `BestFit` and unfinished work: guarantee S9 (see `src/lib.rs`) with blocks that are split and joined, and the last steps
//! of a refused request.

use crate::best_fit::{BACKINGS, GPU};
use crate::streams::{Event, Stream, dynamic};
use crate::{Bench, MIB};
use mxrs_simulated_gpu::{SimulatedCall, SimulatedMemory};
use mxrs_storage::{Block, PoolConfig, PoolKind, StorageConfig, Tag};
use mxrs_types::{DeviceEvent, ErrorKind};
use std::sync::{Arc, Mutex};

/// Two simulated devices: one grows ranges, the other allocates segments.
fn memories(total_bytes: u64) -> [SimulatedMemory; 2] {
    BACKINGS.map(|backing| backing.memory(total_bytes))
}

fn of_kind(kind: PoolKind, memory: SimulatedMemory) -> Bench {
    Bench::of(StorageConfig::uniform(PoolConfig { reserve_percent: 0, ..PoolConfig::of_kind(kind) }), [memory])
}

fn benches(total_mib: u64) -> [Bench; 2] {
    memories(total_mib * MIB).map(|memory| of_kind(PoolKind::BestFit, memory))
}

/// Memory that pending work uses: its first address, its end, and the event that marks the end of the work.
type InUse = ((usize, usize), Arc<Event>);

fn range(block: &Block) -> (usize, usize) {
    (block.as_ptr().addr(), block.as_ptr().addr() + block.block_bytes())
}

fn overlap(a: (usize, usize), b: (usize, usize)) -> bool {
    a.0 < b.1 && b.0 < a.1
}

/// S9: a block with unfinished work is not joined. It serves only requests of its own size, and the stream that uses it
/// does not wait for itself.
#[test]
fn s9_a_block_in_use_stays_whole() {
    for bench in benches(100) {
        let blocks = [bench.allocate(GPU, 4096), bench.allocate(GPU, 4096), bench.allocate(GPU, 4096)];
        let middle = range(&blocks[1]);
        let event = Event::new(1);
        let [low, mid, high] = blocks;
        mid.free_after([dynamic(&event)]);
        drop((low, high));
        // Makes the pool grow, so it first joins the blocks that its threads cache.
        drop(bench.allocate(GPU, 20 << 20));
        let others: Vec<_> = [512, 12_288, 2048, 8192].map(|size| bench.allocate(GPU, size)).into();
        assert!(others.iter().all(|other| !overlap(range(other), middle)));
        assert_eq!(event.host_waits(), 0);

        let own = Stream::new(1);
        let again = bench.storage.allocate_on(GPU, 4096, Tag::default(), &own).unwrap();
        assert_eq!(range(&again), middle);
        assert!(!own.waited_for(&event));
        drop(again);
        let other = Stream::new(2);
        let again = bench.storage.allocate_on(GPU, 4096, Tag::default(), &other).unwrap();
        assert_eq!(range(&again), middle);
        assert!(other.waited_for(&event) && event.host_waits() == 0);
    }
}

/// S9: once its work is finished, a block is joined like any other before the pool requests more memory.
#[test]
fn s9_a_finished_block_is_joined() {
    for bench in benches(100) {
        let blocks: Vec<_> = (0..4).map(|_| bench.allocate(GPU, 256 << 10)).collect();
        let events = [1, 2, 3, 4].map(Event::new);
        let requests = bench.memory(GPU).n_requests();
        for (block, event) in blocks.into_iter().zip(&events) {
            block.free_after([dynamic(event)]);
        }
        let stats = bench.storage.stats(GPU);
        assert_eq!((stats.live_blocks, stats.reserved), (0, stats.cached_bytes));
        events.iter().for_each(|event| event.finish());
        // The four blocks fill the lower half of the pool's 2 MiB. The upper half serves one of these two requests, and the
        // joined blocks serve the other.
        let halves = [bench.allocate(GPU, 1 << 20), bench.allocate(GPU, 1 << 20)];
        assert_eq!(bench.memory(GPU).n_requests(), requests);
        drop(halves);
        assert!(events.iter().all(|event| event.host_waits() == 0));
    }
}

/// S9: the host waits for unfinished work only if no other memory fits.
#[test]
fn s9_the_host_waits_when_nothing_else_fits() {
    for bench in benches(20) {
        let event = Event::new(1);
        bench.allocate(GPU, 12 << 20).free_after([dynamic(&event)]);
        drop(bench.allocate(GPU, 500 << 10));
        assert_eq!(event.host_waits(), 0);
        drop(bench.allocate(GPU, 16 << 20));
        assert!(event.is_finished());
    }
}

/// S9, S7, S3: every way to return memory to the device first waits for its events.
#[test]
fn s9_the_device_gets_nothing_back_that_is_in_use() {
    for memory in memories(100 * MIB) {
        let in_use: Arc<Mutex<Vec<InUse>>> = Arc::default();
        let seen = Arc::clone(&in_use);
        let memory = memory.on_call(move |call| {
            if let SimulatedCall::Free { size_bytes, address } | SimulatedCall::Decommit { size_bytes, address } = *call
            {
                for (used, event) in seen.lock().unwrap().iter() {
                    let free = (address, address + size_bytes);
                    assert!(!overlap(*used, free) || event.is_finished(), "{free:?} left before its event");
                }
            }
        });
        let bench = of_kind(PoolKind::BestFit, memory);
        let used = |size| {
            let (block, event) = (bench.allocate(GPU, size), Event::new(1));
            in_use.lock().unwrap().push((range(&block), Arc::clone(&event)));
            block.used_by(dynamic(&event));
            (block, event)
        };
        let (block, cached) = used(3 << 20);
        drop(block);
        bench.storage.release_all(GPU);
        assert_eq!((cached.host_waits(), bench.storage.stats(GPU).reserved), (1, 0));
        let (block, direct) = used(5 << 20);
        block.free_directly();
        assert_eq!((direct.host_waits(), bench.storage.stats(GPU).live_blocks), (1, 0));
        let ((block, late), (last, live)) = (used(3000), used(4 << 20));
        drop(block);
        let Bench { storage, memories } = bench;
        drop(storage);
        assert_eq!((late.host_waits(), live.host_waits()), (1, 0));
        drop(last);
        assert_eq!((live.host_waits(), memories[0].counters().used_bytes), (1, 0));
    }
}

/// Work that failed and never ends keeps its memory and addresses forever. The rest of the memory is returned.
#[test]
fn memory_of_work_without_an_end_is_abandoned() {
    for directly in [false, true] {
        for bench in benches(100) {
            let kept = bench.allocate(GPU, 3 << 20);
            let block = bench.allocate(GPU, 5 << 20);
            let used = range(&block);
            block.used_by(dynamic(&Event::made(1, true)));
            if directly {
                block.free_directly()
            } else {
                drop(block)
            }
            bench.storage.release_all(GPU);
            let stats = bench.storage.stats(GPU);
            assert_eq!((stats.abandoned_bytes, stats.live_blocks), (5 << 20, 1));
            assert_eq!(stats.reserved, stats.live_blocks_bytes + stats.cached_bytes);
            let others: Vec<_> = (0..20).map(|n| bench.allocate(GPU, 1 + (n << 17))).collect();
            assert!(others.iter().all(|other| !overlap(range(other), used)));
            drop((kept, others));
            let Bench { storage, memories } = bench;
            drop(storage);
            let left = memories[0].counters().used_bytes;
            assert!((5 << 20..=20 << 20).contains(&left), "{left} bytes are left at the device");
        }
    }
}

/// S9, S3 for every pool and both kinds of device: memory given to the host does not overlap with unfinished work.
#[test]
fn s9_random_lives_with_unfinished_work() {
    for kind in [PoolKind::BestFit, PoolKind::Naive, PoolKind::Round] {
        for seed in 0..if cfg!(miri) { 2 } else { 6_u64 } {
            let [ranges, segments] = memories(48 * MIB);
            let bench = of_kind(kind, if seed % 2 == 0 { ranges } else { segments });
            let (mut live, mut in_use): (Vec<Block>, Vec<InUse>) = (Vec::new(), Vec::new());
            let (mut state, mut n_blocks) = (seed, 0);
            for _ in 0..if cfg!(miri) { 60 } else { 600 } {
                // A linear congruential generator with Knuth's MMIX constants.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let draw = (state >> 33) as usize;
                match draw % 8 {
                    0..4 => {
                        let size = [1 + draw / 8 % 9000, 1 + draw / 8 % (6 << 20)][draw / 8 % 2];
                        match bench.storage.allocate(GPU, size, Tag::default()) {
                            Ok(block) => {
                                in_use.retain(|(_, event)| !event.is_finished());
                                assert!(in_use.iter().all(|(used, _)| !overlap(*used, range(&block))), "{kind} {seed}");
                                assert!(live.iter().all(|other| !overlap(range(other), range(&block))));
                                live.push(block);
                                n_blocks += 1;
                            }
                            Err(error) => assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}"),
                        }
                    }
                    4..7 if !live.is_empty() => {
                        let block = live.swap_remove(draw / 8 % live.len());
                        if draw % 8 < 6 {
                            let event = Event::new(1);
                            in_use.push((range(&block), Arc::clone(&event)));
                            block.used_by(dynamic(&event));
                        }
                        if (draw / 64).is_multiple_of(16) { block.free_directly() } else { drop(block) }
                    }
                    _ if !in_use.is_empty() => in_use.swap_remove(draw / 8 % in_use.len()).1.finish(),
                    _ => {}
                }
                let stats = bench.storage.stats(GPU);
                assert_eq!(stats.reserved, stats.live_blocks_bytes + stats.cached_bytes);
                assert_eq!(stats.reserved, bench.memory(GPU).counters().used_bytes);
            }
            assert!(n_blocks > if cfg!(miri) { 15 } else { 150 }, "{kind} {seed}: {n_blocks} blocks");
            live.clear();
            bench.storage.release_all(GPU);
            assert_eq!(bench.storage.stats(GPU).reserved, 0);
            assert_eq!(bench.memory(GPU).counters().used_bytes, 0);
        }
    }
}

/// The last step of a refused request: hooks release live blocks, and the request is repeated; the error lists what is
/// live.
#[test]
fn hooks_make_room_and_the_error_tells() {
    for bench in benches(20) {
        let dispensable = Arc::new(Mutex::new(vec![bench.allocate(GPU, 9 << 20)]));
        let held = Arc::clone(&dispensable);
        let guard = bench.storage.on_pressure(move |pressure| {
            assert_eq!((pressure.device, pressure.requested_bytes), (GPU, 15 << 20));
            held.lock().unwrap().clear();
        });
        let block = bench.allocate(GPU, 15 << 20);
        let stats = bench.storage.stats(GPU);
        assert_eq!((stats.pressure_rounds, stats.live_blocks), (1, 1));
        drop((block, guard));

        let pins: Vec<_> = (0..3).map(|_| bench.storage.allocate(GPU, 700, Tag::new("pin")).unwrap()).collect();
        let error = bench.storage.allocate(GPU, 30 << 20, Tag::default()).unwrap_err();
        let ErrorKind::OutOfMemory { live, cached, largest_cached, hint, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(*live, 3 * 1024);
        assert!(*cached > 0 && *largest_cached <= *cached && *largest_cached >= 1 << 20, "{error}");
        for part in ["<unk>:pin 3072 bytes in 3 blocks", "MXNET_GPU_MEM_POOL_TYPE", "were held so far", "pieces"] {
            assert!(hint.contains(part), "no {part:?} in {hint:?}");
        }
        drop(pins);
    }
}
