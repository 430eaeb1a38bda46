//! What each kind of pool makes of the same work: 200 passes over sentences of changing length on a simulated GPU.
//!
//! `cargo run -p mxrs-storage --example pools`

use mxrs_storage::{PoolConfig, PoolKind, SimulatedMemory, Storage, StorageConfig, Tag};
use mxrs_types::{Device, Result};
use std::sync::Arc;

const GPU: Device = Device::gpu(0);
const N_LAYERS: usize = 12;
const WIDTH: usize = 512;

fn main() -> Result<()> {
    println!(
        "{:10} {:>9} {:>9} {:>8} {:>14} {:>14}",
        "pool", "requests", "hits", "flushes", "peak live MiB", "peak held MiB"
    );
    for kind in PoolKind::ALL {
        let gpu = Arc::new(SimulatedMemory::new(GPU, 2 << 30).unbacked());
        let config = StorageConfig { gpu: PoolConfig::of_kind(kind), ..StorageConfig::default() };
        let storage = Storage::builder(config).device(gpu).build()?;

        for pass in 0..200usize {
            // Lengths from 16 to 511 words in an order that repeats late.
            let n_words = 16 + pass * 181 % 496;
            let mut activations = Vec::new();
            for layer in 0..N_LAYERS {
                let size_bytes = n_words * WIDTH * size_of::<f32>() * (1 + layer % 4);
                activations.push(storage.allocate(GPU, size_bytes, Tag::new("activation").scoped("encoder:"))?);
            }
        }

        let stats = storage.stats(GPU);
        println!(
            "{kind:10} {:>9} {:>9} {:>8} {:>14} {:>14}",
            stats.system_requests,
            stats.hits,
            stats.flushes,
            stats.peak_live_requested >> 20,
            stats.peak_reserved >> 20
        );
    }

    let small = Arc::new(SimulatedMemory::new(GPU, 1 << 20).unbacked());
    let storage = Storage::builder(StorageConfig::default()).device(small).build()?;
    if let Err(error) = storage.allocate(GPU, 5_000_000, Tag::new("too large")) {
        println!("\nan error reads: {error}");
    }
    Ok(())
}
