//! Completes a task whose body only starts the work.

use crate::busy::Busy;
use crate::engine::Inner;
use crate::gpu::TaskStreams;
use crate::op::Task;
use mxrs_sync::{Condvar, Mutex};
use mxrs_types::{Error, ErrorKind, Result};
use std::fmt;
use std::sync::Arc;

/// Reports the result of the work that the body of [`crate::TaskBuilder::push_async`] started. May be used on any thread.
///
/// A task is completed once (rule E6 of [`crate::var`]): further calls return an error. If the last clone is dropped without
/// a call, the task fails.
#[derive(Clone)]
pub struct Completion(Arc<Promise>);

/// Shared by all clones of a `Completion`. Fails the task if the last clone is dropped before the task is completed.
struct Promise(Arc<Shared>);

struct Shared {
    engine: Arc<Inner>,
    /// The streams of the task, if it is for a GPU.
    streams: Option<Arc<TaskStreams>>,
    state: Mutex<State>,
    wake: Condvar,
}

enum State {
    /// The task is not completed yet; the flag says whether the pushing thread waits for the completion.
    Open(Task, bool),
    /// The task is completed, but the pushing thread, which waits for it, has not taken the task and its result yet.
    ForPusher(Task, Result<()>),
    Completed,
}

impl Completion {
    pub(crate) fn new(engine: &Arc<Inner>, task: Task, streams: Option<Arc<TaskStreams>>, pusher_waits: bool) -> Self {
        let state = Mutex::new(State::Open(task, pusher_waits));
        Self(Arc::new(Promise(Arc::new(Shared { engine: Arc::clone(engine), streams, state, wake: Condvar::new() }))))
    }

    /// Ends the task. The tasks that depend on it may then run, or are skipped if `result` is an error.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Engine`] if the task was already completed, and then has no effect.
    pub fn complete(&self, result: Result<()>) -> Result<()> {
        self.0.0.complete(result)
    }

    /// Blocks the pushing thread until the task is completed, and returns the task with its result; `None` if the
    /// completion was created without `pusher_waits`.
    pub(crate) fn into_result(self) -> Option<(Task, Result<()>)> {
        // `self` is dropped before the wait: if it is the last clone, because the body dropped the others, the task
        // fails now instead of never ending.
        let shared = Arc::clone(&self.0.0);
        drop(self);
        let mut state = shared.state.lock();
        loop {
            match std::mem::replace(&mut *state, State::Completed) {
                State::ForPusher(task, result) => return Some((task, result)),
                State::Completed => return None,
                open => *state = open,
            }
            state = shared.wake.wait(state);
        }
    }
}

impl Shared {
    fn complete(&self, result: Result<()>) -> Result<()> {
        let mut state = self.state.lock();
        match std::mem::replace(&mut *state, State::Completed) {
            State::Open(task, true) => {
                let result = self.end_on_device(&task, result);
                *state = State::ForPusher(task, result);
                self.wake.notify_all();
                Ok(())
            }
            State::Open(task, false) => {
                drop(state);
                // Any thread may call this, and ending the task takes the locks of its variables, which a fork must not
                // interrupt.
                let _busy = Busy::enter();
                let result = self.end_on_device(&task, result);
                self.engine.complete_started(task, result);
                Ok(())
            }
            before => {
                *state = before;
                let message = "a task was completed twice; call `complete` once per task".to_owned();
                Err(Error::new(ErrorKind::Engine { message }))
            }
        }
    }
}

impl Shared {
    fn end_on_device(&self, task: &Task, result: Result<()>) -> Result<()> {
        match &self.streams {
            Some(streams) => self.engine.end_on_device(task, streams, result),
            None => result,
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        let name = match &*self.0.state.lock() {
            State::Open(task, _) => task.name.clone(),
            _ => return,
        };
        let message = format!("`{name}` was never completed: its completion was dropped");
        let _ = self.0.complete(Err(Error::new(ErrorKind::Engine { message })));
    }
}

impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion").finish_non_exhaustive()
    }
}
