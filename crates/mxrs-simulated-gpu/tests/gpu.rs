//! Tests of the simulated GPU itself: order, latency, failures, counters.

#![cfg(not(loom))]

use mxrs_engine::gpu::{GpuDevice, StreamUse};
use mxrs_simulated_gpu::{EventId, Gate, SimulatedGpu, SimulatedGpuCall, SimulatedStream};
use mxrs_types::{Device, DeviceEvent, DeviceStream, StreamId};
use std::any::Any;
use std::sync::Arc;
use std::sync::Barrier;
use std::sync::mpsc;
use std::time::{Duration, Instant};

fn streams<const N: usize>(gpu: &SimulatedGpu) -> [Arc<dyn DeviceStream>; N] {
    [(); N].map(|()| gpu.create_stream(StreamUse::Compute).unwrap())
}

fn of(stream: &Arc<dyn DeviceStream>) -> &SimulatedStream {
    SimulatedStream::of(&**stream).unwrap()
}

#[test]
fn a_stream_runs_in_order_behind_its_caller() {
    let gpu = SimulatedGpu::with_latency(Device::gpu(0), Duration::from_millis(2));
    let [stream] = streams(&gpu);
    let (sender, receiver) = mpsc::channel();
    let start = Instant::now();
    for i in 0..20 {
        let sender = sender.clone();
        of(&stream).launch("send", move || sender.send(i).unwrap()).unwrap();
    }
    let enqueued = start.elapsed();
    stream.synchronize().unwrap();
    assert!(start.elapsed() >= Duration::from_millis(40) && enqueued < start.elapsed());
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
    assert_eq!(gpu.counters().peak_running, 1);
}

#[test]
fn streams_run_side_by_side_and_a_gate_holds_back() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let all: [_; 3] = streams(&gpu);
    let gate = Gate::new();
    for stream in &all {
        of(stream).launch("meet", gate.body()).unwrap();
    }
    assert_eq!(gate.wait_for(3), 3);
    let event = all[0].record().unwrap();
    assert!(!event.is_finished());
    gate.open();
    event.wait().unwrap();
    assert!(event.is_finished());
    assert_eq!(gpu.counters().peak_running, 3);
}

#[test]
fn a_stream_waits_for_anothers_event_and_the_caller_does_not() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let other = gpu.beside(Device::gpu(1));
    let ([a], [b]) = (streams(&gpu), streams(&other));
    let (gate, barrier) = (Gate::new(), Arc::new(Barrier::new(2)));
    of(&a).launch("first", gate.body()).unwrap();
    b.wait_for(&*a.record().unwrap()).unwrap();
    let at = Arc::clone(&barrier);
    let meet = move || {
        at.wait();
    };
    of(&b).launch("second", meet).unwrap();
    let event = b.record().unwrap();
    assert_eq!(gate.wait_for(1), 1);
    std::thread::sleep(Duration::from_millis(5));
    assert!(!event.is_finished() && other.counters().executed == 0);
    gate.open();
    barrier.wait();
    event.wait().unwrap();
}

#[test]
fn held_it_starts_nothing() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let [stream] = streams(&gpu);
    let (first, second) = (gpu.hold(), gpu.hold());
    of(&stream).launch("later", || {}).unwrap();
    let event = stream.record().unwrap();
    drop(first);
    std::thread::sleep(Duration::from_millis(5));
    assert!(!event.is_finished() && gpu.counters().executed == 0);
    drop(second);
    event.wait().unwrap();
    assert_eq!(gpu.counters().executed, 1);
}

#[test]
fn a_failure_goes_where_the_order_goes_and_ends_with_a_synchronization() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    gpu.fail_launch(2);
    let [a, b, c] = streams(&gpu);
    let (sender, receiver) = mpsc::channel();
    let launch = |stream: &Arc<dyn DeviceStream>, name: &'static str| {
        let sender = sender.clone();
        of(stream).launch(name, move || sender.send(name).unwrap()).unwrap();
        stream.record().unwrap()
    };
    let good = launch(&a, "good");
    let bad = launch(&a, "bad");
    let after = launch(&a, "after");
    b.wait_for(&*bad).unwrap();
    let behind = launch(&b, "behind");
    let elsewhere = launch(&c, "elsewhere");

    good.wait().unwrap();
    elsewhere.wait().unwrap();
    for event in [&bad, &after, &behind, &bad] {
        let text = event.wait().unwrap_err().to_string();
        assert_eq!(text, "simulated GPU: launch 2, `bad`, failed on stream 0 of gpu(0)");
        assert!(event.is_finished(), "failed work is done");
    }
    assert!(a.synchronize().is_err());
    a.synchronize().unwrap();
    launch(&a, "again").wait().unwrap();
    assert!(b.synchronize().is_err(), "each stream reports it");
    let mut ran: Vec<_> = receiver.try_iter().collect();
    ran.sort_unstable();
    assert_eq!(ran, ["again", "elsewhere", "good"]);
    let counters = gpu.counters();
    assert_eq!((counters.launches, counters.executed, counters.failed, counters.skipped), (6, 4, 1, 2));
}

#[test]
fn a_panic_is_a_failure() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let [stream] = streams(&gpu);
    of(&stream).launch("explode", || std::panic::resume_unwind(Box::new("quietly"))).unwrap();
    let text = stream.synchronize().unwrap_err().to_string();
    assert_eq!(text, "simulated GPU: launch 1, `explode`, panicked on stream 0 of gpu(0)");
}

#[test]
fn requests_can_be_refused_and_numbers_have_no_gap() {
    let gpu = SimulatedGpu::new(Device::gpu(3));
    gpu.fail_create_stream(2);
    gpu.fail_record(2);
    let a = gpu.create_stream(StreamUse::Compute).unwrap();
    let text = gpu.create_stream(StreamUse::Copy).unwrap_err().to_string();
    assert_eq!(text, "simulated GPU: request 2 for a stream is refused");
    let b = gpu.create_stream(StreamUse::Copy).unwrap();
    assert_eq!((a.id().number, b.id().number), (0, 1));
    assert_eq!(gpu.streams(), [(a.id(), StreamUse::Compute), (b.id(), StreamUse::Copy)]);
    let first = b.record().unwrap();
    assert!(b.record().is_err());
    assert!(first.place() < b.record().unwrap().place());
}

#[test]
fn calls_are_logged_and_questions_are_not_waits() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let [a, b] = streams(&gpu);
    of(&a).launch("k", || {}).unwrap();
    let event = a.record().unwrap();
    b.wait_for(&*event).unwrap();
    a.synchronize().unwrap();
    event.wait().unwrap();
    let id = EventId { stream: a.id(), place: 1 };
    assert_eq!(
        gpu.calls()[2..],
        [
            SimulatedGpuCall::Launch { stream: a.id(), name: "k".into() },
            SimulatedGpuCall::Record(id),
            SimulatedGpuCall::StreamWait { stream: b.id(), event: id },
            SimulatedGpuCall::Synchronize(a.id()),
        ]
    );
    let counters = gpu.counters();
    assert_eq!((counters.streams, counters.launches, counters.records), (2, 1, 1));
    assert_eq!((counters.stream_waits, counters.synchronizations, counters.event_waits), (1, 1, 0));
}

#[test]
fn events_outlive_streams_and_streams_the_device() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let [a, b] = streams(&gpu);
    let hold = gpu.hold();
    of(&a).launch("k", || {}).unwrap();
    let event = a.record().unwrap();
    drop((a, hold));
    event.wait().unwrap();
    drop(gpu);
    for refused in [of(&b).launch("k", || {}), b.synchronize(), b.record().map(drop), b.wait_for(&*event)] {
        assert_eq!(refused.unwrap_err().to_string(), "simulated GPU: gpu(0) is gone");
    }
}

/// The closure of a launch may be the last owner of the device, and so drop it on a thread of the device.
#[test]
fn the_device_may_end_on_its_own_thread() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let [stream] = streams(&gpu);
    let gate = Gate::new();
    let (body, last, (sender, receiver)) = (gate.body(), Arc::clone(&gpu), mpsc::channel());
    let launch = move || {
        body();
        drop(last);
        sender.send(()).unwrap();
    };
    of(&stream).launch("last", launch).unwrap();
    drop((gpu, stream));
    gate.open();
    receiver.recv_timeout(Duration::from_secs(10)).unwrap();
}

#[test]
fn strangers_are_refused() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let [a] = streams(&gpu);
    assert!(a.wait_for(&Stranger).is_err());
}

/// An event of another kind of device.
#[derive(Debug)]
struct Stranger;

impl DeviceEvent for Stranger {
    fn stream(&self) -> StreamId {
        StreamId { device: Device::gpu(0), number: 0 }
    }

    fn place(&self) -> u64 {
        1
    }

    fn is_finished(&self) -> bool {
        true
    }

    fn wait(&self) -> mxrs_types::Result<()> {
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
