//! The tasks that enqueued work last, so that an error can name the task in which a failure began.
//!
//! A device reports a failure at all later events of the stream, and at events of streams that wait for one of these. So the
//! event at which the host sees a failure often belongs to another task than the one that failed. From the failed event the
//! search goes back: to the first event of the same stream that has failed, from there to a failed event for which that
//! task's stream waited, and so on.
//!
//! The task that is found may still not be the one that failed. Its predecessor may be forgotten, several threads may share a
//! stream, and a device that is lost may return its failure from all events. So errors say "in or before".

use crate::op::OpName;
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{Device, DeviceEvent, StreamId};
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

/// The number of tasks that are remembered for each stream.
const KEPT: usize = 64;

/// The stream of an event, and the event's number in the stream ([`DeviceEvent::place`]).
pub(crate) type Position = (StreamId, u64);

/// The events for which a task's stream waits.
pub(crate) type Positions = SmallVec<[Position; 4]>;

/// A task that has enqueued its work.
#[derive(Clone, Debug)]
struct Enqueued {
    /// The event after the work.
    event: Arc<dyn DeviceEvent>,
    task: OpName,
    waits: Positions,
    /// Whether the stream was emptied since then. An emptied stream works again, so a later failure did not begin in this
    /// task.
    is_past: bool,
}

impl Enqueued {
    /// Whether the event is known to have failed. Does not block.
    fn has_failed(&self) -> bool {
        !self.is_past && self.event.is_finished() && self.event.wait().is_err()
    }
}

/// The last tasks of each stream, in the order of their events. Events are queried only after a failure.
#[derive(Debug)]
pub(crate) struct RecentTasks(RankedMutex<BTreeMap<StreamId, VecDeque<Enqueued>>>);

impl Default for RecentTasks {
    fn default() -> Self {
        Self(RankedMutex::new(Rank::Leaf, BTreeMap::new()))
    }
}

/// A task and its device, for errors.
pub(crate) struct Origin {
    task: OpName,
    device: Device,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` on {}", self.task, self.device)
    }
}

impl RecentTasks {
    /// Remembers a task by the event after its work. Its stream has waited for the events `waits`.
    pub(crate) fn note(&self, event: &Arc<dyn DeviceEvent>, task: OpName, waits: Positions) {
        let mut streams = self.0.lock();
        let of_stream = streams.entry(event.stream()).or_default();
        let oldest = if of_stream.len() == KEPT { of_stream.pop_front() } else { None };
        // Threads that share a stream may come here in the opposite order of their events.
        let at = of_stream.partition_point(|known| known.event.place() < event.place());
        of_stream.insert(at, Enqueued { event: Arc::clone(event), task, waits, is_past: false });
        drop(streams);
        // Dropped after the lock is released, because dropping an event may call the device.
        drop(oldest);
    }

    /// The event at this position has returned a failure. Finds the task in which that failure began, as far as known.
    /// `None` if no event up to this position is known to have failed.
    pub(crate) fn origin(&self, stream: StreamId, place: u64) -> Option<Origin> {
        let streams = self.0.lock().clone();
        let first_failed = |(stream, place): Position| {
            let up_to = streams.get(&stream)?.iter().rev().skip_while(|known| known.event.place() > place);
            up_to.take_while(|known| known.has_failed()).last()
        };
        let mut found = first_failed((stream, place))?;
        // This ends: a task waits only for events that were recorded before its own.
        while let Some(earlier) = found.waits.iter().find_map(|position| first_failed(*position)) {
            found = earlier;
        }
        Some(Origin { task: found.task.clone(), device: found.event.stream().device })
    }

    /// Marks the tasks up to a place of a stream as past: the stream was emptied after them.
    pub(crate) fn end(&self, stream: StreamId, place: u64) {
        let mut streams = self.0.lock();
        let known = streams.get_mut(&stream).into_iter().flatten();
        known.filter(|known| known.event.place() <= place).for_each(|known| known.is_past = true);
    }

    /// The last task that enqueued work on this stream.
    pub(crate) fn last(&self, stream: StreamId) -> Option<Origin> {
        let streams = self.0.lock();
        let last = streams.get(&stream)?.back()?;
        Some(Origin { task: last.task.clone(), device: stream.device })
    }
}
