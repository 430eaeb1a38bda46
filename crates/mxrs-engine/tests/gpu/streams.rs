//! The environment variables D2, D3 and D58 of `docs/env.md`, as far as they concern streams: which worker owns which
//! streams, and when streams are created.

use mxrs_engine::gpu::{
    GpuDevice, GpuStreams, GpuSync, Gpus, ReportedFailures, StreamLayout, StreamOwner, StreamUse, TaskStreams,
    VarEvents, Waits,
};
use mxrs_simulated_gpu::{SimulatedGpu, SimulatedGpuCall, SimulatedStream, Touch};
use mxrs_types::{Device, DeviceStream, Error, StreamId};
use std::collections::BTreeSet;
use std::sync::Arc;

const LAYOUT: StreamLayout = StreamLayout { workers: 3, copy_workers: 2, with_aux: false };

fn streams(gpu: &Arc<SimulatedGpu>, layout: StreamLayout) -> GpuStreams {
    GpuStreams::new(Arc::clone(gpu) as Arc<dyn GpuDevice>, layout)
}

fn main_of(streams: &GpuStreams, owner: StreamOwner) -> StreamId {
    streams.of(owner).unwrap().main.id()
}

#[test]
fn each_worker_owns_a_stream_made_at_its_first_task() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let streams = streams(&gpu, LAYOUT);
    assert_eq!(gpu.counters().streams, 0);
    let owners = [
        StreamOwner::Worker(2),
        StreamOwner::Worker(0),
        StreamOwner::Prioritized(2),
        StreamOwner::Copy(0),
        StreamOwner::Copy(1),
    ];
    let ids: Vec<_> = owners.iter().map(|&owner| main_of(&streams, owner)).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), owners.len());
    for (&owner, &id) in owners.iter().zip(&ids) {
        assert_eq!(main_of(&streams, owner), id, "the same again");
        assert!(streams.of(owner).unwrap().aux.is_none());
    }
    use StreamUse::{Compute, Copy, Prioritized};
    let uses: Vec<_> = gpu.streams().into_iter().map(|(_, stream_use)| stream_use).collect();
    assert_eq!(uses, [Compute, Compute, Prioritized, Copy, Copy]);
    for owner in [StreamOwner::Worker(3), StreamOwner::Prioritized(3), StreamOwner::Copy(2)] {
        assert!(streams.of(owner).is_err(), "{owner:?} is not in the layout");
    }
}

#[test]
fn the_pooled_engine_takes_sixteen_in_turn_and_one_for_copies() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let streams = streams(&gpu, LAYOUT);
    let round: Vec<_> = (0..16).map(|_| main_of(&streams, StreamOwner::Shared)).collect();
    assert_eq!(round.iter().collect::<BTreeSet<_>>().len(), 16);
    let again: Vec<_> = (0..16).map(|_| main_of(&streams, StreamOwner::Shared)).collect();
    assert_eq!(round, again);
    let copy = main_of(&streams, StreamOwner::SharedCopy);
    assert_eq!(main_of(&streams, StreamOwner::SharedCopy), copy);
    assert!(!round.contains(&copy));
    assert_eq!(gpu.streams()[16], (copy, StreamUse::Copy));
}

#[test]
fn a_pushing_thread_keeps_its_stream() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let streams = Arc::new(streams(&gpu, LAYOUT));
    let mine = main_of(&streams, StreamOwner::Pusher);
    assert_eq!(main_of(&streams, StreamOwner::Pusher), mine);
    let all: BTreeSet<_> = (0..40)
        .map(|_| {
            let streams = Arc::clone(&streams);
            std::thread::spawn(move || main_of(&streams, StreamOwner::Pusher)).join().unwrap()
        })
        .collect();
    assert_eq!(all.len(), 16, "forty threads share sixteen");
}

#[test]
fn d58_compute_workers_own_two_streams_and_copy_workers_one() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let streams = streams(&gpu, StreamLayout { with_aux: true, ..LAYOUT });
    for (owner, has_aux) in [
        (StreamOwner::Worker(0), true),
        (StreamOwner::Prioritized(0), true),
        (StreamOwner::Shared, true),
        (StreamOwner::Pusher, true),
        (StreamOwner::Copy(0), false),
        (StreamOwner::SharedCopy, false),
    ] {
        let streams = streams.of(owner).unwrap();
        assert_eq!(streams.aux.as_ref().map(|aux| aux.id() != streams.main.id()), has_aux.then_some(true), "{owner:?}");
    }
    let n_aux = gpu.streams().iter().filter(|(_, stream_use)| *stream_use == StreamUse::Auxiliary).count();
    assert_eq!((n_aux, gpu.streams().len()), (4, 10));
}

#[test]
fn threads_that_come_at_once_get_one_stream() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let streams = streams(&gpu, LAYOUT);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| main_of(&streams, StreamOwner::SharedCopy));
        }
    });
    assert_eq!(gpu.counters().streams, 1);
}

#[test]
fn a_refused_stream_is_an_error_now_and_asked_for_again_later() {
    let gpu = SimulatedGpu::new(Device::gpu(2));
    gpu.fail_create_stream(1);
    gpu.fail_create_stream(3);
    let streams = streams(&gpu, StreamLayout { with_aux: true, ..LAYOUT });
    let text = streams.of(StreamOwner::Worker(0)).unwrap_err().to_string();
    assert_eq!(text, "simulated GPU: request 1 for a stream is refused\n  while making a stream of gpu(2)");
    assert!(streams.of(StreamOwner::Worker(0)).is_err(), "the auxiliary stream is refused");
    assert!(streams.of(StreamOwner::Worker(0)).is_ok());
}

#[test]
fn the_end_empties_the_streams_and_closes_the_device() {
    let gpu = SimulatedGpu::with_latency(Device::gpu(0), std::time::Duration::from_millis(3));
    let streams = streams(&gpu, LAYOUT);
    let main = Arc::clone(&streams.of(StreamOwner::Worker(0)).unwrap().main);
    SimulatedStream::of(&*main).unwrap().launch("late", || {}).unwrap();
    drop(streams);
    assert_eq!(gpu.counters().executed, 1);
    assert_eq!(gpu.calls().last(), Some(&SimulatedGpuCall::Close));
}

/// After a wait for everything has reported a failure, that failure does not stop later tasks.
#[test]
fn a_synchronization_reports_a_failure_once() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    gpu.fail_launch(2);
    let gpus =
        Gpus::new(vec![Arc::clone(&gpu) as Arc<dyn GpuDevice>], StreamLayout { with_aux: true, ..LAYOUT }).unwrap();
    let task = TaskStreams::new(gpus.get(Device::gpu(0)).unwrap().of(StreamOwner::Worker(1)).unwrap());
    let mut var = VarEvents::new();
    for stream in [task.main(), task.aux().unwrap().unwrap()] {
        launch(stream, Touch::write_cell(u64::from(stream.id().number)));
    }
    var.after(&task.finish(GpuSync::Event).unwrap().expect("an event"), true);
    let mut waits = Waits::of_host();
    var.before(true, &mut waits);
    assert!(waits.wait(gpus.reported()).is_err());
    assert!(gpus.synchronize().is_err());
    waits.wait(gpus.reported()).unwrap();
    gpus.synchronize().unwrap();
}

#[test]
fn gpus_are_found_by_device_and_others_are_explained() {
    let gpus: Vec<_> = [4, 1].map(|id| SimulatedGpu::new(Device::gpu(id)) as Arc<dyn GpuDevice>).into();
    let none = Gpus::new(vec![], LAYOUT).unwrap().get(Device::gpu(0)).unwrap_err().to_string();
    assert!(none.contains("device gpu(0)") && none.contains("use cpu(0)"), "{none}");
    assert!(Gpus::new(vec![Arc::clone(&gpus[0]), Arc::clone(&gpus[0])], LAYOUT).is_err());
    assert!(Gpus::new(vec![SimulatedGpu::new(Device::cpu(0))], LAYOUT).is_err());
    let both = Gpus::new(gpus, LAYOUT).unwrap();
    assert_eq!(both.get(Device::gpu(1)).unwrap().device().device(), Device::gpu(1));
    let other = both.get(Device::gpu(0)).unwrap_err().to_string();
    assert!(other.contains("the engine has gpu(4), gpu(1)"), "{other}");
}

fn launch(stream: &Arc<dyn DeviceStream>, touch: Touch) {
    SimulatedStream::of(&**stream).unwrap().launch_on("k", &[touch], || {}).unwrap();
}

/// D58: work of the two streams inside `aux_scope` may overlap; events order this work after earlier work and before
/// later work.
#[test]
fn d58_a_scope_orders_the_auxiliary_stream() {
    for with_aux in [true, false] {
        let gpu = SimulatedGpu::new(Device::gpu(0));
        let all = streams(&gpu, StreamLayout { with_aux, ..LAYOUT });
        let streams = all.of(StreamOwner::Worker(0)).unwrap();
        let hold = gpu.hold();
        for _ in 0..3 {
            launch(&streams.main, Touch::write(0..3));
            let scope = streams.aux_scope(|aux| {
                assert_eq!(aux.id() != streams.main.id(), with_aux);
                launch(aux, Touch::write_cell(0));
                launch(&streams.main, Touch::write_cell(1));
                Ok(())
            });
            scope.unwrap();
            launch(&streams.main, Touch::write(0..3));
        }
        gpu.checker().assert_clean();
        assert_eq!(gpu.counters().stream_waits, if with_aux { 6 } else { 0 });
        assert_eq!((gpu.counters().synchronizations, gpu.counters().event_waits), (0, 0));
        // Both streams write memory cell 0 inside the scope. This is a mistake of the closure, and the checker of the
        // simulated GPU must find it.
        let scope = streams.aux_scope(|aux| {
            launch(aux, Touch::write_cell(0));
            launch(&streams.main, Touch::write_cell(0));
            Err::<(), _>(Error::invalid("body", "failed", "success"))
        });
        assert!(scope.is_err());
        assert_eq!(gpu.checker().violations().len(), usize::from(with_aux));
        launch(&streams.main, Touch::write_cell(0));
        assert_eq!(gpu.checker().violations().len(), usize::from(with_aux), "a failed scope orders too");
        drop(hold);
        streams.synchronize().unwrap();
    }
}

/// The event of a task covers the work that the task enqueued on its main stream and on its auxiliary stream.
#[test]
fn a_task_is_marked_at_the_end_of_both_streams() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let streams = streams(&gpu, StreamLayout { with_aux: true, ..LAYOUT });
    let hold = gpu.hold();
    let mut var = VarEvents::new();
    for round in 0..6 {
        let task = TaskStreams::new(streams.of(StreamOwner::Worker(round % 3)).unwrap());
        let mut waits = task.waits();
        var.before(true, &mut waits);
        task.start(&waits, &ReportedFailures::default()).unwrap();
        // The body launches on the main stream, then on the auxiliary stream, then on the main stream again, without
        // ordering the third launch after the second.
        launch(task.main(), Touch::write(0..2));
        launch(task.aux().unwrap().unwrap(), Touch::write_cell(0));
        assert!(task.aux().unwrap().is_some());
        launch(task.main(), Touch::write_cell(1));
        let event = task.finish(GpuSync::Event).unwrap().expect("an event");
        var.after(&event, true);
    }
    gpu.checker().assert_clean();
    assert_eq!(gpu.counters().synchronizations + gpu.counters().event_waits, 0);
    drop(hold);
}

#[test]
fn host_mode_waits_for_both_streams_and_tells_their_failure() {
    let gpu = SimulatedGpu::with_latency(Device::gpu(0), std::time::Duration::from_millis(2));
    let streams = streams(&gpu, StreamLayout { with_aux: true, ..LAYOUT });
    gpu.fail_launch(3);
    for is_reported in [false, true, false] {
        let task = TaskStreams::new(streams.of(StreamOwner::Worker(0)).unwrap());
        launch(task.main(), Touch::write_cell(0));
        launch(task.aux().unwrap().unwrap(), Touch::write_cell(0));
        assert_eq!(task.finish(GpuSync::Host).is_err(), is_reported);
        drop(gpu.checker().host_access("look", &[Touch::read_cell(0)]));
    }
    gpu.checker().assert_clean();
}

/// If the device cannot record an event, the task fails, but only after its work is finished.
#[test]
fn without_an_event_the_host_waits() {
    let gpu = SimulatedGpu::with_latency(Device::gpu(0), std::time::Duration::from_millis(2));
    let streams = streams(&gpu, LAYOUT);
    gpu.fail_record(1);
    let task = TaskStreams::new(streams.of(StreamOwner::Worker(0)).unwrap());
    launch(task.main(), Touch::write_cell(0));
    assert!(task.finish(GpuSync::Event).is_err());
    drop(gpu.checker().host_access("look", &[Touch::read_cell(0)]));
    gpu.checker().assert_clean();
}
