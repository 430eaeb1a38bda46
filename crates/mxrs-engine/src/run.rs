//! Runs a granted task and completes it.

use crate::completion::Completion;
use crate::context::{Inside, RunContext, Worker};
use crate::engine::Inner;
use crate::failure::Failure;
use crate::op::{Dispatch, OpName, Property, Task};
use crate::records;
use crate::var::{self, Freed};
use crate::waiting::may_wait;
use mxrs_sync::atomic::{Ordering, fence_after_rmw};
use mxrs_trace::SpanKind;
use mxrs_types::{Error, ErrorKind, Result};
use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Tasks that are to run on the current thread, each with its engine.
type Here = VecDeque<(Arc<Inner>, Task)>;

// The tasks that this thread runs after the one it is completing; `Some` only while it completes one. This has no `const`
// initializer, because loom's version of the macro does not support one.
#[cfg(loom)]
mxrs_sync::thread_local! { static HERE: RefCell<Option<Here>> = RefCell::new(None); }
#[cfg(not(loom))]
mxrs_sync::thread_local! { static HERE: RefCell<Option<Here>> = const { RefCell::new(None) }; }

/// How a task ended.
enum Outcome {
    /// The body succeeded. The value is the failure that an input of the task carries, if any.
    Done(Option<Arc<Failure>>),
    /// The body was skipped because of this failure.
    Skipped(Arc<Failure>),
    /// The body failed.
    Failed(Error),
    /// The body has started the work, and the task now belongs to its [`Completion`].
    Started,
}

impl Inner {
    /// Runs a granted task whose error is kept for a later wait. If `home` is the worker that calls this function, the
    /// result may be a task that this worker must run next.
    #[inline]
    pub(crate) fn run_deferred(
        self: &Arc<Self>,
        task: Task,
        worker: Option<Worker>,
        home: Option<Worker>,
    ) -> Option<Task> {
        if let Some(list) = task.take_bulk() {
            return self.run_bulk(task, list, worker, home);
        }
        let (outcome, task) = self.execute(task, worker);
        let task = task?;
        let failure = match outcome {
            Outcome::Done(inherited) => inherited,
            Outcome::Skipped(inherited) => Some(inherited),
            Outcome::Failed(error) => Some(self.keep_failure(error, &task)),
            Outcome::Started => None,
        };
        self.complete(task, failure.as_ref(), home)
    }

    /// Runs a granted task under [`EngineKind::Naive`], where the push returns its error.
    pub(crate) fn run_on_pusher(self: &Arc<Self>, task: Task) -> Result<()> {
        let (outcome, task) = self.execute(task, None);
        let Some(task) = task else { return Ok(()) };
        let (result, failure) = match outcome {
            Outcome::Done(inherited) => (Ok(()), inherited),
            Outcome::Skipped(inherited) => (inherited.take().map_or(Ok(()), Err), None),
            Outcome::Failed(error) => (Err(error.context(format!("running `{}` on {}", task.name, task.device))), None),
            Outcome::Started => (Ok(()), None),
        };
        self.complete(task, failure.as_ref(), None);
        result
    }

    /// Runs or skips the body. Returns the task unless its body has only started the work.
    #[inline]
    fn execute(self: &Arc<Self>, task: Task, worker: Option<Worker>) -> (Outcome, Option<Task>) {
        let inherited = task.inherited_failure();
        if let Some(failure) = &inherited
            && task.skips_on_failure()
        {
            self.skip(&task, failure);
            return (Outcome::Skipped(Arc::clone(failure)), Some(task));
        }
        let _inside = worker.is_none().then(|| Inside::enter(self.id));
        let context = RunContext::new(task.device, worker, inherited.clone());
        let context = match self.order_if_needed(&task, context, worker) {
            Ok(context) => context,
            Err(error) => return (self.failed(error), Some(task)),
        };
        if task.is_asynchronous() {
            return self.start_body(task, context);
        }
        let result = match records::are_needed() {
            true => self.run_to_end_recorded(&task, &context),
            false => self.run_to_end(&task, &context),
        };
        match result {
            Ok(()) => (Outcome::Done(inherited), Some(task)),
            Err(error) => (self.failed(error), Some(task)),
        }
    }

    /// Runs the body and, on a device, ends its work there.
    #[inline(always)]
    fn run_to_end(&self, task: &Task, context: &RunContext) -> Result<()> {
        let result = self.run_body(task, context);
        match context.streams() {
            Some(streams) => self.end_on_device(task, streams, result),
            None => result,
        }
    }

    /// Calls [`Self::run_to_end`] with records and the stall watch, as [`Self::watched`] does. A separate function keeps
    /// these instructions out of the usual path.
    #[cold]
    #[inline(never)]
    fn run_to_end_recorded(&self, task: &Task, context: &RunContext) -> Result<()> {
        self.run_recorded(task, || self.run_to_end(task, context))
    }

    /// Calls `run`, the work of the task. Records it, and registers the task with the stall watch, if those are on.
    #[inline]
    pub(crate) fn watched<R>(&self, task: &Task, run: impl FnOnce() -> R) -> R {
        if records::are_needed() { self.run_recorded(task, run) } else { run() }
    }

    #[cold]
    fn run_recorded<R>(&self, task: &Task, run: impl FnOnce() -> R) -> R {
        let _span = self.task_span(SpanKind::Run, task);
        let Some(watch) = &self.watch else { return run() };
        let number = watch.begin(task);
        let result = run();
        watch.end(number);
        result
    }

    /// Runs a body, and converts a panic into an error.
    #[inline]
    pub(crate) fn run_body(&self, task: &Task, context: &RunContext) -> Result<()> {
        match catch_unwind(AssertUnwindSafe(|| task.run(context))) {
            Ok(result) => result,
            Err(panic) => Err(panicked(&task.name, panic)),
        }
    }

    #[cold]
    pub(crate) fn skip(&self, task: &Task, failure: &Arc<Failure>) {
        failure.note_skipped(task.name.as_str());
        self.tally.skipped.fetch_add(1, Ordering::Relaxed);
        self.discard(task);
    }

    /// Drops a body without running it.
    #[cold]
    pub(crate) fn discard(&self, task: &Task) {
        let _inside = Inside::enter(self.id);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| task.discard())) {
            let text = text_of(panic);
            tracing::error!(target: "mxrs_engine", "dropping `{}` unrun panicked: {text}", task.name);
        }
    }

    #[cold]
    fn failed(&self, error: Error) -> Outcome {
        self.tally.failed.fetch_add(1, Ordering::Relaxed);
        Outcome::Failed(error)
    }

    /// Stores an error for a later wait.
    #[cold]
    pub(crate) fn keep_failure(&self, error: Error, task: &Task) -> Arc<Failure> {
        let error = match task.name.pushed_at() {
            Some(place) if self.config.backtrace => error.context(format!("pushed at\n{place}")),
            Some(place) => error.context(crate::op::stack_trace(place, self.config.stack_trace_depth)),
            None => error,
        };
        let failure = Failure::new(error, task.name.as_str(), task.device, self.config.sticky_errors);
        self.failures.add(Arc::clone(&failure));
        failure
    }

    #[cold]
    fn start_body(self: &Arc<Self>, task: Task, context: RunContext) -> (Outcome, Option<Task>) {
        let (name, pusher_waits) = (task.name.clone(), task.dispatch == Dispatch::Pusher);
        let span = self.task_span(SpanKind::Run, &task);
        let mut completion = None;
        let result = catch_unwind(AssertUnwindSafe(|| {
            task.start(&context, |task| {
                let made = Completion::new(self, task, context.shared_streams(), pusher_waits);
                completion = Some(made.clone());
                made
            })
        }));
        drop(span);
        let Some(completion) = completion else { return (Outcome::Started, None) };
        if let Err(panic) = result {
            // This call fails if the body completed the task before it panicked; the result of the earlier completion
            // then counts.
            let _ = completion.complete(Err(panicked(&name, panic)));
        }
        if !pusher_waits {
            return (Outcome::Started, None);
        }
        match completion.into_result() {
            Some((task, Ok(()))) => (Outcome::Done(task.inherited_failure()), Some(task)),
            Some((task, Err(error))) => (self.failed(error), Some(task)),
            None => (Outcome::Started, None),
        }
    }

    /// Ends a task whose body only started the work.
    pub(crate) fn complete_started(self: &Arc<Self>, task: Task, result: Result<()>) {
        let failure = match result {
            Ok(()) => task.inherited_failure(),
            Err(error) => {
                self.tally.failed.fetch_add(1, Ordering::Relaxed);
                Some(self.keep_failure(error, &task))
            }
        };
        self.complete(task, failure.as_ref(), None);
    }

    /// Releases the task's variables and dispatches the tasks that become ready.
    #[inline]
    pub(crate) fn complete(
        self: &Arc<Self>,
        task: Task,
        failure: Option<&Arc<Failure>>,
        home: Option<Worker>,
    ) -> Option<Task> {
        if records::are_needed() {
            self.complete_recorded(task, failure, home)
        } else {
            self.complete_unrecorded(task, failure, home)
        }
    }

    #[cold]
    #[inline(never)]
    fn complete_recorded(
        self: &Arc<Self>,
        task: Task,
        failure: Option<&Arc<Failure>>,
        home: Option<Worker>,
    ) -> Option<Task> {
        let _span = self.task_span(SpanKind::Complete, &task);
        self.log_if_asked(&task, "completion");
        self.complete_unrecorded(task, failure, home)
    }

    #[inline(always)]
    fn complete_unrecorded(
        self: &Arc<Self>,
        task: Task,
        failure: Option<&Arc<Failure>>,
        home: Option<Worker>,
    ) -> Option<Task> {
        let mut freed = Freed::default();
        var::release(&task, |_| failure, &mut freed);
        drop(task);
        self.dispatch(freed, home)
    }

    /// Wakes threads and dispatches tasks that became ready, and counts the task as completed.
    #[inline]
    pub(crate) fn dispatch(self: &Arc<Self>, mut freed: Freed, home: Option<Worker>) -> Option<Task> {
        // The task is counted before threads are woken, so that a woken thread finds it among the completed tasks.
        self.note_completed();
        freed.wake_threads();
        let mut next = None;
        while let Some(task) = freed.tasks.pop() {
            match task.dispatch {
                Dispatch::Pusher | Dispatch::Completer => self.run_here(task),
                Dispatch::Pool(kind) => {
                    let runs_next = next.is_none()
                        && task.property != Property::DeleteVar
                        && !may_wait(&task)
                        && home.is_some_and(|w| w.pool == kind.of_device(task.device) && self.may_run_next(w));
                    if runs_next {
                        next = Some(task);
                    } else {
                        self.enqueue(task);
                    }
                }
            }
        }
        next
    }

    /// Runs a task on the thread that completed the last task for which it had to wait. The task runs after the thread
    /// has completed its current task, so that a long chain of such tasks is a loop and not a recursion.
    #[cold]
    fn run_here(self: &Arc<Self>, task: Task) {
        let mut task = Some(task);
        let queued = HERE.try_with(|here| {
            let mut here = here.borrow_mut();
            let running = here.is_some();
            here.get_or_insert_default().extend(task.take().map(|task| (Arc::clone(self), task)));
            running
        });
        if queued.unwrap_or(false) {
            return;
        }
        if let Some(task) = task {
            // The thread is ending and its queue `HERE` has been destroyed, so the task runs immediately.
            self.run_deferred(task, None, None);
            return;
        }
        let next = |here: &RefCell<Option<Here>>| here.borrow_mut().as_mut().and_then(VecDeque::pop_front);
        while let Some((engine, task)) = HERE.with(next) {
            engine.run_deferred(task, None, None);
        }
        HERE.with(|here| *here.borrow_mut() = None);
    }

    #[inline]
    fn may_run_next(&self, worker: Worker) -> bool {
        self.pools.with(worker.pool, &self.config, |pool| pool.may_run_next(worker.index))
    }

    #[inline]
    pub(crate) fn note_completed(&self) {
        let completed = self.tally.completed.fetch_add(1, Ordering::SeqCst) + 1;
        fence_after_rmw();
        if self.idle.has_waiters() && completed == self.tally.pushed.load(Ordering::Relaxed) {
            self.idle.notify();
        }
    }
}

#[cold]
fn panicked(name: &OpName, panic: Box<dyn Any + Send>) -> Error {
    Error::new(ErrorKind::Panicked { what: format!("`{name}`"), message: text_of(panic) })
}

/// The message of a panic. Dropping the payload of a panic may panic too, and so may dropping the payload of that second
/// panic. None of these panics may reach the worker, so they are caught. After 8 of them the last payload is leaked.
fn text_of(panic: Box<dyn Any + Send>) -> String {
    let literal = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = literal.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into());
    let mut payload = panic;
    for _ in 0..8 {
        match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            Ok(()) => return text,
            Err(next) => payload = next,
        }
    }
    std::mem::forget(payload);
    text
}
