//! The interface of a device with its own queues: streams, and events that mark a position in one.
//!
//! The engine orders tasks with them, and storage pools use them to keep a block from being reused too early. What a
//! stream can run is defined by the crate that implements these traits; code that launches work uses
//! [`DeviceStream::as_any`] to get the type it knows.

use crate::{Device, Result};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Identifies a stream: the device, and a number that is unique on that device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId {
    /// The device of the stream.
    pub device: Device,
    /// The number, starting at 0, in the order in which the device's streams were made.
    pub number: u32,
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {} of {}", self.number, self.device)
    }
}

/// A queue of a device: enqueued work runs in order and asynchronously to the thread that enqueues it.
///
/// Any thread may use it, also several at the same time; the order of their work is then unspecified.
///
/// If enqueued work fails, the work that comes after it in order is invalid: later work of the stream, events recorded
/// after it, and work of streams that wait for those. Each of them reports the failure; a device may report it to
/// others as well.
pub trait DeviceStream: Send + Sync + fmt::Debug {
    /// Identifies the stream.
    fn id(&self) -> StreamId;

    /// Records an event at the current end of the queue.
    ///
    /// # Errors
    /// The device's error.
    fn record(&self) -> Result<Arc<dyn DeviceEvent>>;

    /// Makes later work start only after `event` is finished; the calling thread does not wait. The event may belong to
    /// this stream, to another one, or to another device.
    ///
    /// # Errors
    /// The device's error.
    fn wait_for(&self, event: &dyn DeviceEvent) -> Result<()>;

    /// Blocks the calling thread until everything enqueued so far is done.
    ///
    /// # Errors
    /// The device's error, including failures of enqueued work.
    fn synchronize(&self) -> Result<()>;

    /// The stream as its own type, for code that launches work on it.
    fn as_any(&self) -> &dyn Any;
}

/// A position in a stream: finished once all work enqueued before it is done. An event keeps its position as long as it
/// exists.
pub trait DeviceEvent: Send + Sync + fmt::Debug {
    /// The stream on which it was recorded.
    fn stream(&self) -> StreamId;

    /// Its number among the events of its stream: later events have larger numbers. So of two events of a stream, the
    /// one with the larger number implies the other.
    fn place(&self) -> u64;

    /// Whether the work before it is done and no longer uses memory. Once true, it stays true. Failed work is done too;
    /// [`DeviceEvent::wait`] then returns its failure immediately.
    fn is_finished(&self) -> bool;

    /// Blocks the calling thread until [`DeviceEvent::is_finished`].
    ///
    /// # Errors
    /// The device's error, including a failure of the work before it; each call returns it again.
    fn wait(&self) -> Result<()>;

    /// The event as its own type, for the stream that waits for it.
    fn as_any(&self) -> &dyn Any;
}
