//! Which streams the workers of an engine own on one GPU.

use super::device::{GpuDevice, StreamUse};
use super::task_streams::WorkerStreams;
use super::told::Told;
use mxrs_sync::atomic::{AtomicUsize, Ordering};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{DeviceStream, Error, Result, ResultExt};
use std::cell::Cell;
use std::sync::{Arc, OnceLock};

#[cfg(all(test, not(loom)))]
mod tests;

/// Streams of each GPU that the workers of [`crate::EngineKind::Threaded`] share.
const SHARED: usize = 16;
/// Streams of each GPU that the pushing threads of [`crate::EngineKind::Naive`] share.
const PUSHERS: usize = 16;

/// How many workers of each pool there are for one GPU, and whether they own an auxiliary stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLayout {
    /// Workers for normal tasks, and as many for prioritised ones.
    pub workers: usize,
    /// Workers for copies.
    pub copy_workers: usize,
    /// Whether workers other than those for copies own a second stream.
    pub with_aux: bool,
}

/// Who asks for streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seat {
    /// [`crate::EngineKind::ThreadedPerDevice`]: this worker for normal tasks of the GPU. Owns its streams.
    Worker(usize),
    /// [`crate::EngineKind::ThreadedPerDevice`]: this worker for prioritised tasks of the GPU. Owns its streams.
    Prioritised(usize),
    /// [`crate::EngineKind::ThreadedPerDevice`]: this worker for copies of the GPU. Owns its stream.
    Copy(usize),
    /// [`crate::EngineKind::Threaded`]: any worker, once per task; 16 sets of streams take turns.
    Shared,
    /// [`crate::EngineKind::Threaded`]: the worker for copies of all devices; one stream.
    SharedCopy,
    /// [`crate::EngineKind::Naive`]: the calling thread, which always gets the same streams; up to 16 sets for all threads.
    Pusher,
}

type Slot = OnceLock<Arc<WorkerStreams>>;

/// The streams of one GPU, each made at the first task that needs it.
#[derive(Debug)]
pub struct GpuStreams {
    device: Arc<dyn GpuDevice>,
    with_aux: bool,
    workers: Box<[Slot]>,
    prioritised: Box<[Slot]>,
    copies: Box<[Slot]>,
    shared: Box<[Slot]>,
    shared_copy: Slot,
    pushers: Box<[Slot]>,
    next_shared: AtomicUsize,
    /// Held while streams are made, so that none is made twice.
    making: RankedMutex<()>,
}

impl GpuStreams {
    /// For an engine with these pools; makes no stream yet.
    pub fn new(device: Arc<dyn GpuDevice>, layout: StreamLayout) -> Self {
        let slots = |n: usize| -> Box<[Slot]> { (0..n).map(|_| Slot::new()).collect() };
        Self {
            device,
            with_aux: layout.with_aux,
            workers: slots(layout.workers),
            prioritised: slots(layout.workers),
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

    /// The streams for the next task of a worker, made now if this is its first one; the GPU becomes the thread's current
    /// one. Call it on the thread that runs the task.
    ///
    /// # Errors
    /// What the device reports; the next call tries again. [`mxrs_types::ErrorKind::InvalidValue`] for a worker that the
    /// layout does not have.
    pub fn of(&self, seat: Seat) -> Result<Arc<WorkerStreams>> {
        self.device.make_current()?;
        let slot = match seat {
            Seat::Worker(index) => self.workers.get(index),
            Seat::Prioritised(index) => self.prioritised.get(index),
            Seat::Copy(index) => self.copies.get(index),
            Seat::Shared => self.shared.get(self.next_shared.fetch_add(1, Ordering::Relaxed) % SHARED),
            Seat::SharedCopy => Some(&self.shared_copy),
            Seat::Pusher => self.pushers.get(thread_number() % PUSHERS),
        };
        let slot = slot.ok_or_else(|| {
            Error::invalid(format!("worker of {}", self.device.device()), format!("{seat:?}"), "one of the layout")
        })?;
        match slot.get() {
            Some(streams) => Ok(Arc::clone(streams)),
            None => self.make(slot, seat).context(|| format!("making a stream of {}", self.device.device())),
        }
    }

    #[cold]
    fn make(&self, slot: &Slot, seat: Seat) -> Result<Arc<WorkerStreams>> {
        let _making = self.making.lock();
        if let Some(streams) = slot.get() {
            return Ok(Arc::clone(streams));
        }
        let (main_use, with_aux) = match seat {
            Seat::Copy(_) | Seat::SharedCopy => (StreamUse::Copy, false),
            Seat::Prioritised(_) => (StreamUse::Prioritised, self.with_aux),
            Seat::Worker(_) | Seat::Shared | Seat::Pusher => (StreamUse::Compute, self.with_aux),
        };
        let main = self.device.create_stream(main_use)?;
        let aux = if with_aux { Some(self.device.create_stream(StreamUse::Auxiliary)?) } else { None };
        Ok(Arc::clone(slot.get_or_init(|| Arc::new(WorkerStreams { main, aux }))))
    }

    /// Blocks the calling thread until every stream made so far is empty; failures count as told.
    ///
    /// # Errors
    /// The first failure that the device reports, be it that one has been told; all streams are empty even so.
    pub fn synchronize(&self, told: &Told) -> Result<()> {
        let streams = self.made().flat_map(|made| std::iter::once(&made.main).chain(&made.aux));
        first_failure(streams.map(|stream| synchronize(&**stream, told)))
    }

    fn made(&self) -> impl Iterator<Item = &Arc<WorkerStreams>> {
        let owned = self.workers.iter().chain(&self.prioritised).chain(&self.copies);
        let shared = self.shared.iter().chain(std::iter::once(&self.shared_copy)).chain(&self.pushers);
        owned.chain(shared).filter_map(OnceLock::get)
    }
}

impl Drop for GpuStreams {
    fn drop(&mut self) {
        if let Err(error) = self.synchronize(&Told::default()) {
            tracing::error!(target: "mxrs_engine", "{}: failure while its streams were emptied for the last time: {error}", self.device.device());
        }
        for slots in [&mut self.workers, &mut self.prioritised, &mut self.copies, &mut self.shared, &mut self.pushers] {
            slots.iter_mut().for_each(|slot| drop(slot.take()));
        }
        self.shared_copy.take();
        self.device.close();
    }
}

fn synchronize(stream: &dyn DeviceStream, told: &Told) -> Result<()> {
    // Recorded before, so that it stands for no work that comes meanwhile.
    let end = stream.record();
    let result = stream.synchronize();
    if let (Ok(end), Err(_)) = (end, &result) {
        told.note(&*end);
    }
    result
}

/// Goes through all of them, failures or not.
pub(super) fn first_failure(results: impl Iterator<Item = Result<()>>) -> Result<()> {
    let mut first = Ok(());
    for result in results {
        first = first.and(result);
    }
    first
}

/// A small number that the calling thread keeps.
fn thread_number() -> usize {
    // Not loom's: which stream a thread gets is no part of a protocol.
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    std::thread_local! { static NUMBER: Cell<usize> = const { Cell::new(usize::MAX) }; }
    NUMBER.with(|number| {
        if number.get() == usize::MAX {
            number.set(NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        }
        number.get()
    })
}
