//! A stream's queue, and the thread that works it off.

use super::event::Mark;
use super::{Shared, failure};
use mxrs_sync::{Condvar, Mutex, MutexGuard};
use mxrs_types::{Error, StreamId};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

pub(super) enum Command {
    /// Runs a closure, or fails.
    Launch { name: Arc<str>, number: u64, fails: bool, body: Box<dyn FnOnce() + Send> },
    /// An event is reached.
    Record(Arc<Mark>),
    /// Another stream's event must be reached first.
    Wait(Arc<Mark>),
    /// The host synchronizes: hears of a failure, which is over then.
    Synchronize(Arc<Mark>),
}

/// A queue that one thread works off, in order.
#[derive(Default)]
pub(super) struct Lane {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
pub(super) struct Queue {
    commands: VecDeque<Command>,
    is_closed: bool,
    /// Events recorded so far.
    pub(super) n_events: u64,
}

impl Queue {
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }
}

impl Lane {
    /// The queue, locked, so that what the checker and the log hear is in the order of the queue.
    pub(super) fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock()
    }

    pub(super) fn push(&self, mut queue: MutexGuard<'_, Queue>, command: Command) {
        queue.commands.push_back(command);
        drop(queue);
        self.changed.notify_one();
    }

    /// What is in the queue is still done, nothing is taken any more.
    pub(super) fn close(&self) {
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

    /// Works the queue off until it is closed.
    pub(super) fn serve(&self, id: StreamId, shared: &Shared, latency: Duration) {
        let mut failed: Option<Error> = None;
        while let Some(command) = self.next() {
            shared.holds.pass();
            match command {
                Command::Launch { .. } if failed.is_some() => shared.log.skip_launch(),
                Command::Launch { name, number, fails, body } => {
                    let _running = shared.run();
                    if !latency.is_zero() {
                        std::thread::sleep(latency);
                    }
                    if fails {
                        failed = Some(failure(format!("launch {number}, `{name}`, failed on {id}")));
                    } else if catch_unwind(AssertUnwindSafe(body)).is_err() {
                        failed = Some(failure(format!("launch {number}, `{name}`, panicked on {id}")));
                    }
                    shared.log.finish_launch(failed.is_some());
                }
                Command::Record(mark) => mark.set(failed.clone()),
                Command::Wait(mark) => failed = failed.or(mark.wait_on_device()),
                Command::Synchronize(mark) => mark.set(failed.take()),
            }
        }
    }
}
