//! The streams of a worker, and their use by one task.

use super::recent::Positions;
use super::reported::ReportedFailures;
use super::waits::Waits;
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_types::{DeviceEvent, DeviceStream, GpuSync, Result};
use std::sync::{Arc, OnceLock};

/// The streams that a worker owns on a GPU: a main stream, and an auxiliary stream if
/// [`crate::EngineConfig::gpu_worker_streams`] is 2.
#[derive(Clone, Debug)]
pub struct WorkerStreams {
    /// Runs the work of tasks.
    pub main: Arc<dyn DeviceStream>,
    /// Runs work that may overlap with the main stream's.
    pub aux: Option<Arc<dyn DeviceStream>>,
}

impl WorkerStreams {
    /// Runs `body` with the auxiliary stream. Work that `body` enqueues on the auxiliary stream runs after everything
    /// that the main stream held before this call, and before everything that the main stream gets after this call.
    /// Work that `body` enqueues on the main stream may overlap with the auxiliary work. If there is only one stream,
    /// `body` gets that one.
    ///
    /// # Errors
    /// The error of `body`, or the device's error. The streams are ordered even if `body` fails.
    pub fn aux_scope<R>(&self, body: impl FnOnce(&Arc<dyn DeviceStream>) -> Result<R>) -> Result<R> {
        let Some(aux) = &self.aux else { return body(&self.main) };
        order(&*self.main, &**aux)?;
        let result = body(aux);
        let ordered = order(&**aux, &*self.main);
        let value = result?;
        ordered?;
        Ok(value)
    }

    /// Blocks the calling thread until both streams are empty.
    ///
    /// # Errors
    /// Returns the first failure that the device reports; both streams are empty even then.
    pub fn synchronize(&self) -> Result<()> {
        let main = self.main.synchronize();
        let aux = self.aux.as_ref().map_or(Ok(()), |aux| aux.synchronize());
        main.and(aux)
    }
}

/// Orders later work of `second` after everything that `first` holds now.
fn order(first: &dyn DeviceStream, second: &dyn DeviceStream) -> Result<()> {
    second.wait_for(&*first.record()?)
}

/// The use of a worker's streams by one task.
///
/// The engine calls [`TaskStreams::start`], runs the body, and then, whether or not the body succeeded,
/// [`TaskStreams::finish`].
#[derive(Debug)]
pub struct TaskStreams {
    streams: Arc<WorkerStreams>,
    aux_in_use: AtomicBool,
    /// The events for which the task's stream waits.
    waits: OnceLock<Positions>,
}

impl TaskStreams {
    /// Prepares the use of these streams by one task; [`TaskStreams::start`] begins it.
    pub fn new(streams: Arc<WorkerStreams>) -> Self {
        Self { streams, aux_in_use: AtomicBool::new(false), waits: OnceLock::new() }
    }

    /// An empty list of the events that this task will have to wait for.
    pub fn waits(&self) -> Waits {
        Waits::of_stream(self.streams.main.id())
    }

    /// Orders the task after these events.
    ///
    /// # Errors
    /// Returns the error of [`Waits::place`]; after an error the body must not run.
    pub fn start(&self, waits: &Waits, reported: &ReportedFailures) -> Result<()> {
        let mut positions = Positions::new();
        let placed = waits.place_and(&*self.streams.main, reported, |event| {
            positions.push((event.stream(), event.place()));
        });
        // A task starts once, so nothing is set yet.
        let _ = self.waits.set(positions);
        placed
    }

    /// The events for which the task's stream waits, other than those that were finished when the task started.
    pub(crate) fn waited_for(&self) -> Positions {
        self.waits.get().cloned().unwrap_or_default()
    }

    /// The main stream.
    pub fn main(&self) -> &Arc<dyn DeviceStream> {
        &self.streams.main
    }

    /// The auxiliary stream, if there is one, for the rest of the task. Work enqueued on it comes after everything that
    /// the main stream held at the first call, and the task ends after the work of both streams.
    ///
    /// # Errors
    /// The device's error.
    pub fn aux(&self) -> Result<Option<&Arc<dyn DeviceStream>>> {
        let Some(aux) = &self.streams.aux else { return Ok(None) };
        if !self.aux_in_use.load(Ordering::Acquire) {
            order(&*self.streams.main, &**aux)?;
            self.aux_in_use.store(true, Ordering::Release);
        }
        Ok(Some(aux))
    }

    /// Runs `body` with the auxiliary stream; see [`WorkerStreams::aux_scope`].
    ///
    /// # Errors
    /// Returns the errors of [`WorkerStreams::aux_scope`].
    pub fn aux_scope<R>(&self, body: impl FnOnce(&Arc<dyn DeviceStream>) -> Result<R>) -> Result<R> {
        let result = self.streams.aux_scope(body);
        if result.is_err() {
            // After an error the auxiliary stream's work may not yet be ordered before later work of the main stream.
            // This flag makes the end of the task establish that order.
            self.aux_in_use.store(true, Ordering::Release);
        }
        result
    }

    /// Ends the task. With [`GpuSync::Host`] it blocks until the task's work is done. With [`GpuSync::Event`] it
    /// records an event after the work and returns the event for [`crate::gpu::VarEvents::after`].
    ///
    /// # Errors
    /// Returns the device's error, and failures of the work if the host waits for it. If no event can be recorded, the
    /// host waits until the work is done, so that later tasks need no event.
    pub fn finish(&self, sync: GpuSync) -> Result<Option<Arc<dyn DeviceEvent>>> {
        if sync == GpuSync::Host {
            return self.streams.synchronize().map(|()| None);
        }
        let marked = self.join_aux().and_then(|()| self.streams.main.record());
        match marked {
            Ok(event) => Ok(Some(event)),
            Err(error) => {
                // Ignores an error of this wait: it would probably be a consequence of the first error, which is
                // returned.
                let _ = self.streams.synchronize();
                Err(error)
            }
        }
    }

    fn join_aux(&self) -> Result<()> {
        match &self.streams.aux {
            Some(aux) if self.aux_in_use.load(Ordering::Acquire) => order(&**aux, &*self.streams.main),
            _ => Ok(()),
        }
    }
}
