//! The GPUs of an engine.

use super::device::GpuDevice;
use super::recent::RecentTasks;
use super::reported::ReportedFailures;
use super::streams::{GpuStreams, StreamLayout, first_failure};
use mxrs_types::{Device, DeviceKind, Error, ErrorKind, Result};
use std::fmt;
use std::sync::Arc;
// The standard library's atomics: whether a GPU is in use is not part of what loom explores.
use std::sync::atomic::{AtomicBool, Ordering};

/// The GPUs that an engine was given, with their streams.
#[derive(Debug, Default)]
pub struct Gpus {
    gpus: Vec<GpuStreams>,
    reported: ReportedFailures,
    recent: Arc<RecentTasks>,
    /// Called when the first GPU task is pushed.
    at_first_use: OnUse,
    is_used: AtomicBool,
}

/// The function that is called when the first GPU task is pushed; see [`Gpus::at_first_use`].
#[derive(Default)]
pub(crate) struct OnUse(pub(crate) Option<Box<dyn Fn() + Send + Sync>>);

impl fmt::Debug for OnUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnUse").field(&self.0.is_some()).finish()
    }
}

impl Gpus {
    /// Makes the set of these devices; creates no stream yet.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] for a device that is not a GPU or occurs twice.
    pub fn new(devices: Vec<Arc<dyn GpuDevice>>, layout: StreamLayout) -> Result<Self> {
        let mut gpus: Vec<GpuStreams> = Vec::with_capacity(devices.len());
        for gpu in devices {
            let device = gpu.device();
            if device.kind != DeviceKind::Gpu {
                return Err(Error::invalid("GPU of an engine", device, "a device gpu(n)"));
            }
            if gpus.iter().any(|known| known.device().device() == device) {
                return Err(Error::invalid("GPUs of an engine", format!("{device} twice"), "each device once"));
            }
            gpus.push(GpuStreams::new(gpu, layout));
        }
        Ok(Self { gpus, ..Self::default() })
    }

    /// Sets the function that is called once, by the thread that pushes the first GPU task, before the task can run.
    pub(crate) fn at_first_use(mut self, then: OnUse) -> Self {
        self.at_first_use = then;
        self
    }

    /// Records that a GPU is in use.
    #[inline]
    pub(crate) fn note_use(&self) {
        if !self.is_used.load(Ordering::Relaxed)
            && !self.is_used.swap(true, Ordering::Relaxed)
            && let Some(then) = &self.at_first_use.0
        {
            then();
        }
    }

    /// The streams of this device.
    ///
    /// # Errors
    /// [`ErrorKind::NotBuilt`] for a device that the engine was not given; the message says what to do.
    pub fn get(&self, device: Device) -> Result<&GpuStreams> {
        self.gpus.iter().find(|gpu| gpu.device().device() == device).ok_or_else(|| self.unknown(device))
    }

    #[cold]
    fn unknown(&self, device: Device) -> Error {
        let reason = match self.gpus.len() {
            0 => "the engine has no GPU; use cpu(0), or give the engine one when it is built (`EngineBuilder::gpu`)"
                .into(),
            _ => {
                let known: Vec<String> = self.gpus.iter().map(|gpu| gpu.device().device().to_string()).collect();
                format!("the engine has {}; use one of them", known.join(", "))
            }
        };
        Error::new(ErrorKind::NotBuilt { what: format!("engine: device {device}"), reason })
    }

    /// The GPUs, in the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = &GpuStreams> {
        self.gpus.iter()
    }

    /// Whether there is no GPU, so that no variable can have events.
    pub fn is_empty(&self) -> bool {
        self.gpus.is_empty()
    }

    /// The failures that were already reported, for [`crate::gpu::Waits`].
    pub fn reported(&self) -> &ReportedFailures {
        &self.reported
    }

    /// The tasks that enqueued work last, by which failures are named.
    pub(crate) fn recent(&self) -> &Arc<RecentTasks> {
        &self.recent
    }

    /// Blocks the calling thread until every stream of every GPU is empty. Failures then count as reported.
    ///
    /// # Errors
    /// The first failure that a device reports, with the task in which it began; all streams are empty nevertheless.
    pub fn synchronize(&self) -> Result<()> {
        first_failure(self.gpus.iter().map(|gpu| gpu.synchronize(&self.reported, &self.recent)))
    }
}
