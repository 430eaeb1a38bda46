//! Tasks of GPUs on simulated devices: which workers and streams they use, and how they are ordered by host waits and
//! by events. Covers the environment variables D2, D3 and D58 of `docs/env.md`.
#![cfg(not(loom))]

#[path = "../support/accesses.rs"]
mod accesses;
mod deletion;
mod failures;
mod order;
mod pools;
mod random;
mod streams;
mod var_events;
mod waiting;

use mxrs_engine::gpu::{GpuDevice, GpuSync};
use mxrs_engine::{Engine, EngineConfig, EngineKind, RunContext, Var};
use mxrs_simulated_gpu::{SimulatedGpu, SimulatedStream, Touch};
use mxrs_types::{Device, Result};
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

const KINDS: [EngineKind; 3] = [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice];

fn count(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap()
}

fn config(sync: GpuSync) -> EngineConfig {
    EngineConfig { is_async: sync == GpuSync::Event, gpu_sync: sync, ..EngineConfig::default() }
}

fn gpu0() -> Arc<SimulatedGpu> {
    SimulatedGpu::new(Device::gpu(0))
}

fn engine(config: EngineConfig, gpus: &[&Arc<SimulatedGpu>]) -> Engine {
    let add = |builder: mxrs_engine::EngineBuilder, gpu: &&Arc<SimulatedGpu>| {
        builder.gpu(Arc::clone(*gpu) as Arc<dyn GpuDevice>)
    };
    gpus.iter().fold(Engine::builder(config), add).build().unwrap()
}

/// The stream of a task.
fn stream(ctx: &RunContext) -> &SimulatedStream {
    SimulatedStream::of(&**ctx.stream().expect("a task of a GPU has a stream")).unwrap()
}

fn reads(var: &Var) -> Touch {
    Touch::read_cell(var.id())
}

fn writes(var: &Var) -> Touch {
    Touch::write_cell(var.id())
}

/// Pushes a task for gpu(0) that launches one closure and reports its accesses to the checker.
fn push(engine: &Engine, read: &[&Var], write: &[&Var], body: impl FnOnce() + Send + 'static) {
    push_on(engine, Device::gpu(0), read, write, body);
}

fn push_on(engine: &Engine, device: Device, read: &[&Var], write: &[&Var], body: impl FnOnce() + Send + 'static) {
    let touches: Vec<_> = read.iter().map(|v| reads(v)).chain(write.iter().map(|v| writes(v))).collect();
    let task = engine.task("k").reads(read.iter().copied()).writes(write.iter().copied()).device(device);
    task.push(move |ctx| stream(ctx).launch_on("k", &touches, body)).unwrap();
}

/// Waits until `done` returns true, at most ten seconds; returns whether it did.
fn eventually(done: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(10);
    while !done() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
    done()
}

/// Makes task bodies that block until the door is opened, and counts the bodies. Dropping the door opens it.
#[derive(Default)]
struct Door(Arc<(Mutex<(usize, bool)>, Condvar)>);

impl Door {
    fn body(&self) -> impl FnOnce(&RunContext) -> Result<()> + Send + 'static {
        let door = Arc::clone(&self.0);
        move |_| {
            let (visitors, changed) = &*door;
            let mut visitors = visitors.lock().unwrap();
            visitors.0 += 1;
            changed.notify_all();
            while !visitors.1 {
                visitors = changed.wait(visitors).unwrap();
            }
            Ok(())
        }
    }

    /// Waits until `n` bodies have reached the door, at most ten seconds; returns the number of bodies that reached it.
    fn wait_for(&self, n: usize) -> usize {
        eventually(|| self.0.0.lock().unwrap().0 >= n);
        self.0.0.lock().unwrap().0
    }

    fn open(&self) {
        self.0.0.lock().unwrap().1 = true;
        self.0.1.notify_all();
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.open();
    }
}
