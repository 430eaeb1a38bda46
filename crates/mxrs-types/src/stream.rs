//! Words for a device that works through queues of its own: streams, and events that mark a place in one.
//!
//! The engine orders tasks by them, and the storage pools keep a block from being reused too early. What a stream can
//! run is the business of the crate that implements these traits; whoever launches work asks [`DeviceStream::as_any`]
//! for the type it knows.

use crate::{Device, Result};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Names a stream: the device and a number that no two streams of that device share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId {
    /// Where the stream is.
    pub device: Device,
    /// From 0, in the order the device's streams were made.
    pub number: u32,
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {} of {}", self.number, self.device)
    }
}

/// A queue of a device: what is enqueued runs in order, after the enqueuing thread has moved on.
///
/// Any thread may use it, several at once too; what they enqueue is then in some order.
///
/// When enqueued work fails, what comes after it in order is not to be trusted: later work of the stream, events recorded
/// after it, and work of streams that wait for those. Each of them reports the failure; a device may report it more widely
/// still.
pub trait DeviceStream: Send + Sync + fmt::Debug {
    /// Which stream.
    fn id(&self) -> StreamId;

    /// Marks the present end of the queue.
    ///
    /// # Errors
    /// What the device reports.
    fn record(&self) -> Result<Arc<dyn DeviceEvent>>;

    /// Makes work enqueued from now on start only after `event` is finished; the calling thread does not wait. The event
    /// may be another stream's, another device's or its own.
    ///
    /// # Errors
    /// What the device reports.
    fn wait_for(&self, event: &dyn DeviceEvent) -> Result<()>;

    /// Blocks the calling thread until everything enqueued so far is done.
    ///
    /// # Errors
    /// What the device reports, failures of enqueued work included.
    fn synchronize(&self) -> Result<()>;

    /// The stream as its own type, for those who launch work on it.
    fn as_any(&self) -> &dyn Any;
}

/// A place in a stream: finished once all work enqueued before it is done. It stays what it was recorded as for as long
/// as someone holds it.
pub trait DeviceEvent: Send + Sync + fmt::Debug {
    /// The stream it was recorded on.
    fn stream(&self) -> StreamId;

    /// Its number among the events of its stream: one recorded later has a larger one. So of two events of a stream, the
    /// one with the larger number stands for both.
    fn place(&self) -> u64;

    /// Whether the work before it is done: it touches no memory any more. Once true, always true. Failed work is done too;
    /// [`DeviceEvent::wait`] then returns at once, and says so.
    fn is_finished(&self) -> bool;

    /// Blocks the calling thread until [`DeviceEvent::is_finished`].
    ///
    /// # Errors
    /// What the device reports, a failure of the work before it included; each call reports it anew.
    fn wait(&self) -> Result<()>;

    /// The event as its own type, for the stream that waits for it.
    fn as_any(&self) -> &dyn Any;
}
