//! The context of a running task, and the engines for which the current thread runs a task.

use crate::failure::Failure;
use crate::gpu::{EventList, TaskStreams};
use crate::pool::PoolId;
use mxrs_sync::Mutex;
use mxrs_types::{Device, DeviceStream, Error, ErrorKind, Result};
use std::cell::RefCell;
use std::sync::Arc;

/// The worker thread that runs a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Worker {
    /// The worker's pool.
    pub pool: PoolId,
    /// The worker's number in the pool, from 0.
    pub index: usize,
}

/// The context of a running task.
#[derive(Debug)]
pub struct RunContext {
    device: Device,
    worker: Option<Worker>,
    inherited: Option<Arc<Failure>>,
    streams: Option<Arc<TaskStreams>>,
    /// If the task is a deletion: the events of device work that still uses the deleted variable.
    events: Option<Box<Mutex<EventList>>>,
}

impl RunContext {
    #[inline]
    pub(crate) fn new(device: Device, worker: Option<Worker>, inherited: Option<Arc<Failure>>) -> Self {
        Self { device, worker, inherited, streams: None, events: None }
    }

    pub(crate) fn with_streams(self, streams: &Arc<TaskStreams>) -> Self {
        Self { streams: Some(Arc::clone(streams)), ..self }
    }

    pub(crate) fn with_events(self, events: EventList) -> Self {
        Self { events: Some(Box::new(Mutex::new(events))), ..self }
    }

    pub(crate) fn take_events(&self) -> EventList {
        self.events.as_ref().map(|events| std::mem::take(&mut *events.lock())).unwrap_or_default()
    }

    /// The device that the task was pushed for.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The worker thread, or `None` if the task runs on a caller's thread.
    pub fn worker(&self) -> Option<Worker> {
        self.worker
    }

    /// The stream for the task's work; `None` for a CPU task.
    pub fn stream(&self) -> Option<&Arc<dyn DeviceStream>> {
        self.streams.as_ref().map(|streams| streams.main())
    }

    /// The worker's second stream, if [`crate::EngineConfig::gpu_worker_streams`] is 2. Work enqueued on it comes after
    /// everything that the main stream held at the first call, and the task ends after the work of both streams.
    ///
    /// # Errors
    /// The device's error.
    pub fn aux_stream(&self) -> Result<Option<&Arc<dyn DeviceStream>>> {
        self.streams.as_ref().map_or(Ok(None), |streams| streams.aux())
    }

    /// Runs `body` with the auxiliary stream; see [`TaskStreams::aux_scope`].
    ///
    /// # Errors
    /// The error of `body`, the device's error, and [`ErrorKind::Engine`] if the task is not for a GPU.
    pub fn aux_scope<R>(&self, body: impl FnOnce(&Arc<dyn DeviceStream>) -> Result<R>) -> Result<R> {
        match &self.streams {
            Some(streams) => streams.aux_scope(body),
            None => {
                let message = format!("a task for {} has no stream; push it for a GPU", self.device);
                Err(Error::new(ErrorKind::Engine { message }))
            }
        }
    }

    pub(crate) fn streams(&self) -> Option<&TaskStreams> {
        self.streams.as_deref()
    }

    pub(crate) fn shared_streams(&self) -> Option<Arc<TaskStreams>> {
        self.streams.clone()
    }

    /// The error that an input carries. Only [`crate::Property::NoSkip`] tasks and deletions can see one; other tasks
    /// are skipped.
    pub fn inherited_error(&self) -> Option<&Error> {
        self.inherited.as_ref().map(|f| f.error())
    }
}

// This has no `const` initializer, because loom's version of the macro does not support one.
#[cfg(loom)]
mxrs_sync::thread_local! { static RUNNING: RefCell<Vec<u32>> = RefCell::new(Vec::new()); }
#[cfg(not(loom))]
mxrs_sync::thread_local! { static RUNNING: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) }; }

/// Marks the current thread as working for an engine, until dropped. A thread whose thread-local values are being
/// destroyed cannot be marked, and counts as outside any task.
pub(crate) struct Inside(());

impl Inside {
    pub(crate) fn enter(engine: u32) -> Self {
        let _ = RUNNING.try_with(|running| running.borrow_mut().push(engine));
        Self(())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let _ = RUNNING.try_with(|running| running.borrow_mut().pop());
    }
}

/// Whether the current thread is a worker of this engine or runs one of its tasks.
pub(crate) fn is_inside(engine: u32) -> bool {
    RUNNING.try_with(|running| running.borrow().contains(&engine)).unwrap_or(false)
}

/// Whether the current thread is a worker of any engine, or runs a task of one.
pub(crate) fn is_inside_any() -> bool {
    RUNNING.try_with(|running| !running.borrow().is_empty()).unwrap_or(false)
}
