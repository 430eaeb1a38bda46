//! The interface of a GPU that the engine needs.

use mxrs_types::{Device, DeviceStream, Result};
use std::fmt;
use std::sync::Arc;

/// The purpose of a stream, so that a device can prepare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StreamUse {
    /// The main stream of a worker for normal tasks. The device makes handles of its libraries (such as cuBLAS) for it.
    Compute,
    /// The second stream of a worker, whose work may overlap with the work of the main stream. Has library handles, too.
    Auxiliary,
    /// A stream only for copies, which need no library handles.
    Copy,
    /// The main stream of a worker for prioritized tasks. Has library handles, and priority over other streams if the device
    /// supports that.
    Prioritized,
}

/// A GPU as the engine sees it: it creates streams.
///
/// The engine creates a stream when a worker gets its first task for the GPU, and keeps it until the engine is dropped.
pub trait GpuDevice: Send + Sync + fmt::Debug {
    /// The device of this GPU.
    fn device(&self) -> Device;

    /// Creates a stream.
    ///
    /// # Errors
    /// Returns the device's error. The task that needed the stream then fails with this error, and the next task that
    /// needs the stream requests it again.
    fn create_stream(&self, stream_use: StreamUse) -> Result<Arc<dyn DeviceStream>>;

    /// Makes the GPU the current one of the calling thread, if the driver has that notion. Called before each task, on
    /// the thread that runs it.
    ///
    /// # Errors
    /// The device's error; the task fails with it.
    fn make_current(&self) -> Result<()> {
        Ok(())
    }

    /// Called when the engine is dropped, after all its streams on this GPU have become empty and were dropped.
    fn close(&self) {}
}
