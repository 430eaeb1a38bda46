//! Pools of workers: threads that take granted tasks from common queues.
//!
//! A pool is *first in, first out* or *by priority*. In a pool of the first kind, tasks arrive in a lock-free inbox,
//! and a worker empties the inbox into a list. If the pool has only one worker, the list belongs to that worker: it
//! needs no lock, keeps the order and makes taking a task cheap. Several workers share a list under a lock. Each moves
//! some tasks at a time from the list into its own deque, from which the other workers may steal.
//!
//! An idle worker looks for tasks during [`SPIN`] and then sleeps. A thread that adds a task wakes a sleeper if there
//! is one. A worker about to sleep first counts itself as a sleeper and then looks for tasks again; a thread that
//! adds a task looks for sleepers afterwards. So either the worker sees the task, or the thread sees the sleeper.

mod heap;
mod inbox;
mod rest;
mod worker;

use crate::counters::PoolCounters;
use crate::fork_reset::ForkReset;
use crate::op::{Op, Task};
use crate::var::TaskList;
use crossbeam_deque::{Stealer, Worker as Deque};
use crossbeam_utils::CachePadded;
use heap::Heap;
use inbox::Inbox;
use mxrs_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence_after_rmw};
use mxrs_sync::{Rank, RankedMutex, thread};
use mxrs_types::{Error, ErrorKind, Result};
use rest::WorkerSignals;
use std::cell::UnsafeCell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// The time during which an idle worker looks for tasks before it sleeps.
const SPIN: Duration = Duration::from_micros(20);

/// Identifies a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PoolId {
    /// Normal tasks of one CPU device, by id ([`crate::EngineKind::ThreadedPerDevice`]).
    Cpu(u32),
    /// Tasks of all CPU devices that were pushed with [`crate::Property::CpuPrioritized`]. Only
    /// [`crate::EngineKind::ThreadedPerDevice`] has this pool.
    CpuPriority,
    /// All tasks except copies ([`crate::EngineKind::Threaded`]).
    Global,
    /// Copies from and to GPUs ([`crate::EngineKind::Threaded`]).
    Copy,
    /// Normal tasks of one GPU ([`crate::EngineKind::ThreadedPerDevice`]).
    Gpu(u32),
    /// GPU-prioritized tasks of one GPU ([`crate::EngineKind::ThreadedPerDevice`]).
    GpuPriority(u32),
    /// Copies from and to one GPU ([`crate::EngineKind::ThreadedPerDevice`]).
    GpuCopy(u32),
    /// CPU tasks that wait for work of one GPU. A worker waits, and then queues the task in the pool where it runs.
    GpuWait(u32),
}

impl fmt::Display for PoolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu(id) => write!(f, "cpu-{id}"),
            Self::CpuPriority => f.write_str("cpu-priority"),
            Self::Global => f.write_str("global"),
            Self::Copy => f.write_str("copy"),
            Self::Gpu(id) => write!(f, "gpu-{id}"),
            Self::GpuPriority(id) => write!(f, "gpu-{id}-priority"),
            Self::GpuCopy(id) => write!(f, "gpu-{id}-copy"),
            Self::GpuWait(id) => write!(f, "gpu-{id}-wait"),
        }
    }
}

/// The order in which a pool's tasks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// First in, first out; deletions first.
    Fifo,
    /// Larger priority first.
    Priority,
}

/// Runs a task to its end on the worker of the given number, and may return a task to run next.
pub(crate) type Runner = Arc<dyn Fn(Task, usize) -> Option<Task> + Send + Sync>;

/// Threads and their queues. The threads start with the first task, or earlier on request; the queues outlive them.
pub(crate) struct Pool {
    /// The id of the engine for which the threads work.
    engine: u32,
    id: PoolId,
    /// The number of workers to start in this process. `slots` may be longer: it has room for the workers of this
    /// process or of a forked child, whichever has more.
    size: AtomicUsize,
    inbox: CachePadded<Inbox>,
    /// Deletions, which workers take before the tasks in `inbox`.
    urgent: CachePadded<Inbox>,
    /// The queue of a pool by priority, used instead of the two inboxes. Its lock has a higher rank than the lock in
    /// `signals`, because a worker about to sleep holds the latter while it checks whether the heap is empty.
    heap: Option<RankedMutex<Heap>>,
    slots: Box<[CachePadded<WorkerSlot>]>,
    /// In a pool of several workers: tasks that were taken out of the inbox but not yet moved to a worker's deque,
    /// which is kept small.
    backlog: RankedMutex<TaskList>,
    stealers: Box<[Stealer<RawTask>]>,
    /// The number of threads that are asleep or about to sleep.
    sleepers: CachePadded<AtomicUsize>,
    /// If set, each worker waits after its current task until this is cleared.
    paused: AtomicBool,
    stopping: AtomicBool,
    started: AtomicBool,
    /// Whether the pool had threads in the parent process and has lost them by a fork.
    lost: AtomicBool,
    signals: ForkReset<WorkerSignals>,
    threads: RankedMutex<Vec<thread::JoinHandle<()>>>,
    running: CachePadded<AtomicUsize>,
    peak: AtomicUsize,
}

/// The state of one worker.
struct WorkerSlot {
    /// Used only by its worker, or by a thread that has ensured that there is no worker.
    local: UnsafeCell<Local>,
    /// The number of tasks that the worker has executed; written only by the worker.
    executed: AtomicU64,
}

// SAFETY: `local` is used by the worker of this slot, of which there is at most one at a time, and by `Pool::reset`,
// which runs where no other thread exists.
unsafe impl Sync for WorkerSlot {}

/// Tasks that a worker has taken out of the inbox.
struct Local {
    urgent: TaskList,
    list: TaskList,
    /// Used instead of `list` in a pool of several workers, so that the others may steal from it.
    deque: Option<Deque<RawTask>>,
}

// SAFETY: tasks may move to any thread, and so may a deque of them.
unsafe impl Send for Local {}

/// A task in a deque. Dropping it does not drop the task; the drop of [`Pool`] drops the tasks that are left in deques.
struct RawTask(NonNull<Op>);

// SAFETY: a `RawTask` owns a `Task`, which is `Send`.
unsafe impl Send for RawTask {}

impl Pool {
    pub(crate) fn new(engine: u32, id: PoolId, size: usize, slots: usize, order: Order) -> Arc<Self> {
        let slots = slots.max(size);
        let shared = order == Order::Fifo && slots > 1;
        let locals: Vec<Local> = (0..slots)
            .map(|_| Local {
                urgent: TaskList::default(),
                list: TaskList::default(),
                deque: shared.then(Deque::new_fifo),
            })
            .collect();
        let stealers = locals.iter().filter_map(|l| l.deque.as_ref().map(Deque::stealer)).collect();
        let slot = |local| CachePadded::new(WorkerSlot { local: UnsafeCell::new(local), executed: AtomicU64::new(0) });
        Arc::new(Self {
            engine,
            id,
            size: AtomicUsize::new(size),
            inbox: CachePadded::new(Inbox::new()),
            urgent: CachePadded::new(Inbox::new()),
            heap: (order == Order::Priority).then(|| RankedMutex::new(Rank::Leaf, Heap::new())),
            slots: locals.into_iter().map(slot).collect(),
            backlog: RankedMutex::new(Rank::Leaf, TaskList::default()),
            stealers,
            sleepers: CachePadded::new(AtomicUsize::new(0)),
            paused: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            started: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            signals: ForkReset::new(WorkerSignals::new),
            threads: RankedMutex::new(Rank::EngineThreads, Vec::new()),
            running: CachePadded::new(AtomicUsize::new(0)),
            peak: AtomicUsize::new(0),
        })
    }

    pub(crate) fn id(&self) -> PoolId {
        self.id
    }

    /// The number of workers once started.
    #[inline]
    fn size(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }

    /// Whether the threads have been started.
    #[inline]
    pub(crate) fn is_started(&self) -> bool {
        self.started.load(Ordering::Acquire)
    }

    /// Starts the threads, unless they are running.
    ///
    /// # Errors
    /// Fails if the system refuses a thread; those already started keep running.
    #[cold]
    pub(crate) fn start(self: &Arc<Self>, runner: &dyn Fn() -> Runner) -> Result<()> {
        let mut threads = self.threads.lock();
        if self.is_started() {
            return Ok(());
        }
        self.stopping.store(false, Ordering::Release);
        let size = self.size();
        for index in threads.len()..size {
            let (pool, runner) = (Arc::clone(self), runner());
            let name = format!("mxrs-{}-{index}", self.id);
            let thread = thread::Builder::new().name(name).spawn(move || pool.serve(index, &*runner)).map_err(|e| {
                let message = format!("cannot start worker {index} of {size} of pool {}: {e}", self.id);
                Error::new(ErrorKind::Io { path: None, message, kind: e.kind() }).with_source(e)
            })?;
            threads.push(thread);
        }
        self.started.store(true, Ordering::Release);
        Ok(())
    }

    /// Lets the threads end once no task is queued, and waits for them. Must not be called on a thread of the pool.
    pub(crate) fn join(&self) {
        let mut threads = self.threads.lock();
        self.stopping.store(true, Ordering::Release);
        self.wake_all();
        for thread in threads.drain(..) {
            // Panics of tasks are caught, so a worker's result carries no information.
            let _ = thread.join();
        }
        self.started.store(false, Ordering::Release);
    }

    fn wake_all(&self) {
        let WorkerSignals { resting, wake, .. } = self.signals.get();
        let _resting = resting.lock();
        wake.notify_all();
    }

    /// Queues a task. `front` puts it before those already queued; in a pool by priority only its priority matters.
    #[inline]
    pub(crate) fn push(&self, task: Task, front: bool) {
        if let Some(heap) = &self.heap {
            let priority = task.priority;
            heap.lock().push(task, priority);
            mxrs_sync::atomic::fence(Ordering::SeqCst);
        } else {
            let inbox = if front { &self.urgent } else { &self.inbox };
            let was_empty = inbox.push(task);
            // The inbox had a task already, and the thread that added its first task wakes the lone worker.
            if self.size() == 1 && !was_empty {
                return;
            }
            fence_after_rmw();
        }
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            self.wake_one();
        }
    }

    #[cold]
    fn wake_one(&self) {
        let WorkerSignals { resting, wake, .. } = self.signals.get();
        let _resting = resting.lock();
        wake.notify_one();
    }

    /// Whether worker `index` may directly run a task that became ready when this worker completed another task. This
    /// saves time, because the worker's cache holds the task's inputs. A pool by priority never allows it; a lone
    /// worker allows it only if no other task is queued, which keeps the order.
    #[inline]
    pub(crate) fn may_run_next(&self, index: usize) -> bool {
        if self.heap.is_some() {
            return false;
        }
        if self.size() > 1 {
            return true;
        }
        // SAFETY: called by the worker of this number during a task, when it holds no borrow of its slot.
        let local = unsafe { &*self.slots[index].local.get() };
        local.list.is_empty()
            && local.urgent.is_empty()
            && self.inbox.is_empty()
            && self.urgent.is_empty()
            && local.deque.as_ref().is_none_or(Deque::is_empty)
    }

    pub(crate) fn counters(&self) -> PoolCounters {
        PoolCounters {
            id: self.id,
            threads: self.threads.lock().len(),
            peak_running: self.peak.load(Ordering::Relaxed),
            executed: self.slots.iter().map(|s| s.executed.load(Ordering::Relaxed)).sum(),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // The deques are empty after `join`, but not in a forked child that never started its threads: there they still
        // hold the tasks of the parent.
        for stealer in &self.stealers {
            while let Some(RawTask(op)) = worker::steal(stealer) {
                // SAFETY: the deque owned the task, and `steal` took it out.
                drop(unsafe { Task::from_raw(op) });
            }
        }
    }
}
