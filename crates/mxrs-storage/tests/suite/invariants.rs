//! Tests the guarantees S1 to S8 and S13 of a pool (see `src/lib.rs`) one by one, and special cases of the interface.

use crate::{Bench, DEVICES, MANUAL, MIB, only};
use mxrs_simulated_gpu::SimulatedMemory;
use mxrs_storage::{ALIGNMENT, Block, PoolConfig, PoolKind, Storage, StorageConfig, Tag};
use mxrs_types::{Device, ErrorKind};

const POOLED: [PoolKind; 2] = [PoolKind::Naive, PoolKind::Round];

/// S1: every block starts at a multiple of 64, on every device, even with small pages.
#[test]
fn s1_blocks_are_aligned() {
    for kind in PoolKind::ALL {
        let page_size = if kind == PoolKind::Naive { 33 } else { 32 };
        let config = StorageConfig::uniform(PoolConfig { page_size, ..PoolConfig::of_kind(kind) });
        let host = Storage::new(config).unwrap();
        let simulated = Bench::of(config, DEVICES.map(|device| SimulatedMemory::new(device, 100 * MIB)));
        let mut kept = Vec::new();
        for size in [1, 31, 33, 64, 65, 100, 4097, 1 << 20, (2 << 20) + 1] {
            for device in DEVICES {
                kept.push(simulated.allocate(device, size));
            }
            kept.push(host.allocate(Device::cpu(0), size, Tag::default()).unwrap());
            kept.push(host.allocate(Device::cpu_pinned(0), size, Tag::default()).unwrap());
        }
        for block in &kept {
            assert!(block.as_ptr().addr().is_multiple_of(ALIGNMENT), "{kind}: {block:?}");
        }
    }
}

/// S2: live blocks do not overlap: each block is written completely, and at the end still contains the bytes written to it.
#[test]
fn s2_live_blocks_are_disjoint() {
    for kind in PoolKind::ALL {
        let storage = Storage::new(StorageConfig::uniform(PoolConfig::of_kind(kind))).unwrap();
        let mut live: Vec<(Block, u8)> = Vec::new();
        for round in 0..60u8 {
            let size = 1 + usize::from(round) * 977;
            let block = storage.allocate(Device::cpu(0), size, Tag::default()).unwrap();
            // SAFETY: host memory of this many bytes that only this test uses.
            unsafe { block.as_ptr().write_bytes(round, block.block_bytes()) };
            live.push((block, round));
            if round % 3 == 2 {
                live.swap_remove(usize::from(round) / 3);
            }
        }
        for (block, fill) in &live {
            // SAFETY: all `block_bytes` bytes were written above.
            let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr(), block.block_bytes()) };
            assert!(bytes.iter().all(|byte| byte == fill));
        }
    }
}

/// S3: `reserved` is the sum of live and cached bytes and agrees with the device; in the end it is 0.
#[test]
fn s3_books_agree_with_the_device() {
    for device in DEVICES {
        for kind in MANUAL {
            let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
            let a = bench.allocate(device, 5000);
            let b = bench.allocate(device, 3 << 20);
            drop(a);
            let stats = bench.storage.stats(device);
            assert_eq!(stats.live_requested, 3 << 20);
            assert_eq!(stats.live_blocks_bytes, b.block_bytes() as u64);
            assert_eq!(stats.cached_bytes, if kind == PoolKind::Unpooled { 0 } else { 8192 });
            assert_eq!(stats.reserved, stats.live_blocks_bytes + stats.cached_bytes);
            assert_eq!(stats.reserved, bench.memory(device).counters().used_bytes);
            drop(b);
            bench.storage.release_all(device);
            let stats = bench.storage.stats(device);
            assert_eq!((stats.reserved, stats.live_requested, stats.live_blocks), (0, 0, 0));
            assert_eq!(stats.peak_reserved, bench.memory(device).counters().peak_used_bytes);
            assert_eq!(bench.memory(device).counters().used_bytes, 0);
            bench.storage.reset_peaks(device);
            assert_eq!(bench.storage.stats(device).peak_reserved, 0);
        }
    }
}

/// S4: a request for exactly the size of a block is in the size class of that block. The unit tests of `rounding` check this
/// for random sizes.
#[test]
fn s4_block_size_is_its_own_class() {
    for kind in POOLED {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        for size in [1, 5000, 3 << 20, 17 << 20] {
            let block = bench.allocate(Device::gpu(0), size);
            let (address, block_bytes) = (block.as_ptr(), block.block_bytes());
            drop(block);
            let again = bench.allocate(Device::gpu(0), block_bytes);
            assert_eq!((again.as_ptr(), again.block_bytes()), (address, block_bytes));
        }
    }
}

/// S5: freed blocks are reused last in, first out.
#[test]
fn s5_last_freed_is_first_reused() {
    for kind in POOLED {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        let blocks = [5000, 6000, 7000].map(|size| bench.allocate(Device::gpu(0), size));
        let addresses = blocks.each_ref().map(Block::as_ptr);
        for block in blocks {
            drop(block);
        }
        let again = [8000, 5001, 8192].map(|size| bench.allocate(Device::gpu(0), size));
        assert_eq!(again.each_ref().map(Block::as_ptr), [addresses[2], addresses[1], addresses[0]]);
    }
}

/// S6: a second call of release_all does nothing, and release_all does not affect live blocks or other devices.
#[test]
fn s6_release_all_empties_this_cache_only() {
    for kind in POOLED {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        let live = bench.allocate(Device::gpu(0), 10_000);
        drop(bench.allocate(Device::gpu(0), 20_000));
        drop(bench.allocate(Device::cpu(0), 20_000));
        let cached = bench.storage.stats(Device::gpu(0)).cached_bytes;
        let elsewhere = bench.storage.stats(Device::cpu(0));
        assert_eq!(bench.storage.release_all(Device::gpu(0)), cached);
        let stats = bench.storage.stats(Device::gpu(0));
        assert_eq!((stats.cached_bytes, stats.live_blocks, stats.flushes), (0, 1, 0));
        assert_eq!(bench.memory(Device::gpu(0)).counters().used_bytes, live.block_bytes() as u64);
        assert_eq!(bench.storage.release_all(Device::gpu(0)), 0);
        assert_eq!(bench.storage.stats(Device::gpu(0)), stats);
        assert_eq!(bench.storage.stats(Device::cpu(0)), elsewhere);
    }
}

/// S7: a block that was freed directly is never reused, and `reserved` decreases by its size.
#[test]
fn s7_direct_free_bypasses_the_cache() {
    for kind in MANUAL {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        let block = bench.allocate(Device::gpu(0), 10_000);
        let (address, block_bytes) = (block.as_ptr(), block.block_bytes() as u64);
        let reserved = bench.storage.stats(Device::gpu(0)).reserved;
        block.free_directly();
        let stats = bench.storage.stats(Device::gpu(0));
        assert_eq!((stats.reserved, stats.cached_bytes), (reserved - block_bytes, 0));
        // The simulated device never returns an address twice, so only a cache could return this one.
        assert_ne!(bench.allocate(Device::gpu(0), 10_000).as_ptr(), address);
    }
}

/// S8: a pool uses memory that it should leave free (the reserve) only with an empty cache: in the log of calls, all
/// frees precede the request.
#[test]
fn s8_cache_is_empty_before_growth_into_the_reserve() {
    use mxrs_simulated_gpu::SimulatedCall::{Allocate, Free};
    for kind in POOLED {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        let blocks: Vec<_> = (0..5).map(|_| bench.allocate(Device::gpu(0), 16 << 20)).collect();
        drop(blocks);
        let n_before = bench.memory(Device::gpu(0)).calls().len();
        // 20 MiB are free. A request of 16 MiB would leave 4 MiB, which is less than the reserve of 5 MiB.
        let _block = bench.allocate(Device::gpu(0), (15 << 20) + (1 << 19));
        let stats = bench.storage.stats(Device::gpu(0));
        if kind == PoolKind::Round {
            assert_eq!(stats.hits, 1, "both sizes share a bucket under Round");
            continue;
        }
        assert_eq!((stats.flushes, stats.hits), (0, 1), "15.5 MiB round up to 16");
        let _other = bench.allocate(Device::gpu(0), 18 << 20);
        let calls = bench.memory(Device::gpu(0)).calls();
        let changes: Vec<_> =
            calls[n_before..].iter().filter(|call| matches!(call, Allocate { .. } | Free { .. })).collect();
        assert!(changes[..4].iter().all(|call| matches!(call, Free { size_bytes: 16_777_216, .. })), "{changes:?}");
        assert!(matches!(changes[4], Allocate { size_bytes: 18_874_368, address: Some(_) }), "{changes:?}");
        assert_eq!(changes.len(), 5);
    }
}

/// S13: without a pool, each allocation of at least 1 byte is one request to the device, and all memory is returned to it.
#[test]
fn s13_unpooled_asks_the_device_each_time() {
    for device in DEVICES {
        let bench = Bench::new(only(device, PoolConfig::of_kind(PoolKind::Unpooled)), 100 * MIB);
        let blocks: Vec<_> = (0..40).map(|n| bench.allocate(device, n % 4 * 1000)).collect();
        let counters = bench.memory(device).counters();
        assert_eq!((counters.allocations, counters.infos), (30, 0));
        drop(blocks);
        let stats = bench.storage.stats(device);
        assert_eq!((stats.allocations, stats.frees, stats.system_requests, stats.system_frees), (30, 30, 30, 30));
        assert_eq!(bench.memory(device).counters().used_bytes, 0);
    }
}

#[test]
fn size_zero_touches_nothing() {
    let bench = Bench::uniform(PoolConfig::default(), 100 * MIB);
    for device in DEVICES.into_iter().chain([Device::gpu(7)]) {
        let block = bench.allocate(device, 0);
        assert!(block.is_empty() && block.block_bytes() == 0 && block.device() == device);
        assert!(block.as_ptr().addr().is_multiple_of(ALIGNMENT) && !block.as_ptr().is_null());
        block.free_directly();
        drop(bench.allocate(device, 0));
    }
    assert_eq!(bench.storage.stats_all(), []);
    assert!(bench.memories.iter().all(|memory| memory.calls().is_empty()));
}

#[test]
fn cpu_ids_share_a_pool_and_gpu_ids_do_not() {
    let memories = [Device::cpu(0), Device::gpu(0), Device::gpu(1)];
    let bench = Bench::of(StorageConfig::default(), memories.map(|device| crate::addresses_only(device, MIB)));
    let block = bench.allocate(Device::cpu(0), 100);
    let address = block.as_ptr();
    drop(block);
    let again = bench.allocate(Device::cpu(3), 100);
    assert_eq!((again.as_ptr(), again.device()), (address, Device::cpu(3)));

    drop(bench.allocate(Device::gpu(0), 100));
    let _other = bench.allocate(Device::gpu(1), 100);
    assert_eq!(bench.storage.stats(Device::gpu(1)).hits, 0);
    let used: Vec<_> = bench.storage.stats_all().into_iter().map(|(device, _)| device).collect();
    assert_eq!(used, memories);
}

#[test]
fn a_process_without_gpus_has_plain_pinned_memory_with_its_own_settings() {
    let config = StorageConfig { cpu_pinned: PoolConfig::of_kind(PoolKind::Round), ..StorageConfig::default() };
    let storage = Storage::new(config).unwrap();
    let block = storage.allocate(Device::cpu_pinned(2), 10_000, Tag::default()).unwrap();
    assert_eq!((block.block_bytes(), block.device()), (16_384, Device::cpu_pinned(2)));
    assert_eq!(storage.allocate(Device::cpu(0), 10_000, Tag::default()).unwrap().block_bytes(), 12_288);
    let missing = Device::gpu(0);
    let error = storage.allocate(missing, 1, Tag::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotBuilt { .. }), "{error}");
    assert!(error.to_string().contains("cpu(0), cpu_pinned(0), cpu_shared(0)"), "{error}");
    assert_eq!(storage.release_all(missing), 0);
}

#[test]
fn round_serves_more_than_16_gib() {
    const GIB: usize = 1 << 30;
    for round_linear_cutoff in [20, 24, 34] {
        let config = PoolConfig { round_linear_cutoff, ..PoolConfig::of_kind(PoolKind::Round) };
        let bench = Bench::uniform(config, 1 << 42);
        for (size, expected) in [(17 * GIB, 17 * GIB), (80 * GIB, 80 * GIB), (140 * GIB - 5, 140 * GIB)] {
            let unit = 1usize << round_linear_cutoff;
            let expected = expected.max(unit).div_ceil(unit) * unit;
            let block = bench.allocate(Device::gpu(0), size);
            assert_eq!(block.block_bytes(), expected, "cutoff {round_linear_cutoff}");
            let address = block.as_ptr();
            drop(block);
            assert_eq!(bench.allocate(Device::gpu(0), size).as_ptr(), address);
        }
    }
}

#[test]
fn blocks_outlive_every_handle() {
    for kind in PoolKind::ALL {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        let blocks = [1000, 2000].map(|size| bench.allocate(Device::gpu(0), size));
        drop(bench.allocate(Device::gpu(0), 50_000));
        let Bench { storage, memories } = bench;
        drop(storage);
        let [first, second] = blocks;
        drop(first);
        assert!(memories[1].counters().used_bytes > 0);
        second.free_directly();
        assert_eq!(memories[1].counters().used_bytes, 0, "{kind}");
    }
}

#[test]
fn blocks_keep_their_tag_and_can_change_thread() {
    fn assert_free<T: Send + Sync>(_: &T) {}
    let bench = Bench::uniform(PoolConfig::default(), MIB);
    assert_free(&bench.storage);
    let block = bench.storage.allocate(Device::gpu(0), 8, Tag::new("weight").scoped("net:")).unwrap();
    assert_free(&block);
    assert_eq!(block.tag().to_string(), "net:weight");
    std::thread::spawn(move || drop(block)).join().unwrap();
    assert_eq!(bench.allocate(Device::gpu(0), 8).tag().to_string(), "<unk>:test");
    assert_eq!(bench.storage.stats(Device::gpu(0)).hits, 1);
}
