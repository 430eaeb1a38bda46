//! Tests arrays on simulated devices: their contents, which calls wait, and what remains after failures. The tests run on
//! every kind of engine and in both modes of [`GpuSync`].
#![cfg(not(loom))]

mod contents;
mod deletion;
mod failures;
mod random;
mod waits;
mod workspaces;

use mxrs_engine::{Engine, EngineConfig, EngineKind};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_simulated_gpu::{SimulatedDevice, SimulatedMemory};
use mxrs_storage::{Storage, StorageConfig};
use mxrs_types::{Device, GpuSync};
use std::sync::Arc;
use std::time::{Duration, Instant};

const CPU: Device = Device::cpu(0);
const GPU: Device = Device::gpu(0);
const PEER: Device = Device::gpu(1);
const PINNED: Device = Device::cpu_pinned(0);

/// The devices on which these tests make arrays.
const PLACES: [Device; 5] = [CPU, Device::cpu(1), PINNED, GPU, PEER];

/// The tested engines: each kind, with each mode of [`GpuSync`] that the kind supports.
const ENGINES: [(EngineKind, GpuSync); 5] = [
    (EngineKind::Naive, GpuSync::Event),
    (EngineKind::Threaded, GpuSync::Event),
    (EngineKind::Threaded, GpuSync::Host),
    (EngineKind::ThreadedPerDevice, GpuSync::Event),
    (EngineKind::ThreadedPerDevice, GpuSync::Host),
];

/// A machine with two GPUs and pinned memory of its own.
struct World {
    gpus: [Arc<SimulatedDevice>; 2],
    pinned: [Arc<SimulatedMemory>; 2],
    context: ArrayContext,
}

impl World {
    fn new(engine: (EngineKind, GpuSync)) -> Self {
        Self::with_storage(engine, StorageConfig::default())
    }

    fn with_storage(engine: (EngineKind, GpuSync), storage: StorageConfig) -> Self {
        Self::with(engine, storage, true)
    }

    fn with((kind, sync): (EngineKind, GpuSync), storage: StorageConfig, are_copies_direct: bool) -> Self {
        let first = SimulatedDevice::new(GPU, 16 << 20);
        let gpus = [Arc::clone(&first), first.beside(PEER, 16 << 20)];
        let pinned = [0, 1].map(|id| Arc::new(SimulatedMemory::new(Device::cpu_pinned(id), 16 << 20)));
        let builder = Storage::builder(storage);
        let builder = gpus.iter().fold(builder, |builder, gpu| builder.device(gpu.device_memory()));
        let builder = pinned.iter().fold(builder, |builder, memory| builder.device(memory.clone()));
        let storage = builder.build().unwrap();
        let config = EngineConfig { kind, is_async: false, gpu_sync: sync, ..EngineConfig::default() };
        let engine = gpus.iter().fold(Engine::builder(config), |engine, gpu| engine.gpu(gpu.gpu_device()));
        let builder = ArrayContext::builder(engine.build().unwrap(), storage).direct_copies(are_copies_direct);
        let context = gpus.iter().fold(builder, |builder, gpu| builder.device(gpu.clone())).build().unwrap();
        Self { gpus, pinned, context }
    }

    fn array(&self, device: Device, elements: &[f32]) -> NdArray {
        NdArray::from_slice_on(&self.context, [elements.len()], elements, device).unwrap()
    }

    /// How often the host has waited for a stream or for an unfinished event.
    fn host_waits(&self) -> u64 {
        let of = |gpu: &Arc<SimulatedDevice>| gpu.gpu().counters().event_waits + gpu.gpu().counters().synchronizations;
        self.gpus.iter().map(of).sum()
    }

    /// Asserts that no memory of a device and no pinned memory is in use, and that the devices get all of it back.
    #[track_caller]
    fn assert_empty(&self) {
        let _ = self.context.engine().wait_for_all();
        let devices = [GPU, PEER, PINNED, Device::cpu_pinned(1)];
        for device in devices {
            assert!(eventually(|| self.context.storage().stats(device).live_blocks == 0), "{device} leaks");
            self.context.storage().release_all(device);
        }
        let memories = self.gpus.iter().map(|gpu| gpu.memory()).chain(&self.pinned);
        assert_eq!(memories.map(|memory| memory.counters().used_bytes).collect::<Vec<_>>(), [0; 4]);
    }
}

/// Numbers from `first` up.
fn numbers(first: usize, n: usize) -> Vec<f32> {
    (first..first + n).map(|i| i as f32).collect()
}

/// Waits until `done` returns true, at most ten seconds; returns whether it did.
fn eventually(done: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while !done() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    done()
}
