//! The queue of a simulated stream, and the thread that executes it.

use crate::event::Mark;
use crate::gpu::{Shared, failure, lost};
use crate::timeline::Span;
use mxrs_sync::{Condvar, Mutex, MutexGuard};
use mxrs_types::{Error, Result, StreamId};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// The closure of a launch.
pub(crate) type Work = dyn FnOnce() -> Result<()> + Send;

pub(crate) enum Command {
    /// Runs `body`; if `failure` is set, the launch fails with this message instead and `body` does not run.
    Launch { name: Arc<str>, number: u64, failure: Option<String>, body: Box<Work> },
    /// Marks an event as reached.
    Record(Arc<Mark>),
    /// Waits until another stream's event is reached.
    Wait(Arc<Mark>),
    /// Wakes the thread of the host that waits for the stream, reports the stream's failure to it and clears the
    /// failure.
    Synchronize(Arc<Mark>),
}

/// A queue of commands that one thread executes in order.
#[derive(Default)]
pub(crate) struct Lane {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
pub(crate) struct Queue {
    commands: VecDeque<Command>,
    is_closed: bool,
    /// The number of events recorded so far.
    pub(crate) n_events: u64,
}

impl Queue {
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }
}

impl Lane {
    /// Locks the queue, so that the checker and the log see calls in the order of the queue.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock()
    }

    pub(crate) fn push(&self, mut queue: MutexGuard<'_, Queue>, command: Command) {
        queue.commands.push_back(command);
        drop(queue);
        self.changed.notify_one();
    }

    /// Closes the queue: queued commands are still executed, and no further command is accepted.
    pub(crate) fn close(&self) {
        self.queue.lock().is_closed = true;
        self.changed.notify_one();
    }

    fn next(&self) -> Option<Command> {
        let mut queue = self.queue.lock();
        loop {
            if let Some(command) = queue.commands.pop_front() {
                return Some(command);
            }
            if queue.is_closed {
                return None;
            }
            queue = self.changed.wait(queue);
        }
    }

    /// Executes the commands until the queue is closed and empty.
    pub(crate) fn serve(&self, id: StreamId, shared: &Shared, latency: Duration) {
        let mut failed: Option<Error> = None;
        while let Some(command) = self.next() {
            shared.holds.pass();
            if shared.is_lost() {
                failed.get_or_insert_with(|| lost(id.device));
            }
            match command {
                Command::Launch { .. } if failed.is_some() => shared.log.skip_launch(),
                Command::Launch { name, number, failure: ordered, body } => {
                    let _running = shared.run();
                    let start = shared.now();
                    if !latency.is_zero() {
                        std::thread::sleep(latency);
                    }
                    if let Some(message) = ordered {
                        failed = Some(failure(message));
                    } else {
                        failed = match catch_unwind(AssertUnwindSafe(body)) {
                            Ok(Ok(())) => None,
                            Ok(Err(error)) => {
                                Some(error.context(format!("running launch {number}, `{name}`, on {id}")))
                            }
                            Err(_) => Some(failure(format!("launch {number}, `{name}`, panicked on {id}"))),
                        };
                    }
                    let (end, is_failed) = (shared.now(), failed.is_some());
                    shared.spans.lock().push(Span { stream: id, name, start, end, is_failed });
                    shared.log.finish_launch(is_failed);
                }
                Command::Record(mark) => mark.set(failed.clone()),
                Command::Wait(mark) => failed = failed.or(mark.wait_on_device()),
                Command::Synchronize(mark) => mark.set(failed.take()),
            }
        }
    }
}
