//! The streams of a worker, and their use by one task.

use super::device::GpuSync;
use super::told::Told;
use super::waits::Waits;
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_types::{DeviceEvent, DeviceStream, Result};
use std::sync::Arc;

/// What a worker owns on a GPU: a main stream and, if the setting says two, an auxiliary one.
#[derive(Clone, Debug)]
pub struct WorkerStreams {
    /// Where the work of tasks goes.
    pub main: Arc<dyn DeviceStream>,
    /// Where work goes that may run beside the main stream's.
    pub aux: Option<Arc<dyn DeviceStream>>,
}

impl WorkerStreams {
    /// Runs `body` with the auxiliary stream: what it enqueues there comes after all that the main stream held before, and
    /// what the main stream gets afterwards comes after it. What `body` itself enqueues on the main stream runs beside it.
    /// With one stream only, `body` gets that.
    ///
    /// # Errors
    /// Those of `body`; what the device reports. If `body` fails the streams are ordered all the same.
    pub fn aux_scope<R>(&self, body: impl FnOnce(&Arc<dyn DeviceStream>) -> Result<R>) -> Result<R> {
        let Some(aux) = &self.aux else { return body(&self.main) };
        order(&*self.main, &**aux)?;
        let result = body(aux);
        let ordered = order(&**aux, &*self.main);
        let value = result?;
        ordered?;
        Ok(value)
    }

    /// Blocks the calling thread until both are empty.
    ///
    /// # Errors
    /// The first failure that the device reports; both are empty even so.
    pub fn synchronize(&self) -> Result<()> {
        let main = self.main.synchronize();
        let aux = self.aux.as_ref().map_or(Ok(()), |aux| aux.synchronize());
        main.and(aux)
    }
}

/// What `second` gets from now on comes after what `first` holds now.
fn order(first: &dyn DeviceStream, second: &dyn DeviceStream) -> Result<()> {
    second.wait_for(&*first.record()?)
}

/// One task's use of its worker's streams.
///
/// The engine calls [`TaskStreams::start`], runs the body, and then, whether or not the body succeeded,
/// [`TaskStreams::finish`].
#[derive(Debug)]
pub struct TaskStreams {
    streams: Arc<WorkerStreams>,
    aux_in_use: AtomicBool,
}

impl TaskStreams {
    /// For one task.
    pub fn new(streams: Arc<WorkerStreams>) -> Self {
        Self { streams, aux_in_use: AtomicBool::new(false) }
    }

    /// An empty list of events for this task.
    pub fn waits(&self) -> Waits {
        Waits::of_stream(self.streams.main.id())
    }

    /// Orders the task after these events.
    ///
    /// # Errors
    /// As [`Waits::place`]; the body must not run.
    pub fn start(&self, waits: &Waits, told: &Told) -> Result<()> {
        waits.place(&*self.streams.main, told)
    }

    /// The main stream.
    pub fn main(&self) -> &Arc<dyn DeviceStream> {
        &self.streams.main
    }

    /// The auxiliary stream, if there is one, for the rest of the task: what it gets comes after all that the main stream
    /// held at the first call, and the end of the task comes after both.
    ///
    /// # Errors
    /// What the device reports.
    pub fn aux(&self) -> Result<Option<&Arc<dyn DeviceStream>>> {
        let Some(aux) = &self.streams.aux else { return Ok(None) };
        if !self.aux_in_use.load(Ordering::Acquire) {
            order(&*self.streams.main, &**aux)?;
            self.aux_in_use.store(true, Ordering::Release);
        }
        Ok(Some(aux))
    }

    /// See [`WorkerStreams::aux_scope`].
    ///
    /// # Errors
    /// See there.
    pub fn aux_scope<R>(&self, body: impl FnOnce(&Arc<dyn DeviceStream>) -> Result<R>) -> Result<R> {
        let result = self.streams.aux_scope(body);
        if result.is_err() {
            // Perhaps the streams could not be ordered; the end of the task tries once more.
            self.aux_in_use.store(true, Ordering::Release);
        }
        result
    }

    /// Ends the task: with [`GpuSync::Host`] blocks until its work is done, with [`GpuSync::Event`] marks its end and
    /// returns the event for [`crate::gpu::VarEvents::after`].
    ///
    /// # Errors
    /// What the device reports, failures of the work included where the host waits for it. If no event could be recorded
    /// the host waits instead, so that after an error too no work of the task is left behind unmarked.
    pub fn finish(&self, sync: GpuSync) -> Result<Option<Arc<dyn DeviceEvent>>> {
        if sync == GpuSync::Host {
            return self.streams.synchronize().map(|()| None);
        }
        let marked = self.join_aux().and_then(|()| self.streams.main.record());
        match marked {
            Ok(event) => Ok(Some(event)),
            Err(error) => {
                // The first error says what went wrong; a second one would most likely be its consequence.
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
