//! The simulated GPU: its streams run closures in order in the background.
//!
//! - [`SimulatedStream::launch`] enqueues a closure; one thread per stream runs them. [`SimulatedGpu::latency`] slows
//!   them down, and a [`Gate`] or [`SimulatedGpu::hold`] holds them back.
//! - [`SimulatedGpu::fail_launch`] makes a launch fail as kernels do: later, at a wait.
//! - [`SimulatedGpu::calls`] and [`SimulatedGpu::counters`] list and count the calls to the device.
//! - [`Checker`] compares the accesses of launches and of the host with the order that events and waits establish.

use crate::checker::Checker;
use crate::gate::{Hold, Holds};
use crate::lane::Lane;
use crate::log::{Log, SimulatedGpuCall, SimulatedGpuCounters};
use crate::stream::SimulatedStream;
use crate::timeline::{Span, Timeline};
use mxrs_engine::gpu::{GpuDevice, StreamUse};
use mxrs_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use mxrs_sync::{Mutex, thread};
use mxrs_types::{Device, DeviceStream, Error, ErrorKind, Result, StreamId};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A simulated GPU. Dropping it ends all holds, runs what is enqueued and ends its threads; streams that still exist
/// then refuse work.
///
/// ```
/// use mxrs_engine::gpu::{GpuDevice, StreamUse};
/// use mxrs_simulated_gpu::{SimulatedGpu, SimulatedStream, Touch};
/// use mxrs_types::Device;
///
/// let gpu = SimulatedGpu::new(Device::gpu(0));
/// let (a, b) = (gpu.create_stream(StreamUse::Compute)?, gpu.create_stream(StreamUse::Compute)?);
/// SimulatedStream::of(&*a)?.launch_on("fill", &[Touch::write_cell(7)], || {})?;
/// SimulatedStream::of(&*b)?.launch_on("sum", &[Touch::read_cell(7)], || {})?;
/// assert_eq!(gpu.checker().violations().len(), 1, "nothing makes `sum` wait for `fill`");
/// # Ok::<(), mxrs_types::Error>(())
/// ```
pub struct SimulatedGpu {
    latency: Duration,
    shared: Arc<Shared>,
}

/// The state that streams and their threads share.
pub(crate) struct Shared {
    pub(crate) device: Device,
    pub(crate) checker: Arc<Checker>,
    pub(crate) log: Log,
    pub(crate) holds: Arc<Holds>,
    pub(crate) spans: Mutex<Vec<Span>>,
    /// Time 0 of the timeline.
    born: Instant,
    /// Whether the device is lost. The memory of the device shares this flag, so that both are lost together.
    is_lost: Arc<AtomicBool>,
    running: AtomicUsize,
    lanes: Mutex<Lanes>,
}

/// The queues and threads of all streams made so far.
#[derive(Default)]
struct Lanes {
    is_closed: bool,
    all: Vec<Arc<Lane>>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl SimulatedGpu {
    /// The flag that is set when the device is lost. The memory of the device shares it.
    pub(crate) fn is_lost(&self) -> &Arc<AtomicBool> {
        &self.shared.is_lost
    }

    /// Makes a device with its own checker.
    pub fn new(device: Device) -> Arc<Self> {
        Self::build(device, Duration::ZERO, Checker::new(), Instant::now())
    }

    /// Makes a device whose launches take at least this long each.
    pub fn with_latency(device: Device, latency: Duration) -> Arc<Self> {
        Self::build(device, latency, Checker::new(), Instant::now())
    }

    /// Makes a second device of the same machine: streams of either device may wait for events of the other, and both
    /// devices share one checker and the start of their timelines.
    pub fn beside(&self, device: Device) -> Arc<Self> {
        Self::build(device, self.latency, Arc::clone(&self.shared.checker), self.shared.born)
    }

    fn build(device: Device, latency: Duration, checker: Arc<Checker>, born: Instant) -> Arc<Self> {
        let shared = Shared {
            device,
            checker,
            log: Log::default(),
            holds: Arc::default(),
            spans: Mutex::default(),
            born,
            is_lost: Arc::default(),
            running: AtomicUsize::new(0),
            lanes: Mutex::default(),
        };
        Arc::new(Self { latency, shared: Arc::new(shared) })
    }

    /// The checker of the order of accesses.
    pub fn checker(&self) -> &Arc<Checker> {
        &self.shared.checker
    }

    /// Keeps every stream from starting further work until the guard is dropped. If the host waits for held work
    /// meanwhile, the wait fails after 30 seconds.
    pub fn hold(&self) -> Hold {
        Hold::new(&self.shared.holds)
    }

    /// Makes the `nth` launch fail, counted from 1 over all streams. Its closure does not run, and neither does work
    /// that is ordered after the launch, in its stream or in a stream that waits for it. Later events and
    /// [`DeviceStream::synchronize`] report the failure. After a stream is synchronized, new work on it runs again. (A
    /// real device would stay unusable.)
    pub fn fail_launch(&self, nth: u64) {
        self.shared.log.fail_launch(nth);
    }

    /// Refuses the `nth` request for a stream, counted from 1.
    pub fn fail_create_stream(&self, nth: u64) {
        self.shared.log.fail_create_stream(nth);
    }

    /// Refuses the `nth` request for an event, counted from 1.
    pub fn fail_record(&self, nth: u64) {
        self.shared.log.fail_record(nth);
    }

    /// Loses the device: from now on every request fails, and work that has not started fails too. Events of such work are
    /// finished, with the failure, so that their memory can be freed.
    pub fn lose(&self) {
        self.shared.lose();
    }

    /// Loses the device, as [`lose`](Self::lose) does, when the `nth` launch is enqueued, counted from 1 over all streams.
    /// This launch is accepted and fails like other work that has not started.
    pub fn lose_at_launch(&self, nth: u64) {
        self.shared.log.lose_at_launch(nth);
    }

    /// What ran on which stream and when, so far.
    pub fn timeline(&self) -> Timeline {
        Timeline::new(self.shared.spans.lock().clone())
    }

    /// All calls so far, in order.
    pub fn calls(&self) -> Vec<SimulatedGpuCall> {
        self.shared.log.calls()
    }

    /// The counters now.
    pub fn counters(&self) -> SimulatedGpuCounters {
        self.shared.log.counters()
    }

    /// The streams made so far, dropped ones included.
    pub fn streams(&self) -> Vec<(StreamId, StreamUse)> {
        let made = |call| match call {
            SimulatedGpuCall::CreateStream { stream: Some(stream), stream_use } => Some((stream, stream_use)),
            _ => None,
        };
        self.calls().into_iter().filter_map(made).collect()
    }
}

impl GpuDevice for SimulatedGpu {
    fn device(&self) -> Device {
        self.shared.device
    }

    fn create_stream(&self, stream_use: StreamUse) -> Result<Arc<dyn DeviceStream>> {
        let mut lanes = self.shared.lanes.lock();
        if lanes.is_closed {
            return Err(closed(self.shared.device));
        }
        if self.shared.is_lost() {
            return Err(lost(self.shared.device));
        }
        let id = StreamId { device: self.shared.device, number: u32::try_from(lanes.all.len()).unwrap_or(u32::MAX) };
        if let Err(error) = self.shared.log.create_stream(id, stream_use) {
            return Err(failure(error));
        }
        let lane = Arc::new(Lane::default());
        let (thread_lane, shared, latency) = (Arc::clone(&lane), Arc::clone(&self.shared), self.latency);
        let name = format!("simulated-{}-{}", self.shared.device, id.number);
        let thread = thread::Builder::new().name(name).spawn(move || thread_lane.serve(id, &shared, latency));
        lanes.threads.push(thread.map_err(|e| failure(format!("cannot start the thread of {id}: {e}")))?);
        lanes.all.push(Arc::clone(&lane));
        Ok(Arc::new(SimulatedStream::new(id, stream_use, lane, Arc::clone(&self.shared))))
    }

    fn close(&self) {
        self.shared.log.close();
    }
}

impl Drop for SimulatedGpu {
    fn drop(&mut self) {
        let closed = Lanes { is_closed: true, ..Lanes::default() };
        let mut lanes = std::mem::replace(&mut *self.shared.lanes.lock(), closed);
        self.shared.holds.abolish();
        for lane in &lanes.all {
            lane.close();
        }
        if std::thread::panicking() {
            // Does not join the threads: a failed test may have left work that waits forever.
            return;
        }
        for thread in lanes.threads.drain(..) {
            // A closure may own the device and so drop it on a stream's own thread, which cannot join itself.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

impl fmt::Debug for SimulatedGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatedGpu").field("device", &self.shared.device).finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn lose(&self) {
        self.is_lost.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::SeqCst)
    }

    /// The time since the start of the timeline.
    pub(crate) fn now(&self) -> Duration {
        self.born.elapsed()
    }

    /// Counts one running launch until the guard is dropped.
    pub(crate) fn run(&self) -> Running<'_> {
        self.log.note_running(self.running.fetch_add(1, Ordering::SeqCst) + 1);
        Running(self)
    }
}

pub(crate) struct Running<'s>(&'s Shared);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) fn failure(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Backend { backend: "simulated GPU", message: message.into() })
}

pub(crate) fn lost(device: Device) -> Error {
    failure(format!("{device} is lost"))
}

pub(crate) fn closed(device: Device) -> Error {
    failure(format!("{device} is gone"))
}
