//! What the engine needs of a GPU.

use mxrs_types::{Device, DeviceStream, Result};
use std::fmt;
use std::sync::Arc;

/// What a stream is made for, so that a device can prepare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StreamUse {
    /// The main stream of a worker for normal tasks: with library handles.
    Compute,
    /// The second stream of a worker, for work that runs beside its main one: with library handles.
    Auxiliary,
    /// Copies only: no library handles.
    Copy,
    /// The main stream of a worker for prioritised tasks: with library handles, ahead of others where the device can.
    Prioritised,
}

/// A GPU as the engine sees it: a maker of streams.
///
/// The engine makes a stream when a worker meets its first task for the GPU, and keeps it as long as itself.
pub trait GpuDevice: Send + Sync + fmt::Debug {
    /// Which GPU.
    fn device(&self) -> Device;

    /// A new stream.
    ///
    /// # Errors
    /// What the device reports. The task that needed the stream fails with it; the next one asks again.
    fn create_stream(&self, stream_use: StreamUse) -> Result<Arc<dyn DeviceStream>>;

    /// Makes the GPU the current one of the calling thread, where the driver has such a notion. Called before each task,
    /// on the thread that runs it.
    ///
    /// # Errors
    /// What the device reports; the task fails with it.
    fn make_current(&self) -> Result<()> {
        Ok(())
    }

    /// The engine is gone: all its streams are empty, and it has let go of them.
    fn close(&self) {}
}

/// When a GPU task counts as complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum GpuSync {
    /// When its work is done: the worker blocks until the stream is empty.
    #[default]
    Host,
    /// When its work is enqueued: later users of its variables wait for an event.
    Event,
}
