//! The documented pool settings (rows D13 to D28 of `docs/env.md`): their observable effects on CPU, GPU and
//! CPU_PINNED.

use crate::log_capture::info_lines;
use crate::{Bench, DEVICES, MANUAL, MIB, only};
use mxrs_storage::{PoolConfig, PoolKind, Storage, StorageConfig};
use mxrs_types::{Device, ErrorKind};

/// The manual's table, in bytes: the request, its block under Naive, its block under Round.
const TABLE: [(usize, usize, usize); 10] = [
    (1, 4096, 4096),
    (4096, 4096, 4096),
    (4097, 8192, 8192),
    (10_000, 12_288, 16_384),
    (2_097_152, 2_097_152, 2_097_152),
    (2_097_153, 4_194_304, 4_194_304),
    (5_000_000, 6_291_456, 8_388_608),
    (16_777_217, 18_874_368, 33_554_432),
    (20_000_000, 20_971_520, 33_554_432),
    (40_000_000, 41_943_040, 50_331_648),
];

#[test]
fn table_of_block_sizes() {
    for device in DEVICES {
        for kind in MANUAL {
            let bench = Bench::uniform(PoolConfig::of_kind(kind), 4096 * MIB);
            for (size, naive, round) in TABLE {
                let expected = match kind {
                    PoolKind::Naive => naive,
                    PoolKind::Round => round,
                    _ => size,
                };
                let used_before = bench.memory(device).counters().used_bytes;
                let block = bench.allocate(device, size);
                assert_eq!((block.len(), block.block_bytes()), (size, expected), "{device} {kind} {size}");
                assert_eq!(bench.memory(device).counters().used_bytes - used_before, expected as u64);
                assert_eq!(PoolConfig::of_kind(kind).block_bytes(size), Some(expected));
                block.free_directly();
            }
        }
    }
}

#[test]
fn d13_d14_d15_strategy_decides_about_reuse() {
    for device in DEVICES {
        for kind in MANUAL {
            let bench = Bench::new(only(device, PoolConfig::of_kind(kind)), 100 * MIB);
            let first = bench.allocate(device, 10_000);
            let address = first.as_ptr();
            drop(first);
            let second = bench.allocate(device, 10_000);
            if kind == PoolKind::Unpooled {
                assert_eq!(bench.memory(device).counters().allocations, 2, "{device}");
                assert_eq!(bench.storage.stats(device).hits, 0);
            } else {
                assert_eq!(second.as_ptr(), address, "{device} {kind}");
                assert_eq!(bench.memory(device).counters().allocations, 1, "{device} {kind}");
                assert_eq!(bench.storage.stats(device).hits, 1);
            }
        }
    }
}

#[test]
fn d13_d14_d15_one_line_names_the_manager() {
    let words = [(Device::cpu(0), "CPU"), (Device::gpu(0), "GPU"), (Device::cpu_pinned(0), "CPU_PINNED")];
    for (device, word) in words {
        for (kind, manager) in
            [(PoolKind::Naive, "Pooled (Naive)"), (PoolKind::Round, "Pooled (Round)"), (PoolKind::Unpooled, "Unpooled")]
        {
            let bench = Bench::new(only(device, PoolConfig::of_kind(kind)), 100 * MIB);
            let lines = info_lines(|| {
                drop(bench.allocate(device, 0));
                drop(bench.allocate(device, 100));
                drop(bench.allocate(device, 5000));
            });
            assert_eq!(lines, [format!("Using {manager} StorageManager for {word}")]);
        }
    }
}

#[test]
fn d16_d17_d18_reserve_empties_the_cache() {
    for device in DEVICES {
        // Each case: the percentage of the device's memory to leave free (the reserve), the size of the second request
        // in MiB, and the expected number of flushes.
        for (reserve_percent, second_mib, flushes) in [
            (5, 60, 1),
            (0, 60, 0),
            // If exactly the reserve stays free, the cache is not flushed; if the request is 2 MiB larger, the cache is
            // flushed.
            (5, 50, 0),
            (5, 52, 1),
            // Free memory must exceed the request even without a reserve.
            (0, 100, 1),
            (0, 98, 0),
            (100, 2, 1),
        ] {
            let config = PoolConfig { reserve_percent, ..PoolConfig::default() };
            let bench = Bench::new(only(device, config), 1000 * MIB);
            drop(bench.allocate(device, 900 << 20));
            let block = bench.allocate(device, second_mib << 20);
            let stats = bench.storage.stats(device);
            assert_eq!(stats.flushes, flushes, "{device}: {reserve_percent} %, {second_mib} MiB");
            let kept = if flushes == 1 { 0 } else { 900 * MIB };
            assert_eq!((stats.cached_bytes, stats.flushed_bytes), (kept, 900 * MIB - kept));
            assert_eq!(bench.memory(device).counters().used_bytes, kept + block.block_bytes() as u64);
        }
    }
}

#[test]
fn d16_reserve_never_refuses() {
    let bench = Bench::uniform(PoolConfig { reserve_percent: 100, ..PoolConfig::default() }, 1000 * MIB);
    let all = bench.allocate(Device::gpu(0), 1000 << 20);
    assert_eq!(all.block_bytes(), 1000 << 20);
}

#[test]
fn d19_d20_d21_large_requests_are_rounded_further() {
    for device in DEVICES {
        for (large_alloc_round_size, expected) in [(2 << 20, 6_291_456), (1, 5_001_216)] {
            let config = PoolConfig { large_alloc_round_size, ..PoolConfig::default() };
            let bench = Bench::new(only(device, config), 100 * MIB);
            assert_eq!(bench.allocate(device, 5_000_000).block_bytes(), expected, "{device}");
        }
    }
}

#[test]
fn d22_d23_d24_cutoff_ends_the_powers_of_two() {
    for device in DEVICES {
        for (round_linear_cutoff, expected) in [(24, 8_388_608), (20, 5_242_880)] {
            let config = PoolConfig { round_linear_cutoff, ..PoolConfig::of_kind(PoolKind::Round) };
            let bench = Bench::new(only(device, config), 100 * MIB);
            assert_eq!(bench.allocate(device, 5_000_000).block_bytes(), expected, "{device}");
        }
    }
}

#[test]
fn d25_d26_d27_page_is_the_smallest_unit() {
    for device in DEVICES {
        for (kind, page_size, expected) in [
            (PoolKind::Naive, 4096, 4096),
            (PoolKind::Naive, 64, 128),
            (PoolKind::Round, 4096, 4096),
            (PoolKind::Round, 64, 128),
            (PoolKind::Naive, 96, 192),
        ] {
            let config = PoolConfig { page_size, ..PoolConfig::of_kind(kind) };
            let bench = Bench::new(only(device, config), 100 * MIB);
            assert_eq!(bench.allocate(device, 100).block_bytes(), expected, "{device} {kind} {page_size}");
        }
        let config = only(device, PoolConfig { page_size: 96, ..PoolConfig::of_kind(PoolKind::Round) });
        let error = Storage::new(config).err().unwrap();
        let ErrorKind::Env { name, value, expected } = error.kind() else { panic!("{error}") };
        let word = device.kind.name().to_uppercase();
        assert_eq!((name.as_str(), value.as_str()), (format!("MXNET_{word}_MEM_POOL_PAGE_SIZE").as_str(), "96"));
        assert!(expected.contains("power of two") && expected.contains(&format!("MXNET_{word}_MEM_POOL_TYPE")));
    }
}

#[test]
fn d28_no_pools_whatever_else_is_set() {
    let round = PoolConfig::of_kind(PoolKind::Round);
    let config = StorageConfig { naive_storage_manager: true, ..StorageConfig::uniform(round) };
    let bench = Bench::new(config, 100 * MIB);
    let lines = info_lines(|| {
        for device in DEVICES {
            for n in 1..=5 {
                drop(bench.allocate(device, 10_000));
                let counters = bench.memory(device).counters();
                assert_eq!((counters.allocations, counters.frees, counters.used_bytes), (n, n, 0), "{device}");
            }
        }
    });
    assert_eq!(
        lines,
        ["CPU", "GPU", "CPU_PINNED"].map(|word| format!("Using Naive StorageManager for {word}")).to_vec()
    );
}
