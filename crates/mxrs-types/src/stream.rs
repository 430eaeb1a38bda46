//! The interface of a device with its own queues: streams, and events that mark a position in a stream.
//!
//! The engine orders tasks by streams and events, and storage pools use them to keep a block from being reused too early.
//! The crate that implements these traits defines what a stream can run; code that launches work uses
//! [`DeviceStream::as_any`] to get the concrete type.

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

/// A queue of a device. Enqueued work runs in order, asynchronously to the thread that enqueues it.
///
/// Any number of threads may use a stream at the same time; the order of their work is then unspecified.
///
/// If enqueued work fails, all later work of the stream is invalid. Events that are recorded after the failed work are
/// invalid too, and so is the work of streams that wait for these events. All of these return the failure. A device may
/// return the failure from unrelated work as well.
pub trait DeviceStream: Send + Sync + fmt::Debug {
    /// The identity of the stream.
    fn id(&self) -> StreamId;

    /// Records an event at the current end of the queue.
    ///
    /// # Errors
    /// Returns the error of the device.
    fn record(&self) -> Result<Arc<dyn DeviceEvent>>;

    /// Makes later work start only after `event` is finished; the calling thread does not wait. The event may belong to
    /// this stream, to another one, or to another device.
    ///
    /// # Errors
    /// Returns the error of the device.
    fn wait_for(&self, event: &dyn DeviceEvent) -> Result<()>;

    /// Blocks the calling thread until all work enqueued so far is done.
    ///
    /// # Errors
    /// Returns the error of the device, or the error of enqueued work that failed.
    fn synchronize(&self) -> Result<()>;

    /// The stream as `Any`, for code that needs the concrete type to launch work on it.
    fn as_any(&self) -> &dyn Any;
}

/// A position in a stream. It is finished once all work enqueued before it is done. An event keeps its position as long as
/// it exists.
pub trait DeviceEvent: Send + Sync + fmt::Debug {
    /// The stream on which the event was recorded.
    fn stream(&self) -> StreamId;

    /// The number of the event among the events of its stream. Later events have larger numbers, so if an event is
    /// finished, all events of the stream with smaller numbers are finished too.
    fn place(&self) -> u64;

    /// Whether the work before the event is done and no longer uses memory. Once true, it stays true. Failed work counts as
    /// done; [`DeviceEvent::wait`] then returns its failure immediately.
    fn is_finished(&self) -> bool;

    /// Blocks the calling thread until [`DeviceEvent::is_finished`] is true.
    ///
    /// # Errors
    /// Returns the error of the device, or the failure of the work before the event. Each call returns it again.
    fn wait(&self) -> Result<()>;

    /// The event as `Any`, for the stream that waits for it.
    fn as_any(&self) -> &dyn Any;
}
