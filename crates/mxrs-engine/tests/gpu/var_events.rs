//! Tests that waiting for the events of a variable orders its accesses, and that none of these events is superfluous.

use crate::accesses::{self, Accesses};
use mxrs_engine::gpu::{GpuDevice, ReportedFailures, StreamUse, VarEvents, Waits};
use mxrs_simulated_gpu::{Reachability, SimulatedGpu, SimulatedStream, Touch};
use mxrs_types::DeviceEvent;
use mxrs_types::{Device, Result, StreamId};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::any::Any;
use std::sync::Arc;

/// An event without a device.
#[derive(Debug)]
struct Fake(StreamId, u64);

impl Fake {
    fn event(device: Device, number: u32, place: u64) -> Arc<dyn DeviceEvent> {
        Arc::new(Self(StreamId { device, number }, place))
    }
}

impl DeviceEvent for Fake {
    fn stream(&self) -> StreamId {
        self.0
    }

    fn place(&self) -> u64 {
        self.1
    }

    fn is_finished(&self) -> bool {
        true
    }

    fn wait(&self) -> Result<()> {
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn fake(stream: u32, place: u64) -> Arc<dyn DeviceEvent> {
    Fake::event(Device::gpu(0), stream, place)
}

fn named(events: &VarEvents, own: Option<u32>, write: bool) -> Vec<(u32, u64)> {
    let mut waits = match own {
        Some(number) => Waits::of_stream(StreamId { device: Device::gpu(0), number }),
        None => Waits::of_host(),
    };
    events.before(write, &mut waits);
    let mut named: Vec<_> = waits.events().map(|e| (e.stream().number, e.place())).collect();
    named.sort_unstable();
    named
}

#[test]
fn one_word_and_nothing_behind_it() {
    assert_eq!(size_of::<VarEvents>(), size_of::<usize>());
    let mut events = VarEvents::new();
    events.after_host(true);
    events.forget(&Waits::of_host());
    assert!(events.is_empty() && events.drain().is_empty());
}

#[test]
fn reads_wait_for_the_writer_and_writes_for_all() {
    let mut events = VarEvents::new();
    events.after(&fake(0, 1), true);
    events.after(&fake(1, 1), false);
    events.after(&fake(2, 1), false);
    events.after(&fake(1, 2), false);
    assert_eq!(named(&events, None, false), [(0, 1)]);
    assert_eq!(named(&events, None, true), [(0, 1), (1, 2), (2, 1)], "the latest of each stream");
    assert_eq!(named(&events, Some(0), false), [], "its own stream is in order anyway");
    assert_eq!(named(&events, Some(1), true), [(0, 1), (2, 1)]);
    events.after(&fake(1, 3), true);
    assert_eq!(named(&events, None, true), [(1, 3)], "a write implies all events before it");
    events.after_host(false);
    assert!(!events.is_empty());
    events.after_host(true);
    assert!(events.is_empty());
}

/// Work that used the memory before the variable existed: reads and writes wait for it, until a write implies it.
#[test]
fn every_access_waits_for_former_work_until_a_write() {
    assert!(VarEvents::of_former(Vec::new()).is_empty());
    let former = || VarEvents::of_former(vec![fake(0, 4), fake(1, 2)]);
    let mut events = former();
    events.after(&fake(2, 1), false);
    assert_eq!(named(&events, None, false), [(0, 4), (1, 2)]);
    assert_eq!(named(&events, Some(1), true), [(0, 4), (2, 1)]);
    events.after(&fake(3, 1), true);
    assert_eq!(named(&events, None, true), [(3, 1)]);
    let mut events = former();
    events.after_host(false);
    assert!(!events.is_empty());
    events.after_host(true);
    assert!(events.is_empty());
    let mut events = former();
    let mut waits = Waits::of_host();
    events.before(false, &mut waits);
    events.forget(&waits);
    assert!(events.is_empty());
    assert_eq!(former().drain().len(), 2);
}

#[test]
fn of_two_events_of_a_stream_the_later_counts() {
    let (mut a, mut b) = (VarEvents::new(), VarEvents::new());
    a.after(&fake(4, 7), true);
    b.after(&fake(4, 5), true);
    b.after(&fake(4, 6), false);
    for (first, second) in [(&a, &b), (&b, &a)] {
        let mut waits = Waits::of_host();
        first.before(true, &mut waits);
        second.before(true, &mut waits);
        assert_eq!(waits.events().map(|e| e.place()).collect::<Vec<_>>(), [7]);
    }
    // Two workers that share a stream may call `VarEvents::after` in an order other than that of their events.
    let mut shared = VarEvents::new();
    shared.after(&fake(4, 9), false);
    shared.after(&fake(4, 8), false);
    assert_eq!(named(&shared, None, true), [(4, 9)]);
}

#[test]
fn what_was_waited_for_is_forgotten_and_the_rest_is_drained() {
    let mut events = VarEvents::new();
    events.after(&fake(0, 1), true);
    let mut waits = Waits::of_host();
    events.before(true, &mut waits);
    events.after(&fake(1, 1), false);
    events.forget(&waits);
    assert_eq!(named(&events, None, true), [(1, 1)]);
    events.after(&fake(0, 2), true);
    events.forget(&waits);
    events.after(&fake(2, 1), false);
    let drained: Vec<_> = events.drain().iter().map(|e| (e.stream().number, e.place())).collect();
    assert_eq!(drained, [(0, 2), (2, 1)]);
    assert!(events.is_empty());
}

/// If failed work only read a variable, a later writer of the variable does not fail. If failed work wrote the
/// variable, a later reader or writer fails.
#[test]
fn failures_of_sources_only() {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    gpu.fail_launch(1);
    let [a, b] = [(); 2].map(|()| gpu.create_stream(StreamUse::Compute).unwrap());
    SimulatedStream::of(&*a).unwrap().launch("fails", || {}).unwrap();
    let event = a.record().unwrap();
    let (mut read, mut written, reported) = (VarEvents::new(), VarEvents::new(), ReportedFailures::default());
    read.after(&event, false);
    written.after(&event, true);
    for (events, write, is_reported) in [(&read, true, false), (&written, true, true), (&written, false, true)] {
        let mut waits = Waits::of_host();
        events.before(write, &mut waits);
        assert_eq!(waits.wait(&reported).is_err(), is_reported);
        let mut waits = Waits::of_stream(b.id());
        events.before(write, &mut waits);
        assert_eq!(waits.place(&*b, &reported).is_err(), is_reported, "it is known by now");
    }
    assert_eq!(gpu.counters().stream_waits, 0, "nothing to wait for any more");
    let mut waits = Waits::of_host();
    written.before(false, &mut waits);
    assert!(waits.wait_and_report(&reported).is_err());
    waits.wait_and_report(&reported).unwrap();
    let mut waits = Waits::of_stream(b.id());
    written.before(true, &mut waits);
    waits.place(&*b, &reported).unwrap();
    // Work launched later on `a` fails too, and this second failure must be reported in addition to the first.
    SimulatedStream::of(&*a).unwrap().launch("too", || {}).unwrap();
    written.after(&a.record().unwrap(), true);
    let mut waits = Waits::of_host();
    written.before(false, &mut waits);
    assert!(waits.wait(&reported).is_err());
}

#[derive(Clone, Debug)]
struct Step {
    /// The index of the stream that runs the step; `None` if the host runs it.
    stream: Option<usize>,
    accesses: Accesses,
}

fn program(rng: &mut ChaCha8Rng, n_streams: usize, n_vars: usize, with_host: bool) -> Vec<Step> {
    let n_steps = rng.random_range(2..if cfg!(miri) { 8 } else { 40 });
    let mut step = || {
        let accesses = Accesses::random(rng, n_vars);
        let on_host = with_host && rng.random_bool(0.2);
        Step { stream: (!on_host).then(|| rng.random_range(0..n_streams)), accesses }
    };
    (0..n_steps).map(|_| step()).collect()
}

struct Outcome {
    values: Vec<u64>,
    n_violations: usize,
    n_unordered: usize,
    /// For each step on a stream, the number of events that the stream had to wait for.
    n_waits: Vec<usize>,
}

/// Runs the steps on simulated streams of two devices, ordered by the events of the variables. `without` names one wait
/// that is left out: its step, and its index within the step.
fn run(steps: &[Step], n_streams: usize, n_vars: usize, held: bool, without: Option<(usize, usize)>) -> Outcome {
    let gpu = SimulatedGpu::new(Device::gpu(0));
    let other = gpu.beside(Device::gpu(1));
    let hold = held.then(|| (gpu.hold(), other.hold()));
    let gpus = [&gpu, &other];
    let streams: Vec<_> = (0..n_streams).map(|i| gpus[i % 2].create_stream(StreamUse::Compute).unwrap()).collect();
    let values = accesses::zeros(n_vars);
    let mut vars: Vec<VarEvents> = (0..n_vars).map(|_| VarEvents::new()).collect();
    let mut order = Reachability::default();
    let mut numbers = std::collections::BTreeMap::new();
    let mut n_waits = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let Accesses { reads, writes } = &step.accesses;
        let accesses: Vec<(usize, bool)> =
            reads.iter().map(|&v| (v, false)).chain(writes.iter().map(|&v| (v, true))).collect();
        let touches: Vec<_> =
            accesses.iter().map(|&(v, write)| Touch { range: v as u64..v as u64 + 1, write }).collect();
        let body = step.accesses.body(number, &values);
        let Some(stream) = step.stream.map(|i| &streams[i]) else {
            let mut waits = Waits::of_host();
            accesses.iter().for_each(|&(var, write)| vars[var].before(write, &mut waits));
            waits.wait(&ReportedFailures::default()).unwrap();
            let access = gpu.checker().host_access(format!("step {number}"), &touches);
            body();
            drop(access);
            accesses.iter().for_each(|&(var, write)| vars[var].after_host(write));
            continue;
        };
        let mut waits = Waits::of_stream(stream.id());
        accesses.iter().for_each(|&(var, write)| vars[var].before(write, &mut waits));
        if held {
            n_waits.push(waits.events().len());
            for (i, event) in waits.events().enumerate() {
                if without != Some((number, i)) {
                    stream.wait_for(&**event).unwrap();
                    order.stream_wait(stream.id(), numbers[&(event.stream(), event.place())]);
                }
            }
        } else {
            waits.place(&**stream, &ReportedFailures::default()).unwrap();
        }
        let name = format!("step {number}");
        SimulatedStream::of(&**stream).unwrap().launch_on(name, &touches, body).unwrap();
        order.launch(stream.id(), &touches);
        let event = stream.record().unwrap();
        numbers.insert((event.stream(), event.place()), order.record(stream.id()));
        accesses.iter().for_each(|&(var, write)| vars[var].after(&event, write));
    }
    drop(hold);
    streams.iter().for_each(|stream| stream.synchronize().unwrap());
    Outcome {
        values: accesses::plain(&values),
        n_violations: gpu.checker().violations().len(),
        // Counted only if the devices were held, that is, started no work until all steps were enqueued. Otherwise a
        // query that finds a finished event also orders accesses, and `order` does not know of such queries.
        n_unordered: if held { order.unordered().len() } else { 0 },
        n_waits,
    }
}

/// E3 and E4 on devices: every pair of conflicting accesses is ordered, and the results equal those of running the
/// steps one after the other.
#[test]
fn e3_e4_random_programs_are_ordered_by_events() {
    for seed in 0..if cfg!(miri) { 5 } else { 300 } {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (n_streams, n_vars) = (rng.random_range(1..=5), rng.random_range(1..=8));
        let held = rng.random_bool(0.5);
        let steps = program(&mut rng, n_streams, n_vars, !held);
        let outcome = run(&steps, n_streams, n_vars, held, None);
        assert_eq!((outcome.n_violations, outcome.n_unordered), (0, 0), "seed {seed}: {steps:?}");
        let expected = accesses::serially(steps.iter().map(|step| &step.accesses), n_vars);
        assert_eq!(outcome.values, expected, "seed {seed}: {steps:?}");
    }
}

/// Omitting one wait is detected unless other waits imply it. Most waits are not implied by others.
#[test]
fn a_missing_wait_is_found() {
    let (mut n_needed, mut n_implied) = (0, 0);
    for seed in 0..if cfg!(miri) { 3 } else { 40 } {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (n_streams, n_vars) = (rng.random_range(2..=4), rng.random_range(2..=8));
        let steps = program(&mut rng, n_streams, n_vars, false);
        let n_waits = run(&steps, n_streams, n_vars, true, None).n_waits;
        let all = n_waits.iter().enumerate().flat_map(|(step, &n)| (0..n).map(move |i| (step, i)));
        for without in all {
            let outcome = run(&steps, n_streams, n_vars, true, Some(without));
            assert_eq!(outcome.n_violations > 0, outcome.n_unordered > 0, "seed {seed} without {without:?}: {steps:?}");
            if outcome.n_violations > 0 { n_needed += 1 } else { n_implied += 1 }
        }
    }
    assert!(cfg!(miri) || n_needed > n_implied, "{n_needed} needed, {n_implied} implied");
}
