//! Tasks pushed together (rule E16 of [`crate::var`]): a thread collects small tasks and pushes them as one task, which runs
//! their bodies in order.
//!
//! Rules:
//!
//! 1. A thread collects between [`Engine::bulk`] and the end of that scope, for one engine at a time. It collects only
//!    normal tasks of priority 0 for one device, and not inside a task. Before any other push the thread pushes what it
//!    has collected.
//! 2. The collected tasks are pushed if the limit is reached, if the device changes, at the end of the scope, and
//!    before any thread waits, stops the engine or uses a variable that they use.
//! 3. A failing body taints only what it writes, and skips only the later bodies that depend on it.
//! 4. The naive engine never collects.
//! 5. A variable carries the *mark* of the one buffer that holds tasks using it. A thread that finds another buffer's
//!    mark on a variable pushes that buffer first; a deletion pushes any buffer whose mark it finds. Marks change under
//!    the lock of their buffer, and are removed once its bulk is in the queues of its variables.
//! 6. No code of the user runs under a buffer's lock, neither bodies nor destructors of what they captured.

mod collect;
mod run;

use crate::busy::Busy;
use crate::engine::{Engine, Inner};
use crate::op::Dispatch;
use crate::var::TaskList;
use mxrs_sync::atomic::{AtomicUsize, Ordering};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::Device;
use mxrs_types::EngineKind;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// The tasks that a thread has collected for one engine.
pub(crate) struct Buffer {
    /// Identifies the buffer: variables that its tasks use are marked with it. Not 0, and unique among live buffers.
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
    /// The number of threads that collect tasks. If it is 0, there is nothing to push.
    active: AtomicUsize,
    all: RankedMutex<Vec<Arc<Buffer>>>,
}

// This has no `const` initializer, because loom's version of the macro does not support one.
#[cfg(loom)]
mxrs_sync::thread_local! { static MINE: RefCell<Vec<(u32, Arc<Buffer>)>> = RefCell::new(Vec::new()); }
#[cfg(not(loom))]
mxrs_sync::thread_local! { static MINE: RefCell<Vec<(u32, Arc<Buffer>)>> = const { RefCell::new(Vec::new()) }; }

fn mine(engine: u32) -> Option<Arc<Buffer>> {
    let find = |mine: &RefCell<Vec<(u32, Arc<Buffer>)>>| {
        mine.borrow().iter().find(|(id, _)| *id == engine).map(|(_, buffer)| Arc::clone(buffer))
    };
    // A thread whose thread-local values have been destroyed has no buffer.
    MINE.try_with(find).ok().flatten()
}

impl Buffers {
    pub(crate) fn new() -> Self {
        let all = RankedMutex::new(Rank::EngineBulks, Vec::new());
        Self { active: AtomicUsize::new(0), all }
    }

    #[inline]
    pub(crate) fn are_idle(&self) -> bool {
        self.active.load(Ordering::Relaxed) == 0
    }
}

/// Makes the thread that created this scope collect tasks until the scope is dropped; see [`Engine::bulk`].
#[must_use = "tasks are collected only while the scope lives"]
pub struct BulkScope {
    engine: Engine,
    buffer: Option<Arc<Buffer>>,
    /// Whether this scope opened the buffer, and so must close it when it is dropped.
    outermost: bool,
    before: usize,
    /// Makes the scope `!Send`: it belongs to the thread that made it.
    _thread: PhantomData<*const ()>,
}

impl Engine {
    /// Lets the calling thread push up to `limit` small tasks as one, until the scope is dropped. Scopes nest, and the
    /// innermost limit applies; a limit of 0 or 1 switches collecting off. Results do not change (rule E16 of
    /// [`crate::var`]). Only the time when tasks run changes, and the versions of variables, which count all writes of one
    /// bulk as one.
    pub fn bulk(&self, limit: usize) -> BulkScope {
        let inner = self.inner();
        let mut scope =
            BulkScope { engine: self.clone(), buffer: None, outermost: false, before: 0, _thread: PhantomData };
        if inner.config.kind == EngineKind::Naive {
            return scope;
        }
        let _busy = Busy::enter();
        let existing = mine(inner.id);
        scope.outermost = existing.is_none();
        let Some(buffer) = existing.or_else(|| inner.open_buffer()) else { return scope };
        scope.before = std::mem::replace(&mut buffer.content.lock().limit, limit);
        if limit < scope.before {
            inner.flush_buffer(&buffer);
        }
        scope.buffer = Some(buffer);
        scope
    }

    /// Pushes the tasks that the calling thread has collected.
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
        if self.outermost {
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
    /// Opens a buffer for the calling thread; `None` if all 65,535 buffer numbers are in use or the thread is ending.
    fn open_buffer(&self) -> Option<Arc<Buffer>> {
        let (device, dispatch) = (Device::cpu(0), Dispatch::Completer);
        let content = Content { limit: 0, tasks: TaskList::default(), len: 0, device, dispatch };
        let content = RankedMutex::new(Rank::EngineBulk, content);
        let buffer = {
            let mut all = self.buffers.all.lock();
            let number = (1..=u16::MAX).find(|number| all.iter().all(|other| other.number != *number))?;
            let buffer = Arc::new(Buffer { number, content });
            all.push(Arc::clone(&buffer));
            buffer
        };
        self.buffers.active.fetch_add(1, Ordering::SeqCst);
        if MINE.try_with(|mine| mine.borrow_mut().push((self.id, Arc::clone(&buffer)))).is_err() {
            self.close_buffer(&buffer);
            return None;
        }
        Some(buffer)
    }

    fn close_buffer(&self, buffer: &Arc<Buffer>) {
        let _ = MINE.try_with(|mine| mine.borrow_mut().retain(|(_, b)| !Arc::ptr_eq(b, buffer)));
        self.buffers.all.lock().retain(|b| !Arc::ptr_eq(b, buffer));
        self.buffers.active.fetch_sub(1, Ordering::SeqCst);
    }
}
