//! Compares all kinds of pool on the same work: 200 passes over sentences of changing length on a simulated GPU.
//!
//! `cargo run -p mxrs-storage --example pools`

use mxrs_simulated_gpu::SimulatedMemory;
use mxrs_storage::{PoolConfig, PoolKind, Storage, StorageConfig, Tag};
use mxrs_types::{Device, Result};
use std::sync::{Arc, Mutex};

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
            // Sentences of 16 to 511 words; the sequence of lengths repeats only after 496 passes.
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

    println!();
    // Lists live memory by tag, and registers a hook that releases some memory when the device has too little.
    let small = Arc::new(SimulatedMemory::new(GPU, 8 << 20).unbacked());
    let storage = Storage::builder(StorageConfig::default()).device(small).build()?;
    let _weights = storage.allocate(GPU, 3 << 20, Tag::new("weights").scoped("net:"))?;
    let scratch = Mutex::new(vec![storage.allocate(GPU, 2 << 20, Tag::new("scratch"))?]);
    for (tag, of_tag) in storage.tags(GPU) {
        println!("{tag}: {} blocks, {} KiB", of_tag.blocks, of_tag.bytes >> 10);
    }
    let _guard = storage.on_pressure(move |_| {
        if let Ok(mut scratch) = scratch.lock() {
            scratch.clear();
        }
    });
    let _activations = storage.allocate(GPU, 4 << 20, Tag::new("activations"))?;
    println!("hooks ran {} time(s) to make room", storage.stats(GPU).pressure_rounds);
    if let Err(error) = storage.allocate(GPU, 5_000_000, Tag::new("too large")) {
        println!("an error reads: {error}");
    }
    Ok(())
}
