//! Times allocations that a pool serves from freed memory, for each pool strategy.
#![allow(missing_docs)] // criterion's macros make an undocumented main

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mxrs_storage::{PoolConfig, PoolKind, Storage, StorageConfig, Tag};
use mxrs_types::Device;

fn storage(c: &mut Criterion) {
    let mut group = c.benchmark_group("storage/cpu");
    for kind in PoolKind::ALL {
        let storage = Storage::new(StorageConfig::uniform(PoolConfig::of_kind(kind))).expect("the pools start");
        for size in [4096usize, 1 << 20] {
            group.bench_with_input(BenchmarkId::new(format!("{kind:?}"), size), &size, |b, &size| {
                b.iter(|| storage.allocate(Device::cpu(0), size, Tag::from("bench")).expect("there is memory"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, storage);
criterion_main!(benches);
