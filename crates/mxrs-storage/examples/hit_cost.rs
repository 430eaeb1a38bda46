//! Measures the time of a cache hit in a pool: allocating and dropping a block of a cached size, on one thread and on two.
//!
//! `cargo run --release -p mxrs-storage --example hit_cost`

use mxrs_storage::{PoolConfig, PoolKind, Storage, StorageConfig, Tag};
use mxrs_types::{Device, Result};
use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

const N_HITS: u32 = 5_000;
const N_ROUNDS: usize = 300;

/// Measures the nanoseconds per hit in `N_ROUNDS` rounds and returns the smallest, because other programs on the machine can
/// slow a round down.
fn hits(storage: &Storage, size_bytes: usize, begin: &Barrier) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..N_ROUNDS {
        begin.wait();
        let start = Instant::now();
        for _ in 0..N_HITS {
            drop(black_box(storage.allocate(Device::cpu(0), black_box(size_bytes), Tag::from("hit"))?));
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(N_HITS));
    }
    Ok(best)
}

fn main() -> Result<()> {
    for kind in [PoolKind::Naive, PoolKind::Round, PoolKind::BestFit] {
        let storage = Storage::new(StorageConfig::uniform(PoolConfig::of_kind(kind)))?;
        let alone = hits(&storage, 4096, &Barrier::new(1))?;
        let begin = Barrier::new(2);
        let together = std::thread::scope(|scope| {
            let run = |size_bytes| hits(&storage, size_bytes, &begin);
            let other = scope.spawn(move || run(65_536));
            Ok::<_, mxrs_types::Error>(run(4096)?.max(other.join().unwrap_or(Ok(f64::NAN))?))
        })?;
        println!("{kind}: {alone:.1} ns on one thread, {together:.1} ns on each of two");
    }
    Ok(())
}
