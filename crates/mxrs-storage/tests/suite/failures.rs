//! The device refuses requests: guarantee S11 (see `src/lib.rs`) at every call, and the content of the error.

use crate::{Bench, MANUAL, MIB};
use mxrs_storage::{Block, DeviceMemory, MemoryInfo, PoolConfig, PoolKind, PoolStats, Storage, StorageConfig, Tag};
use mxrs_types::{Device, Error, ErrorKind, Result};
use std::ptr::NonNull;
use std::sync::Arc;

const GPU: Device = Device::gpu(0);

/// Runs a program of allocations and frees; returns the number of failed allocations. `check` gets the statistics before
/// and after each failed allocation.
fn script(bench: &Bench, check: impl Fn(PoolStats, PoolStats)) -> usize {
    let mut live: Vec<Block> = Vec::new();
    let mut n_failed = 0;
    for n in 0..24usize {
        let before = bench.storage.stats(GPU);
        match bench.storage.allocate(GPU, (n % 7 + 1) * 3000, Tag::default()) {
            Ok(block) => live.push(block),
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
                n_failed += 1;
                check(before, bench.storage.stats(GPU));
            }
        }
        if n % 3 != 0 && !live.is_empty() {
            live.swap_remove(n % live.len());
        }
    }
    n_failed
}

/// The expected statistics after a refused request: the cache was emptied, and everything else is unchanged.
fn after_refusal(before: PoolStats, n_refusals: u64) -> PoolStats {
    let mut expected = before;
    expected.refusals += n_refusals;
    expected.cached_blocks = 0;
    expected.cached_bytes = 0;
    expected.reserved -= before.cached_bytes;
    expected.system_frees += before.cached_blocks;
    expected.flushed_bytes += before.cached_bytes;
    expected.flushes += u64::from(before.cached_blocks > 0);
    expected
}

/// S11: if any request fails, once or twice in a row, the statistics stay consistent and no memory is lost.
#[test]
fn s11_every_request_may_fail() {
    for kind in MANUAL {
        let whole = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        assert_eq!(script(&whole, |_, _| ()), 0);
        let n_requests = whole.memory(GPU).n_requests();
        assert!(n_requests >= 3);
        for nth in 1..=n_requests {
            for twice in [false, true] {
                let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
                bench.memory(GPU).fail_on_request(nth);
                if twice {
                    bench.memory(GPU).fail_on_request(nth + 1);
                }
                let unpooled = kind == PoolKind::Unpooled;
                let n_failed = script(&bench, |before, after| {
                    assert_eq!(after, after_refusal(before, if unpooled { 1 } else { 2 }));
                });
                // A pool repeats a refused request, except `Unpooled`, which has nothing to release in between. After the
                // last request of the script there is no request that could fail as well.
                let expected = match (unpooled, twice) {
                    (false, false) => 0,
                    (false, true) => 1,
                    (true, true) if nth < n_requests => 2,
                    (true, _) => 1,
                };
                assert_eq!(n_failed, expected, "{kind}: request {nth}, twice: {twice}");
                bench.storage.release_all(GPU);
                let stats = bench.storage.stats(GPU);
                assert_eq!((stats.reserved, stats.live_requested), (0, 0));
                assert_eq!(bench.memory(GPU).counters().used_bytes, 0);
            }
        }
    }
}

/// S11: a size that exceeds the address space is an error that changes nothing, not even the cache.
#[test]
fn s11_impossible_sizes_change_nothing() {
    for kind in PoolKind::ALL {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        drop(bench.allocate(GPU, 5000));
        let before = bench.storage.stats(GPU);
        for size in [usize::MAX, usize::MAX - 4095] {
            let error = bench.storage.allocate(GPU, size, Tag::default()).unwrap_err();
            let ErrorKind::OutOfMemory { requested, .. } = error.kind() else { panic!("{error}") };
            assert_eq!(*requested, size as u64);
        }
        let after = bench.storage.stats(GPU);
        if kind == PoolKind::Unpooled {
            assert_eq!(after, after_refusal(before, 2));
        } else {
            assert_eq!(after, before);
        }
    }
    let host = Storage::new(StorageConfig::default()).unwrap();
    for size in [usize::MAX, isize::MAX as usize, 1 << 60] {
        let error = host.allocate(Device::cpu(0), size, Tag::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
    }
}

#[test]
fn the_error_says_what_is_where_and_what_to_change() {
    let bench = Bench::uniform(PoolConfig::default(), 100 * MIB);
    let _live = bench.allocate(GPU, (40 << 20) - 1000);
    drop(bench.allocate(GPU, 30 << 20));
    let error = bench.storage.allocate(GPU, 70 << 20, Tag::default()).unwrap_err();
    let ErrorKind::OutOfMemory { device, requested, live, cached, largest_cached, hint } = error.kind() else {
        panic!("{error}")
    };
    assert_eq!((*device, *requested), (GPU, 70 * MIB));
    assert_eq!((*live, *cached, *largest_cached), (40 * MIB, 0, 0));
    for part in ["62914560 of 104857600 bytes free", "MXNET_GPU_MEM_POOL_TYPE", "rounding takes 1000 bytes"] {
        assert!(hint.contains(part), "no {part:?} in {hint:?}");
    }
    assert!(error.to_string().starts_with("memory allocation failed: gpu(0): requested 73400320 bytes"), "{error}");
}

#[test]
fn room_is_made_by_emptying_the_cache() {
    for kind in [PoolKind::Naive, PoolKind::Round] {
        let config = PoolConfig { reserve_percent: 0, ..PoolConfig::of_kind(kind) };
        let bench = Bench::uniform(config, 100 * MIB);
        drop(bench.allocate(GPU, 80 << 20));
        let block = bench.allocate(GPU, 96 << 20);
        let stats = bench.storage.stats(GPU);
        assert_eq!((stats.flushes, stats.flushed_bytes), (1, 80 * MIB));
        assert_eq!(stats.reserved, block.block_bytes() as u64);
    }
}

/// A device that fails with its own error, or returns misaligned memory.
struct Broken {
    misaligned: bool,
}

// SAFETY: it violates the contract on purpose by returning misaligned memory; the pool must reject it, and it is never
// used.
unsafe impl DeviceMemory for Broken {
    fn device(&self) -> Device {
        GPU
    }

    fn allocate(&self, _size_bytes: usize) -> Result<NonNull<u8>> {
        if self.misaligned {
            return Ok(NonNull::without_provenance(72.try_into().unwrap()));
        }
        Err(Error::new(ErrorKind::Backend { backend: "cuda", message: "driver shutting down".into() }))
    }

    unsafe fn free(&self, ptr: NonNull<u8>, size_bytes: usize) {
        assert_eq!((ptr.addr().get(), size_bytes), (72, 4096));
    }

    fn info(&self) -> MemoryInfo {
        MemoryInfo { free: MIB, total: MIB }
    }
}

#[test]
fn other_failures_of_the_device_pass_through() {
    for (misaligned, part) in [(false, "cuda: driver shutting down"), (true, "not a multiple of 64")] {
        let device = Arc::new(Broken { misaligned });
        let storage = Storage::builder(StorageConfig::default()).device(device).build().unwrap();
        let error = storage.allocate(GPU, 100, Tag::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Backend { .. }), "{error}");
        assert!(error.to_string().contains(part), "{error}");
        assert_eq!(storage.stats(GPU).reserved, 0);
    }
}
