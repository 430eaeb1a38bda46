//! Tasks pushed together (E16): a thread may collect small tasks and push them as one, which runs their bodies in order.
//!
//! Rules:
//!
//! 1. A thread collects between [`Engine::bulk`] and the end of that scope, for one engine at a time each: normal tasks
//!    of priority 0, of one device, not from inside a task. Any other push of the thread first pushes what it has.
//! 2. What is collected is pushed when it reaches the limit, when the device changes, at the end of the scope, and before
//!    any thread waits, stops the engine or uses a variable that it uses.
//! 3. A failing body taints only what it writes, and skips only the later bodies that depend on it.
//! 4. The naive engine never collects.

use crate::busy::Busy;
use crate::config::EngineKind;
use crate::context::{Inside, RunContext, Worker, is_inside};
use crate::engine::{Engine, Inner};
use crate::failure::Failure;
use crate::op::{Bulk, Dispatch, OpName, Property, Task, Use, Uses, normalise};
use crate::var::{self, Freed, TaskList, Var, VarCell};
use mxrs_sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{Device, Result};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

/// What a thread has collected for one engine.
pub(crate) struct Buffer {
    /// Not 0; how variables name it.
    number: u16,
    content: RankedMutex<Content>,
}

struct Content {
    limit: usize,
    tasks: TaskList,
    len: usize,
    device: Device,
    dispatch: Dispatch,
}

/// All buffers of an engine.
pub(crate) struct Buffers {
    /// Threads that collect: 0 makes everything here free.
    active: AtomicUsize,
    next: AtomicU32,
    all: RankedMutex<Vec<Arc<Buffer>>>,
}

// Loom's macro knows no `const` initialisers.
#[cfg(loom)]
mxrs_sync::thread_local! { static MINE: RefCell<Vec<(u32, Arc<Buffer>)>> = RefCell::new(Vec::new()); }
#[cfg(not(loom))]
mxrs_sync::thread_local! { static MINE: RefCell<Vec<(u32, Arc<Buffer>)>> = const { RefCell::new(Vec::new()) }; }

fn mine(engine: u32) -> Option<Arc<Buffer>> {
    MINE.with(|mine| mine.borrow().iter().find(|(id, _)| *id == engine).map(|(_, buffer)| Arc::clone(buffer)))
}

impl Buffers {
    pub(crate) fn new() -> Self {
        let all = RankedMutex::new(Rank::EngineBulks, Vec::new());
        Self { active: AtomicUsize::new(0), next: AtomicU32::new(1), all }
    }

    #[inline]
    pub(crate) fn are_idle(&self) -> bool {
        self.active.load(Ordering::Relaxed) == 0
    }
}

/// While it lives, the thread that made it collects tasks; see [`Engine::bulk`].
#[must_use = "tasks are collected only while the scope lives"]
pub struct BulkScope {
    engine: Engine,
    buffer: Option<Arc<Buffer>>,
    before: usize,
    /// Belongs to the thread that made it.
    _thread: PhantomData<*const ()>,
}

impl Engine {
    /// Lets the calling thread push up to `limit` small tasks as one, until the scope is dropped. Scopes nest; the inner
    /// limit counts. 0 and 1 switch collecting off. It changes no result (E16), only when tasks run, and that the
    /// variables' versions count the writes of one bulk as one.
    pub fn bulk(&self, limit: usize) -> BulkScope {
        let inner = self.inner();
        if inner.config.kind == EngineKind::Naive {
            return BulkScope { engine: self.clone(), buffer: None, before: 0, _thread: PhantomData };
        }
        let buffer = mine(inner.id).unwrap_or_else(|| inner.open_buffer());
        let _busy = Busy::enter();
        let before = std::mem::replace(&mut buffer.content.lock().limit, limit);
        if limit < before {
            inner.flush_buffer(&buffer);
        }
        BulkScope { engine: self.clone(), buffer: Some(buffer), before, _thread: PhantomData }
    }

    /// Pushes what the calling thread has collected.
    pub fn flush(&self) {
        if let Some(buffer) = mine(self.inner().id) {
            self.inner().flush_buffer(&buffer);
        }
    }
}

impl Drop for BulkScope {
    fn drop(&mut self) {
        let Some(buffer) = &self.buffer else { return };
        let inner = self.engine.inner();
        let _busy = Busy::enter();
        buffer.content.lock().limit = self.before;
        inner.flush_buffer(buffer);
        if self.before == 0 {
            inner.close_buffer(buffer);
        }
    }
}

impl fmt::Debug for BulkScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BulkScope").field("before", &self.before).finish_non_exhaustive()
    }
}

impl Inner {
    fn open_buffer(&self) -> Arc<Buffer> {
        let _busy = Busy::enter();
        let (device, dispatch) = (Device::cpu(0), Dispatch::Completer);
        let content = Content { limit: 0, tasks: TaskList::default(), len: 0, device, dispatch };
        // Numbers come round after 65,535 scopes; two buffers of one number only flush more than they have to.
        let number = (self.buffers.next.fetch_add(1, Ordering::Relaxed) as u16).max(1);
        let buffer = Arc::new(Buffer { number, content: RankedMutex::new(Rank::EngineBulk, content) });
        self.buffers.all.lock().push(Arc::clone(&buffer));
        self.buffers.active.fetch_add(1, Ordering::SeqCst);
        MINE.with(|mine| mine.borrow_mut().push((self.id, Arc::clone(&buffer))));
        buffer
    }

    fn close_buffer(&self, buffer: &Arc<Buffer>) {
        MINE.with(|mine| mine.borrow_mut().retain(|(_, b)| !Arc::ptr_eq(b, buffer)));
        self.buffers.all.lock().retain(|b| !Arc::ptr_eq(b, buffer));
        self.buffers.active.fetch_sub(1, Ordering::SeqCst);
    }

    /// Collects a task, or gives it back to be pushed on its own, after what must come before it.
    ///
    /// # Errors
    /// A variable is deleted (E11).
    #[cold]
    pub(crate) fn collect(self: &Arc<Self>, task: Task) -> Result<Option<Task>> {
        let _busy = Busy::enter();
        let mine = if is_inside(self.id) { None } else { mine(self.id) };
        let number = mine.as_ref().map_or(0, |buffer| buffer.number);
        if task.accesses().iter().any(|a| ![0, number].contains(&a.var().buffered_by())) {
            self.flush_all();
        }
        let Some(buffer) = mine else { return Ok(Some(task)) };
        let mut content = buffer.content.lock();
        let fits = task.property == Property::Normal && task.priority == 0 && !task.starts_only() && content.limit > 1;
        if !fits || content.device != task.device {
            self.push_content(&mut content);
        }
        if !fits || self.is_stopped() {
            return Ok(Some(task));
        }
        let mut kept: SmallVec<[Var; 8]> = SmallVec::new();
        for access in task.accesses() {
            if let Err(deleted) = access.var().set_buffered_by(number) {
                // Tasks collected before may use the same variables: with those pushed, nobody does.
                self.push_content(&mut content);
                kept.iter().for_each(|var| var.cell().clear_buffered());
                return Err(deleted);
            }
            // SAFETY: counted just now.
            kept.push(unsafe { Var::from_counted(access.var_ptr()) });
        }
        // The handles are the task's while it is collected; `push_content` takes them back.
        kept.into_iter().for_each(std::mem::forget);
        content.device = task.device;
        content.dispatch = task.dispatch;
        content.tasks.push(task);
        content.len += 1;
        if content.len >= content.limit {
            self.push_content(&mut content);
        }
        Ok(None)
    }

    /// Pushes what all threads have collected.
    pub(crate) fn flush_all(self: &Arc<Self>) {
        if self.buffers.are_idle() {
            return;
        }
        let _busy = Busy::enter();
        let all = self.buffers.all.lock().clone();
        for buffer in all {
            self.flush_buffer(&buffer);
        }
    }

    fn flush_buffer(self: &Arc<Self>, buffer: &Buffer) {
        let _busy = Busy::enter();
        self.push_content(&mut buffer.content.lock());
    }

    /// Under the buffer's lock, so that what its thread pushes next comes after.
    fn push_content(self: &Arc<Self>, content: &mut Content) {
        let len = std::mem::take(&mut content.len);
        if len == 0 {
            return;
        }
        let list = std::mem::take(&mut content.tasks);
        let mut uses = Uses::new();
        // What kept the variables until now, given up once the bulk's own accesses do.
        let mut kept: SmallVec<[Var; 16]> = SmallVec::new();
        for task in list.iter() {
            for access in task {
                // SAFETY: counted when the task was collected, and taken once, as its list is.
                kept.push(unsafe { Var::from_counted(access.var_ptr()) });
                // SAFETY: the handle above keeps the variable until the bulk is appended.
                uses.push(unsafe { Use::of_access(access) });
            }
        }
        normalise(&mut uses);
        let name = OpName::from("ImperativeBulk");
        let task = Task::new(name, &uses, content.device, 0, Property::NoSkip, content.dispatch, Bulk(list));
        self.tally.bulked.fetch_add(len as u64, Ordering::Relaxed);
        if let Err(error) = self.push_task(task) {
            // The engine was stopped by someone who did not wait for this thread.
            tracing::error!(target: "mxrs_engine", "{len} collected tasks are dropped: {error}");
        }
        // Only now: a deletion in between would come before tasks that were accepted before it.
        kept.iter().for_each(|var| var.cell().clear_buffered());
    }

    /// Runs the bodies of a bulk, in order, and gives its variables on.
    #[cold]
    pub(crate) fn run_bulk(
        self: &Arc<Self>,
        task: Task,
        mut list: TaskList,
        worker: Option<Worker>,
        home: Option<Worker>,
    ) -> Option<Task> {
        let _inside = worker.is_none().then(|| Inside::enter(self.id));
        let mut carried = Carried::of(&task);
        let context = RunContext::new(task.device, worker, None);
        match self.order_if_needed(&task, context, worker) {
            Ok(context) => {
                while let Some(body) = list.pop() {
                    self.run_in_bulk(&body, &context, &mut carried);
                }
                if let Some(streams) = context.streams()
                    && let Err(error) = self.end_on_device(&task, streams, Ok(()))
                {
                    carried.taint_all(&task, &self.keep_failure(error, &task));
                }
            }
            Err(error) => {
                let failure = self.keep_failure(error, &task);
                carried.taint_all(&task, &failure);
                while let Some(body) = list.pop() {
                    self.skip(&body, &failure);
                }
            }
        }
        let mut freed = Freed::default();
        var::release(&task, |access| carried.get(access.var_ptr()), &mut freed);
        drop(task);
        self.dispatch(freed, home)
    }

    fn run_in_bulk(&self, body: &Task, context: &RunContext, carried: &mut Carried) {
        let failure = match carried.inherited(body) {
            Some(failure) => {
                self.skip(body, &failure);
                failure
            }
            None => match self.run_body(body, context) {
                Ok(()) => return,
                Err(error) => {
                    self.tally.failed.fetch_add(1, Ordering::Relaxed);
                    self.keep_failure(error, body)
                }
            },
        };
        for access in body.accesses().iter().filter(|a| a.write) {
            carried.set(access.var_ptr(), &failure);
        }
    }
}

/// Which variables of a bulk carry a failure while its bodies run.
struct Carried(SmallVec<[(NonNull<VarCell>, Arc<Failure>); 4]>);

impl Carried {
    fn of(task: &Task) -> Self {
        if !task.is_tainted() {
            return Self(SmallVec::new());
        }
        let failed = |a: &crate::op::Access| Some((a.var_ptr(), a.var().live_failure()?));
        Self(task.accesses().iter().filter_map(failed).collect())
    }

    fn get(&self, var: NonNull<VarCell>) -> Option<&Arc<Failure>> {
        self.0.iter().find(|(v, _)| *v == var).map(|(_, failure)| failure)
    }

    fn set(&mut self, var: NonNull<VarCell>, failure: &Arc<Failure>) {
        match self.0.iter_mut().find(|(v, _)| *v == var) {
            Some((_, slot)) => *slot = Arc::clone(failure),
            None => self.0.push((var, Arc::clone(failure))),
        }
    }

    fn taint_all(&mut self, task: &Task, failure: &Arc<Failure>) {
        for access in task.accesses().iter().filter(|a| a.write) {
            self.set(access.var_ptr(), failure);
        }
    }

    /// As [`crate::op::live_failure`], over what is carried now.
    fn inherited(&self, body: &Task) -> Option<Arc<Failure>> {
        if self.0.is_empty() {
            return None;
        }
        crate::op::first_failure(body.accesses(), |access| {
            self.get(access.var_ptr()).filter(|failure| failure.is_live()).cloned()
        })
    }
}
