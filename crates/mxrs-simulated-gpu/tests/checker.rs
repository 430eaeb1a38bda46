//! Tests the checker of the order of accesses: on random programs it reports an unordered pair of launches exactly if
//! neither can be reached from the other in the graph of everything that the program does.

#![cfg(not(loom))]

use mxrs_engine::gpu::{GpuDevice, StreamUse};
use mxrs_simulated_gpu::{Reachability, SimulatedGpu, SimulatedStream, Touch};
use mxrs_types::{Device, DeviceEvent, DeviceStream};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

fn touches(rng: &mut ChaCha8Rng, n_cells: u64) -> Vec<Touch> {
    let one = |rng: &mut ChaCha8Rng| {
        let start = rng.random_range(0..n_cells);
        Touch { range: start..start + rng.random_range(1..3), write: rng.random_bool(0.4) }
    };
    (0..rng.random_range(1..=2)).map(|_| one(rng)).collect()
}

/// Random launches, events and waits; some programs have far too few waits and some nearly enough. The checker reports
/// a violation if and only if the graph has an unordered pair of conflicting actions.
#[test]
fn agrees_with_reachability() {
    let mut n_clean = 0;
    let mut n_found = 0;
    let seeds = if cfg!(miri) { 8 } else { 400 };
    for seed in 0..seeds {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let gpus = [SimulatedGpu::new(Device::gpu(0))];
        let gpus = [Arc::clone(&gpus[0]), gpus[0].beside(Device::gpu(1))];
        let n_streams = rng.random_range(1..=4);
        let streams: Vec<Arc<dyn DeviceStream>> =
            (0..n_streams).map(|i: usize| gpus[i % 2].create_stream(StreamUse::Compute).unwrap()).collect();
        let n_cells = [2, 8, 40][rng.random_range(0..3)];
        let waiting = [0.2, 0.6, 0.8][rng.random_range(0..3)];
        let mut order = Reachability::default();
        let mut events: Vec<(Arc<dyn DeviceEvent>, usize)> = Vec::new();
        for _ in 0..rng.random_range(1..30) {
            let stream = &streams[rng.random_range(0..n_streams)];
            if rng.random_bool(waiting) {
                match (rng.random_range(0..8), events.len()) {
                    (0..3, _) => events.push((stream.record().unwrap(), order.record(stream.id()))),
                    (3..6, 1..) => {
                        let (event, number) = &events[events.len() - 1 - rng.random_range(0..events.len().min(3))];
                        stream.wait_for(&**event).unwrap();
                        order.stream_wait(stream.id(), *number);
                    }
                    (6, 1..) => {
                        let (event, number) = &events[rng.random_range(0..events.len())];
                        event.wait().unwrap();
                        order.host_wait(*number);
                    }
                    (7, _) => {
                        stream.synchronize().unwrap();
                        order.synchronize(stream.id());
                    }
                    _ => {}
                }
                continue;
            }
            let touches = touches(&mut rng, n_cells);
            if rng.random_bool(0.2) {
                drop(gpus[0].checker().host_access("host", &touches));
                order.host_access(&touches);
            } else {
                SimulatedStream::of(&**stream).unwrap().launch_on("launch", &touches, || {}).unwrap();
                order.launch(stream.id(), &touches);
            }
        }
        let (found, unordered) = (gpus[0].checker().violations(), order.unordered());
        assert_eq!(found.is_empty(), unordered.is_empty(), "seed {seed}: {found:?} against {unordered:?}");
        if found.is_empty() { n_clean += 1 } else { n_found += 1 }
    }
    assert!(cfg!(miri) || (n_clean > 50 && n_found > 50), "one-sided: {n_clean} clean, {n_found} not");
}

#[test]
fn a_message_names_both_sides() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let streams = [(); 2].map(|()| gpu.create_stream(StreamUse::Compute).unwrap());
    SimulatedStream::of(&*streams[0]).unwrap().launch_on("fill", &[Touch::write(0..64)], || {}).unwrap();
    SimulatedStream::of(&*streams[1]).unwrap().launch_on("sum", &[Touch::read(32..96)], || {}).unwrap();
    let found = gpu.checker().violations();
    assert_eq!(
        found[0].to_string(),
        "`sum` on stream 1 of gpu(0) reads 32..96, without waiting for: `fill` on stream 0 of gpu(0) writes 0..64"
    );
    assert_eq!(found.len(), 1);
}

/// During a host access neither a launch nor another thread may access the memory.
#[test]
fn host_accesses_last() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let stream = gpu.create_stream(StreamUse::Compute).unwrap();
    let stream = SimulatedStream::of(&*stream).unwrap();
    let reading = gpu.checker().host_access("print", &[Touch::read_cell(1), Touch::write_cell(2), Touch::read_cell(2)]);
    stream.launch_on("use", &[Touch::read_cell(1)], || {}).unwrap();
    gpu.checker().assert_clean();
    stream.launch_on("change", &[Touch::write_cell(1)], || {}).unwrap();
    assert_eq!(gpu.checker().violations().len(), 1);
    drop(gpu.checker().host_access("other thread", &[Touch::read_cell(2)]));
    assert_eq!(gpu.checker().violations().len(), 2);
    drop(reading);
    stream.launch_on("later", &[Touch::write_cell(2)], || {}).unwrap();
    assert_eq!(gpu.checker().violations().len(), 2);
}

/// Querying a finished event orders later work after that event; querying an unfinished one does not.
#[test]
fn a_finished_event_orders() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let streams = [(); 2].map(|()| gpu.create_stream(StreamUse::Compute).unwrap());
    let launch = |i: usize| {
        SimulatedStream::of(&*streams[i]).unwrap().launch_on("write", &[Touch::write_cell(0)], || {}).unwrap();
    };
    launch(0);
    let event = streams[0].record().unwrap();
    while !event.is_finished() {
        std::thread::yield_now();
    }
    launch(1);
    gpu.checker().assert_clean();

    let hold = gpu.hold();
    let event = streams[1].record().unwrap();
    assert!(!event.is_finished());
    launch(0);
    assert_eq!(gpu.checker().violations().len(), 1);
    drop(hold);
}
