//! Measures how much memory the pools hold relative to the live blocks: replays traces of training on a simulated device.

use mxrs_benches::traces::{Event, Trace, resnet50_training, variable_length_recurrent};
use mxrs_simulated_gpu::SimulatedMemory;
use mxrs_storage::{Block, PoolConfig, PoolKind, Storage, StorageConfig, Tag};
use mxrs_types::Device;
use std::sync::Arc;

/// A device whose memory the host cannot access, so the simulated memory only hands out addresses.
const DEVICE: Device = Device::gpu(0);
const GIB: u64 = 1 << 30;

/// Replays the trace; returns the peak of reserved bytes divided by the peak of live bytes.
fn replay(kind: PoolKind, trace: &Trace) -> f64 {
    let memory = SimulatedMemory::new(DEVICE, 64 * GIB).unbacked().with_ranges(2 << 20, 1 << 40);
    let config = StorageConfig::uniform(PoolConfig::of_kind(kind));
    let storage = Storage::builder(config).device(Arc::new(memory)).build().expect("valid settings");
    let mut live: Vec<Option<Block>> = (0..trace.n_ids).map(|_| None).collect();
    for event in &trace.events {
        match *event {
            Event::Alloc { id, bytes } => {
                live[id] = Some(storage.allocate(DEVICE, bytes, Tag::from("trace")).expect("there is room"));
            }
            Event::Free { id } => live[id] = None,
        }
    }
    let stats = storage.stats(DEVICE);
    assert_eq!(stats.peak_live_requested, trace.peak_live());
    stats.peak_reserved as f64 / stats.peak_live_requested as f64
}

#[test]
fn best_fit_holds_at_most_a_twentieth_more_than_is_live() {
    for seed in 1..=6 {
        let ratio = replay(PoolKind::BestFit, &variable_length_recurrent(300, seed));
        println!("variable length, seed {seed}: BestFit {ratio:.3}");
        assert!(ratio <= 1.05, "seed {seed}: {ratio}");
    }
    for batch in [1, 32] {
        let ratio = replay(PoolKind::BestFit, &resnet50_training(batch, 4));
        println!("resnet-50, batch {batch}: BestFit {ratio:.3}");
        assert!(ratio <= 1.05, "batch {batch}: {ratio}");
    }
}

/// Pools that round sizes to classes hold much more memory if sizes keep changing. This is the reason for the fourth kind of
/// pool, BestFit.
#[test]
fn pools_of_classes_hold_more_where_lengths_vary() {
    let trace = variable_length_recurrent(60, 1);
    let [naive, round] = [PoolKind::Naive, PoolKind::Round].map(|kind| replay(kind, &trace));
    println!("variable length: Naive {naive:.2}, Round {round:.2}");
    assert!(naive > 1.5 && round > 1.2, "Naive {naive}, Round {round}");
}
