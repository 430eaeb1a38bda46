//! Rows D13 to D28 of `docs/env.md`, with the older names O4 to O7: the pools of CPU, CPU_PINNED and GPU memory.
//!
//! CPU and CPU_PINNED are the runtime's own pools. There is no GPU: simulated GPU memory gets the settings that the runtime
//! has for GPU memory.

use crate::log_lines::log_lines;
use crate::{Vars, builder, check_older_name, runtime, warnings};
use mxrs::ndarray::NdArray;
use mxrs::storage::{PoolStats, Storage, Tag};
use mxrs::types::{DType, Device, ErrorKind};
use mxrs_simulated_gpu::SimulatedMemory;
use std::sync::Arc;

const MIB: usize = 1 << 20;

/// A kind of memory, and the variables of its pools.
struct Kind {
    device: Device,
    word: &'static str,
    pool_type: &'static str,
    reserve: &'static str,
    large: &'static str,
    cutoff: &'static str,
    page: &'static str,
}

const KINDS: [Kind; 3] = [
    Kind {
        device: Device::gpu(0),
        word: "GPU",
        pool_type: "MXNET_GPU_MEM_POOL_TYPE",
        reserve: "MXNET_GPU_MEM_POOL_RESERVE",
        large: "MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE",
        cutoff: "MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF",
        page: "MXNET_GPU_MEM_POOL_PAGE_SIZE",
    },
    Kind {
        device: Device::cpu(0),
        word: "CPU",
        pool_type: "MXNET_CPU_MEM_POOL_TYPE",
        reserve: "MXNET_CPU_MEM_POOL_RESERVE",
        large: "MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE",
        cutoff: "MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF",
        page: "MXNET_CPU_MEM_POOL_PAGE_SIZE",
    },
    Kind {
        device: Device::cpu_pinned(0),
        word: "CPU_PINNED",
        pool_type: "MXNET_CPU_PINNED_MEM_POOL_TYPE",
        reserve: "MXNET_CPU_PINNED_MEM_POOL_RESERVE",
        large: "MXNET_CPU_PINNED_MEM_LARGE_ALLOC_ROUND_SIZE",
        cutoff: "MXNET_CPU_PINNED_MEM_POOL_ROUND_LINEAR_CUTOFF",
        page: "MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE",
    },
];

/// Storage with the runtime's settings on simulated memory of one device.
fn simulated(vars: Vars<'_>, device: Device, total_bytes: usize) -> Storage {
    let memory = SimulatedMemory::new(device, total_bytes as u64);
    let memory = if device.is_host() { memory } else { memory.unbacked() };
    Storage::builder(*runtime(vars).storage().config()).device(Arc::new(memory)).build().unwrap()
}

fn storage(vars: Vars<'_>, kind: &Kind) -> Storage {
    match kind.word {
        "GPU" => simulated(vars, kind.device, 4096 * MIB),
        _ => runtime(vars).storage().clone(),
    }
}

/// Size in bytes of the block that a request gets.
fn block_bytes(vars: Vars<'_>, kind: &Kind, size_bytes: usize) -> usize {
    storage(vars, kind).allocate(kind.device, size_bytes, Tag::default()).unwrap().block_bytes()
}

/// The documented table. Columns: request, block with Naive, block with Round.
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
fn d13_d14_d15_the_table_of_block_sizes() {
    for kind in &KINDS {
        for word in ["", "Naive", "Round", "Unpooled"] {
            let storage = storage(&[(kind.pool_type, word)], kind);
            for (size, naive, round) in TABLE {
                let expected = match word {
                    "Round" => round,
                    "Unpooled" => size,
                    _ => naive,
                };
                let block = storage.allocate(kind.device, size, Tag::default()).unwrap();
                assert_eq!(block.block_bytes(), expected, "{} {word} {size}", kind.word);
            }
        }
    }
}

/// Arrays that a program creates on `cpu_pinned` use that pool.
#[test]
fn d15_is_the_pool_of_arrays_on_cpu_pinned() {
    for (word, expected) in [("Naive", 6_291_456), ("Round", 8_388_608), ("Unpooled", 5_000_000)] {
        let runtime = runtime(&[("MXNET_CPU_PINNED_MEM_POOL_TYPE", word)]);
        let device = Device::cpu_pinned(0);
        let array = NdArray::empty(runtime.arrays(), [5_000_000], DType::U8, device, "pinned").unwrap();
        array.copy_from(&vec![7_u8; 5_000_000]).unwrap();
        assert_eq!(array.to_vec::<u8>().unwrap()[4_999_999], 7);
        assert_eq!(runtime.storage().stats(device).live_blocks_bytes, expected, "{word}");
    }
}

/// Allocates, frees and allocates again. Returns the counters, and whether the address was the same.
fn twice(vars: Vars<'_>, kind: &Kind) -> (PoolStats, bool) {
    let storage = storage(vars, kind);
    let first = storage.allocate(kind.device, 10_000, Tag::default()).unwrap();
    let address = first.as_ptr();
    drop(first);
    let second = storage.allocate(kind.device, 10_000, Tag::default()).unwrap();
    (storage.stats(kind.device), second.as_ptr() == address)
}

#[test]
fn d13_d14_d15_freed_blocks_are_kept_or_not() {
    for kind in &KINDS {
        for word in ["Naive", "Round", "BestFit"] {
            let (stats, is_same) = twice(&[(kind.pool_type, word)], kind);
            assert_eq!((stats.system_requests, stats.hits, is_same), (1, 1, true), "{} {word}", kind.word);
        }
        let (stats, _) = twice(&[(kind.pool_type, "Unpooled")], kind);
        assert_eq!((stats.system_requests, stats.system_frees, stats.hits), (2, 1, 0), "{}", kind.word);
    }
}

#[test]
fn d13_d14_d15_one_line_names_the_manager() {
    for kind in &KINDS {
        for (word, manager) in [
            ("Naive", "Pooled (Naive)"),
            ("Round", "Pooled (Round)"),
            ("Unpooled", "Unpooled"),
            ("BestFit", "Pooled (BestFit)"),
        ] {
            let storage = storage(&[(kind.pool_type, word)], kind);
            let (_, lines) = log_lines(|| {
                for size in [0, 100, 5000] {
                    storage.allocate(kind.device, size, Tag::default()).unwrap();
                }
            });
            assert_eq!(lines, [format!("INFO Using {manager} StorageManager for {}", kind.word)]);
        }
    }
}

/// On a device with 1000 MiB, 900 MiB are allocated and freed, then 60 MiB are requested.
#[test]
fn d16_d17_d18_a_reserve_empties_the_cache() {
    for kind in &KINDS {
        for (percent, flushes) in [("", 1), ("5", 1), ("0", 0), ("4", 0)] {
            let storage = simulated(&[(kind.reserve, percent)], kind.device, 1000 * MIB);
            drop(storage.allocate(kind.device, 900 * MIB, Tag::default()).unwrap());
            drop(storage.allocate(kind.device, 60 * MIB, Tag::default()).unwrap());
            assert_eq!(storage.stats(kind.device).flushes, flushes, "{} {percent:?} %", kind.word);
        }
    }
}

/// On the machine's own memory, a reserve of 100 % is never free, so pools cannot keep memory. A reserve of 0 % is always
/// free.
#[test]
fn d17_d18_the_reserve_is_a_share_of_system_memory() {
    for kind in KINDS.iter().filter(|kind| kind.word != "GPU") {
        for (percent, flushes) in [("100", 1), ("0", 0)] {
            let storage = storage(&[(kind.reserve, percent)], kind);
            drop(storage.allocate(kind.device, 10_000, Tag::default()).unwrap());
            drop(storage.allocate(kind.device, 50_000, Tag::default()).unwrap());
            assert_eq!(storage.stats(kind.device).flushes, flushes, "{} {percent} %", kind.word);
        }
    }
}

#[test]
fn d19_d20_d21_large_requests_are_rounded_further() {
    for kind in &KINDS {
        assert_eq!(block_bytes(&[], kind, 5_000_000), 6_291_456, "{}", kind.word);
        // A value of 1 disables the rounding: only pages of 4096 bytes remain.
        assert_eq!(block_bytes(&[(kind.large, "1")], kind, 5_000_000), 5_001_216, "{}", kind.word);
        assert_eq!(block_bytes(&[(kind.large, "4194304")], kind, 5_000_000), 8_388_608, "{}", kind.word);
    }
}

#[test]
fn d22_d23_d24_the_cutoff_ends_the_powers_of_two() {
    for kind in &KINDS {
        for (cutoff, expected) in [("24", 8_388_608), ("20", 5 << 20), ("22", 8 << 20)] {
            let vars = [(kind.pool_type, "Round"), (kind.cutoff, cutoff)];
            assert_eq!(block_bytes(&vars, kind, 5_000_000), expected, "{} {cutoff}", kind.word);
        }
        assert_eq!(block_bytes(&[(kind.cutoff, "20")], kind, 5_000_000), 6_291_456, "no effect under Naive");
    }
}

#[test]
fn d25_d26_d27_the_page_is_the_unit() {
    for kind in &KINDS {
        assert_eq!(block_bytes(&[], kind, 100), 4096, "{}", kind.word);
        assert_eq!(block_bytes(&[(kind.page, "64")], kind, 100), 128, "{}", kind.word);
        assert_eq!(block_bytes(&[(kind.page, "64"), (kind.pool_type, "Round")], kind, 100), 128, "{}", kind.word);
        assert_eq!(block_bytes(&[(kind.page, "96")], kind, 100), 192, "{}", kind.word);
    }
}

#[test]
fn d25_d26_d27_round_wants_a_power_of_two_and_a_cutoff_above_it() {
    let error = |vars: Vars<'_>| builder(vars).build().err().unwrap();
    for Kind { pool_type, page, cutoff, .. } in &KINDS {
        let refused = error(&[(page, "96"), (pool_type, "Round")]);
        assert!(matches!(refused.kind(), ErrorKind::Env { .. }));
        let expected = format!("{page}: invalid value \"96\": expected a power of two, because {pool_type} is Round");
        assert_eq!(refused.to_string(), expected);
        let refused = error(&[(page, "33554432"), (pool_type, "Round")]).to_string();
        assert!(refused.starts_with(&format!("{cutoff}: invalid value \"24\"")) && refused.contains(page), "{refused}");
    }
}

const NO_POOLS: &str = "MXNET_USE_NAIVE_STORAGE_MANAGERS";

/// Number of system requests for two allocations one after the other, for each kind of memory.
fn system_requests(vars: Vars<'_>) -> [u64; 3] {
    [0, 1, 2].map(|i| twice(vars, &KINDS[i]).0.system_requests)
}

#[test]
fn d28_removes_the_pools_of_all_kinds() {
    let round = [(KINDS[0].pool_type, "Round"), (KINDS[1].pool_type, "Round"), (KINDS[2].pool_type, "Round")];
    for (value, n_requests) in [("1", 2), ("7", 2), ("-1", 2), ("0", 1), ("", 1)] {
        let vars = [&round[..], &[(NO_POOLS, value)]].concat();
        assert_eq!(system_requests(&vars), [n_requests; 3], "{value:?}");
    }
}

#[test]
fn o4_is_d28() {
    check_older_name("MXNET_USE_NAIVE_STORAGE_MANAGER", NO_POOLS, ["1", "0"], system_requests);
}

#[test]
fn o5_o6_o7_are_d25_d26_d27() {
    let older = ["MXNET_GPU_POOL_PAGE_SIZE", "MXNET_CPU_POOL_PAGE_SIZE", "MXNET_CPU_PINNED_POOL_PAGE_SIZE"];
    for (older, kind) in older.into_iter().zip(&KINDS) {
        check_older_name(older, kind.page, ["64", "256"], |vars| block_bytes(vars, kind, 100));
    }
}

/// Valid settings of GPU pools have no effect in this build, and one warning says so.
#[test]
fn gpu_settings_are_said_to_have_no_effect_here() {
    let gpu = &KINDS[0];
    for (name, value) in
        [(gpu.pool_type, "Round"), (gpu.reserve, "7"), (gpu.large, "1"), (gpu.cutoff, "20"), (gpu.page, "64")]
    {
        assert_eq!(
            warnings(&[(name, value)]),
            [format!("{name}={value} has no effect: it needs a GPU device, which this build has none of")]
        );
    }
    assert!(warnings(&[(gpu.pool_type, "Naive"), (KINDS[1].pool_type, "Round")]).is_empty());
}
