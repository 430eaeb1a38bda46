//! The streams that an engine's workers own on one GPU.

use super::device::{GpuDevice, StreamUse};
use super::recent::RecentTasks;
use super::reported::ReportedFailures;
use super::task_streams::WorkerStreams;
use mxrs_sync::atomic::{AtomicUsize, Ordering};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{DeviceEvent, DeviceStream, Error, Result, ResultExt, StreamId};
use std::cell::Cell;
use std::sync::{Arc, OnceLock};

/// The number of sets of streams per GPU that the workers of [`crate::EngineKind::Threaded`] share.
const SHARED: usize = 16;
/// The number of sets of streams per GPU that the pushing threads of [`crate::EngineKind::Naive`] share.
const PUSHERS: usize = 16;

/// The number of workers in each pool of one GPU, and whether they own an auxiliary stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLayout {
    /// The number of workers for normal tasks, and equally the number of workers for prioritized tasks.
    pub workers: usize,
    /// The number of workers for copies.
    pub copy_workers: usize,
    /// Whether workers other than those for copies own a second stream.
    pub with_aux: bool,
}

/// The thread that requests streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamOwner {
    /// [`crate::EngineKind::ThreadedPerDevice`]: this worker for normal tasks of the GPU. It owns its streams.
    Worker(usize),
    /// [`crate::EngineKind::ThreadedPerDevice`]: this worker for prioritized tasks of the GPU. It owns its streams.
    Prioritized(usize),
    /// [`crate::EngineKind::ThreadedPerDevice`]: this worker for copies of the GPU. It owns its stream.
    Copy(usize),
    /// [`crate::EngineKind::Threaded`]: any worker that runs a task; successive tasks get the 16 shared sets of streams
    /// in turn.
    Shared,
    /// [`crate::EngineKind::Threaded`]: the worker for copies of all devices; it has one stream.
    SharedCopy,
    /// [`crate::EngineKind::Naive`]: the calling thread, which always gets the same streams; all threads share 16 sets.
    Pusher,
}

type Slot = OnceLock<Arc<WorkerStreams>>;

/// The streams of one GPU; each is created at the first task that needs it.
#[derive(Debug)]
pub struct GpuStreams {
    device: Arc<dyn GpuDevice>,
    with_aux: bool,
    workers: Box<[Slot]>,
    prioritized: Box<[Slot]>,
    copies: Box<[Slot]>,
    shared: Box<[Slot]>,
    shared_copy: Slot,
    pushers: Box<[Slot]>,
    next_shared: AtomicUsize,
    /// Held while streams are created, so that none is created twice.
    making: RankedMutex<()>,
}

impl GpuStreams {
    /// Makes the set of streams for this device and these numbers of workers; creates no stream yet.
    pub fn new(device: Arc<dyn GpuDevice>, layout: StreamLayout) -> Self {
        let slots = |n: usize| -> Box<[Slot]> { (0..n).map(|_| Slot::new()).collect() };
        Self {
            device,
            with_aux: layout.with_aux,
            workers: slots(layout.workers),
            prioritized: slots(layout.workers),
            copies: slots(layout.copy_workers),
            shared: slots(SHARED),
            shared_copy: Slot::new(),
            pushers: slots(PUSHERS),
            next_shared: AtomicUsize::new(0),
            making: RankedMutex::new(Rank::EngineLifecycle, ()),
        }
    }

    /// The GPU.
    pub fn device(&self) -> &Arc<dyn GpuDevice> {
        &self.device
    }

    /// Returns the streams for the next task of a worker, and makes the GPU the current one of the calling thread. At
    /// the worker's first task it creates the streams. Call it on the thread that runs the task.
    ///
    /// # Errors
    /// Returns the device's error; the next call tries again to create the streams. Fails with
    /// [`mxrs_types::ErrorKind::InvalidValue`] for a worker that the layout does not have.
    pub fn of(&self, owner: StreamOwner) -> Result<Arc<WorkerStreams>> {
        self.device.make_current()?;
        let slot = match owner {
            StreamOwner::Worker(index) => self.workers.get(index),
            StreamOwner::Prioritized(index) => self.prioritized.get(index),
            StreamOwner::Copy(index) => self.copies.get(index),
            StreamOwner::Shared => self.shared.get(self.next_shared.fetch_add(1, Ordering::Relaxed) % SHARED),
            StreamOwner::SharedCopy => Some(&self.shared_copy),
            StreamOwner::Pusher => self.pushers.get(thread_number() % PUSHERS),
        };
        let slot = slot.ok_or_else(|| {
            Error::invalid(format!("worker of {}", self.device.device()), format!("{owner:?}"), "one of the layout")
        })?;
        match slot.get() {
            Some(streams) => Ok(Arc::clone(streams)),
            None => self.make(slot, owner).context(|| format!("making a stream of {}", self.device.device())),
        }
    }

    #[cold]
    fn make(&self, slot: &Slot, owner: StreamOwner) -> Result<Arc<WorkerStreams>> {
        let _making = self.making.lock();
        if let Some(streams) = slot.get() {
            return Ok(Arc::clone(streams));
        }
        let (main_use, with_aux) = match owner {
            StreamOwner::Copy(_) | StreamOwner::SharedCopy => (StreamUse::Copy, false),
            StreamOwner::Prioritized(_) => (StreamUse::Prioritized, self.with_aux),
            StreamOwner::Worker(_) | StreamOwner::Shared | StreamOwner::Pusher => (StreamUse::Compute, self.with_aux),
        };
        let main = self.device.create_stream(main_use)?;
        let aux = if with_aux { Some(self.device.create_stream(StreamUse::Auxiliary)?) } else { None };
        Ok(Arc::clone(slot.get_or_init(|| Arc::new(WorkerStreams { main, aux }))))
    }

    /// Blocks the calling thread until every stream created so far is empty. Failures then count as reported.
    ///
    /// # Errors
    /// The first failure that the device returns, even if it was already reported, with the task in which it began; all
    /// streams are empty nevertheless.
    pub(crate) fn synchronize(&self, reported: &ReportedFailures, recent: &RecentTasks) -> Result<()> {
        let streams = self.made().flat_map(|made| std::iter::once(&made.main).chain(&made.aux));
        first_failure(streams.map(|stream| synchronize(&**stream, reported, recent)))
    }

    fn made(&self) -> impl Iterator<Item = &Arc<WorkerStreams>> {
        let owned = self.workers.iter().chain(&self.prioritized).chain(&self.copies);
        let shared = self.shared.iter().chain(std::iter::once(&self.shared_copy)).chain(&self.pushers);
        owned.chain(shared).filter_map(OnceLock::get)
    }
}

impl Drop for GpuStreams {
    fn drop(&mut self) {
        if let Err(error) = self.synchronize(&ReportedFailures::default(), &RecentTasks::default()) {
            tracing::error!(target: "mxrs_engine", "{}: a failure when its streams were emptied at the end: {error}", self.device.device());
        }
        for slots in [&mut self.workers, &mut self.prioritized, &mut self.copies, &mut self.shared, &mut self.pushers] {
            slots.iter_mut().for_each(|slot| drop(slot.take()));
        }
        self.shared_copy.take();
        self.device.close();
    }
}

fn synchronize(stream: &dyn DeviceStream, reported: &ReportedFailures, recent: &RecentTasks) -> Result<()> {
    // The event is recorded before the wait, so that it does not cover work that is enqueued during the wait.
    let end = stream.record().ok();
    let (id, result) = (stream.id(), stream.synchronize());
    let named = result.map_err(|error| named(error, id, end.as_deref(), recent));
    if let Some(end) = &end {
        recent.end(id, end.place());
        if named.is_err() {
            reported.note(&**end);
        }
    }
    named
}

/// Adds to the failure of a stream in which task it began. `end` is the event at the end of the stream, if there is one.
#[cold]
fn named(error: Error, id: StreamId, end: Option<&dyn DeviceEvent>, recent: &RecentTasks) -> Error {
    let failed = recent
        .origin(id, end.map_or(u64::MAX, |end| end.place()))
        .map(|origin| format!("; it failed in or before {origin}"));
    let named = failed.or_else(|| recent.last(id).map(|last| format!("; the last work there is that of {last}")));
    error.context(format!("waiting for all work of {id}{}", named.unwrap_or_default()))
}

/// Evaluates all results and returns the first error.
pub(super) fn first_failure(results: impl Iterator<Item = Result<()>>) -> Result<()> {
    let mut first = Ok(());
    for result in results {
        first = first.and(result);
    }
    first
}

/// A small number that identifies the calling thread.
fn thread_number() -> usize {
    // The standard library's atomic even under loom, because no protocol depends on which stream a thread gets.
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    std::thread_local! { static NUMBER: Cell<usize> = const { Cell::new(usize::MAX) }; }
    NUMBER.with(|number| {
        if number.get() == usize::MAX {
            number.set(NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        }
        number.get()
    })
}
