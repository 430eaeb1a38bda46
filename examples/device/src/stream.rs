//! The streams of the device: each is a thread that does its work in order.

use crate::failure;
use mxrs::engine::gpu::{GpuDevice, StreamUse};
use mxrs::types::{Device, DeviceEvent, DeviceStream, Error, Result, StreamId};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

/// Makes the streams of the device.
#[derive(Debug)]
pub struct FileStreams {
    device: Device,
    n_streams: AtomicU32,
}

impl FileStreams {
    /// Makes no stream yet.
    pub fn new(device: Device) -> Self {
        Self { device, n_streams: AtomicU32::new(0) }
    }
}

impl GpuDevice for FileStreams {
    fn device(&self) -> Device {
        self.device
    }

    fn create_stream(&self, _: StreamUse) -> Result<Arc<dyn DeviceStream>> {
        let id = StreamId { device: self.device, number: self.n_streams.fetch_add(1, Ordering::Relaxed) };
        let (sender, queue) = channel::<Work>();
        // The thread ends when the stream is dropped.
        let serve = move || {
            let mut failed = None;
            queue.into_iter().for_each(|work| work(&mut failed));
        };
        let started = thread::Builder::new().name(id.to_string()).spawn(serve);
        started.map_err(|error| failure(format!("cannot start the thread of {id}: {error}")))?;
        Ok(Arc::new(Stream { id, queue: Mutex::new((sender, 0)) }))
    }
}

/// Work of a stream. It gets the error of the work before it, if that failed.
type Work = Box<dyn FnOnce(&mut Option<Error>) + Send>;

/// The outcome of the work before an event, once it is done.
type Outcome = Arc<OnceLock<Option<Error>>>;

/// A stream.
#[derive(Debug)]
pub(crate) struct Stream {
    id: StreamId,
    /// The sender of the thread's queue, and the number of events so far. Both are under one lock, so that the numbers of
    /// events follow the order of the queue.
    queue: Mutex<(Sender<Work>, u64)>,
}

impl Stream {
    /// The stream that a task gave to a copy or a kernel.
    ///
    /// # Errors
    /// Fails if the stream is not one of this device.
    pub(crate) fn of(stream: &dyn DeviceStream, device: Device) -> Result<&Self> {
        let own = stream.as_any().downcast_ref::<Self>().filter(|stream| stream.id.device == device);
        own.ok_or_else(|| Error::invalid("stream", stream.id(), format!("a stream of {device}")))
    }

    /// Enqueues work. It does not run if work before it has failed.
    pub(crate) fn enqueue(&self, name: &str, work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
        let what = format!("`{name}` on {}", self.id);
        let run = move |failed: &mut Option<Error>| {
            if failed.is_none() {
                let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(failure("a panic".into())));
                *failed = result.err().map(|error| error.context(format!("running {what}")));
            }
        };
        self.send(Box::new(run)).map(|_| ())
    }

    /// Enqueues work, even if work before it has failed; returns the number of the next event.
    fn send(&self, work: Work) -> Result<u64> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.0.send(work).map_err(|_| failure(format!("the thread of {} has ended", self.id)))?;
        queue.1 += 1;
        Ok(queue.1)
    }
}

impl DeviceStream for Stream {
    fn id(&self) -> StreamId {
        self.id
    }

    fn record(&self) -> Result<Arc<dyn DeviceEvent>> {
        let outcome = Outcome::default();
        let reached = outcome.clone();
        let place = self.send(Box::new(move |failed| _ = reached.set(failed.clone())))?;
        Ok(Arc::new(Event { stream: self.id, place, outcome }))
    }

    fn wait_for(&self, event: &dyn DeviceEvent) -> Result<()> {
        let own = event.as_any().downcast_ref::<Event>();
        let own = own.ok_or_else(|| Error::invalid("event", event.stream(), format!("one of {}", self.id.device)))?;
        let outcome = own.outcome.clone();
        self.send(Box::new(move |failed| *failed = failed.take().or(outcome.wait().clone()))).map(|_| ())
    }

    fn synchronize(&self) -> Result<()> {
        let outcome = Outcome::default();
        let reached = outcome.clone();
        // The caller gets the failure, and work that is enqueued later runs again.
        self.send(Box::new(move |failed| _ = reached.set(failed.take())))?;
        outcome.wait().clone().map_or(Ok(()), Err)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// An event.
#[derive(Debug)]
struct Event {
    stream: StreamId,
    place: u64,
    outcome: Outcome,
}

impl DeviceEvent for Event {
    fn stream(&self) -> StreamId {
        self.stream
    }

    fn place(&self) -> u64 {
        self.place
    }

    fn is_finished(&self) -> bool {
        self.outcome.get().is_some()
    }

    fn wait(&self) -> Result<()> {
        self.outcome.wait().clone().map_or(Ok(()), Err)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
