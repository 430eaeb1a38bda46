//! Streams of a simulated GPU.

use crate::checker::Touch;
use crate::event::{Mark, SimulatedEvent};
use crate::gpu::{Shared, closed, failure, lost};
use crate::lane::{Command, Lane, Queue};
use crate::log::{EventId, Logged};
use mxrs_engine::gpu::StreamUse;
use mxrs_sync::MutexGuard;
use mxrs_types::{DeviceEvent, DeviceStream, Error, Result, StreamId};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A stream of a simulated GPU. Work that was enqueued before the stream is dropped still runs.
pub struct SimulatedStream {
    id: StreamId,
    stream_use: StreamUse,
    lane: Arc<Lane>,
    shared: Arc<Shared>,
}

impl SimulatedStream {
    pub(crate) fn new(id: StreamId, stream_use: StreamUse, lane: Arc<Lane>, shared: Arc<Shared>) -> Self {
        Self { id, stream_use, lane, shared }
    }

    /// Downcasts a stream.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::InvalidValue`] if it is not a simulated stream.
    pub fn of(stream: &dyn DeviceStream) -> Result<&Self> {
        let simulated = stream.as_any().downcast_ref();
        simulated.ok_or_else(|| Error::invalid("stream", format!("{stream:?}"), "a stream of a simulated GPU"))
    }

    /// The purpose that the stream was created for.
    pub fn stream_use(&self) -> StreamUse {
        self.stream_use
    }

    /// Enqueues a closure. A panic in it counts as a failure of the launch.
    ///
    /// # Errors
    /// Fails if the device is gone.
    pub fn launch(&self, name: impl Into<Arc<str>>, body: impl FnOnce() + Send + 'static) -> Result<()> {
        self.launch_on(name, &[], body)
    }

    /// [`SimulatedStream::launch`] that also reports to the checker what the closure accesses.
    ///
    /// # Errors
    /// Fails if the device is gone.
    pub fn launch_on(
        &self,
        name: impl Into<Arc<str>>,
        touches: &[Touch],
        body: impl FnOnce() + Send + 'static,
    ) -> Result<()> {
        self.launch_fallible(name, touches, || {
            body();
            Ok(())
        })
    }

    /// [`SimulatedStream::launch_on`] for a closure that may fail. Its error counts as a failure of the launch.
    ///
    /// # Errors
    /// Fails if the device is gone.
    pub fn launch_fallible(
        &self,
        name: impl Into<Arc<str>>,
        touches: &[Touch],
        body: impl FnOnce() -> Result<()> + Send + 'static,
    ) -> Result<()> {
        self.enqueue(name.into(), touches, || None, body)
    }

    /// [`SimulatedStream::launch_fallible`] that fails with the message of `fails`, if it returns one. `fails` is called
    /// only if the device accepts the launch.
    pub(crate) fn enqueue(
        &self,
        name: Arc<str>,
        touches: &[Touch],
        fails: impl FnOnce() -> Option<String>,
        body: impl FnOnce() -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let queue = self.queue()?;
        let Logged { number, fails: is_marked, loses } = self.shared.log.launch(self.id, &name);
        if loses {
            self.shared.lose();
        }
        let marked = is_marked.then(|| format!("launch {number}, `{name}`, failed on {}", self.id));
        let failure = fails().or(marked);
        self.shared.checker.launch(self.id, &name, touches);
        self.lane.push(queue, Command::Launch { name, number, failure, body: Box::new(body) });
        Ok(())
    }

    fn queue(&self) -> Result<MutexGuard<'_, Queue>> {
        if self.shared.is_lost() {
            return Err(lost(self.id.device));
        }
        self.queue_even_if_lost()
    }

    /// The queue, even if the device is lost; the work that is added then fails. An error if the queue is closed.
    fn queue_even_if_lost(&self) -> Result<MutexGuard<'_, Queue>> {
        let queue = self.lane.lock();
        if queue.is_closed() { Err(closed(self.id.device)) } else { Ok(queue) }
    }
}

impl DeviceStream for SimulatedStream {
    fn id(&self) -> StreamId {
        self.id
    }

    fn record(&self) -> Result<Arc<dyn DeviceEvent>> {
        let mut queue = self.queue()?;
        let id = EventId { stream: self.id, place: queue.n_events + 1 };
        self.shared.log.record(id).map_err(failure)?;
        queue.n_events += 1;
        let event = SimulatedEvent::new(id, self.shared.checker.record(self.id), Arc::clone(&self.shared));
        self.lane.push(queue, Command::Record(Arc::clone(&event.mark)));
        Ok(Arc::new(event))
    }

    fn wait_for(&self, event: &dyn DeviceEvent) -> Result<()> {
        let simulated = event.as_any().downcast_ref::<SimulatedEvent>();
        let event =
            simulated.ok_or_else(|| Error::invalid("event", format!("{event:?}"), "an event of a simulated GPU"))?;
        let queue = self.queue()?;
        self.shared.log.stream_wait(self.id, event.id);
        self.shared.checker.stream_wait(self.id, &event.clock);
        self.lane.push(queue, Command::Wait(Arc::clone(&event.mark)));
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        let queue = self.queue_even_if_lost()?;
        self.shared.log.synchronize(self.id);
        let clock = self.shared.checker.record(self.id);
        let mark = Arc::new(Mark::default());
        self.lane.push(queue, Command::Synchronize(Arc::clone(&mark)));
        let failed = mark.wait_on_host(&self.id)?;
        self.shared.checker.host_learns(&clock);
        failed.map_or(Ok(()), Err)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for SimulatedStream {
    fn drop(&mut self) {
        self.lane.close();
    }
}

impl fmt::Debug for SimulatedStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimulatedStream({})", self.id)
    }
}
