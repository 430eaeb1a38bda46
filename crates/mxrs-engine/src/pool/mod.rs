//! Pools of workers: threads that take granted tasks from common queues.
//!
//! A pool is *first in, first out* or *by priority*. In the first kind tasks arrive in an inbox without a lock; a worker
//! empties it into a list. A lone worker's list is its own and plain memory, so order is kept and taking a task costs
//! nothing. Several workers share a list, under a lock, and each takes some tasks at a time into a deque that the others
//! steal from.
//!
//! An idle worker looks for [`SPIN`], then sleeps. Whoever leaves a task and sees a sleeper wakes one: the sleeper counts
//! itself and looks again before it sleeps, the other side leaves the task and looks for sleepers after, so one sees the
//! other.

mod heap;
mod inbox;
mod rest;
mod worker;

use crate::anew::Anew;
use crate::counters::PoolCounters;
use crate::op::{Op, Task};
use crate::var::TaskList;
use crossbeam_deque::{Stealer, Worker as Deque};
use crossbeam_utils::CachePadded;
use heap::Heap;
use inbox::Inbox;
use mxrs_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence_after_rmw};
use mxrs_sync::{Rank, RankedMutex, thread};
use mxrs_types::{Error, ErrorKind, Result};
use rest::Bed;
use std::cell::UnsafeCell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// How long an idle worker looks for a task before it sleeps.
const SPIN: Duration = Duration::from_micros(20);

/// Which pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PoolId {
    /// Normal tasks of one CPU device, by id ([`crate::EngineKind::ThreadedPerDevice`]).
    Cpu(u32),
    /// CPU-prioritised tasks of all CPU devices ([`crate::EngineKind::ThreadedPerDevice`]).
    CpuPriority,
    /// All tasks but copies ([`crate::EngineKind::Threaded`]).
    Global,
    /// Copies from and to GPUs ([`crate::EngineKind::Threaded`]).
    Copy,
    /// Normal tasks of one GPU ([`crate::EngineKind::ThreadedPerDevice`]).
    Gpu(u32),
    /// GPU-prioritised tasks of one GPU ([`crate::EngineKind::ThreadedPerDevice`]).
    GpuPriority(u32),
    /// Copies from and to one GPU ([`crate::EngineKind::ThreadedPerDevice`]).
    GpuCopy(u32),
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
        }
    }
}

/// In which order a pool's tasks leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// First in, first out; deletions first.
    Fifo,
    /// Larger priority first.
    Priority,
}

/// What a worker does with a task: finishes it, and may name one to run next. Gets the worker's number.
pub(crate) type Runner = Arc<dyn Fn(Task, usize) -> Option<Task> + Send + Sync>;

/// Threads and their queues. Threads start with the first task, or earlier on request; the queues outlive them.
pub(crate) struct Pool {
    /// The engine its threads work for.
    engine: u32,
    id: PoolId,
    /// Workers to start; there may be more seats, for a forked child.
    size: AtomicUsize,
    inbox: CachePadded<Inbox>,
    /// Deletions, ahead of the inbox.
    urgent: CachePadded<Inbox>,
    /// Instead of the inboxes, in a pool by priority. Above the pool's own lock: a worker about to sleep holds that one
    /// and asks whether the heap is empty.
    heap: Option<RankedMutex<Heap>>,
    seats: Box<[CachePadded<Seat>]>,
    /// What several workers took out of the inbox and have no room for in their deques, which stay small.
    backlog: RankedMutex<TaskList>,
    stealers: Box<[Stealer<RawTask>]>,
    /// Threads asleep or about to be.
    sleepers: CachePadded<AtomicUsize>,
    /// Workers wait between tasks as long as this is set.
    paused: AtomicBool,
    stopping: AtomicBool,
    started: AtomicBool,
    /// The threads were there in the process that this one was forked from.
    lost: AtomicBool,
    bed: Anew<Bed>,
    threads: RankedMutex<Vec<thread::JoinHandle<()>>>,
    running: CachePadded<AtomicUsize>,
    peak: AtomicUsize,
}

/// What belongs to one worker.
struct Seat {
    /// Only its worker uses it, or who has made sure that there is none.
    local: UnsafeCell<Local>,
    /// Written by the worker alone.
    executed: AtomicU64,
}

// SAFETY: `local` is used by the worker of this number, of which there is at most one at a time, and by `Pool::reset`,
// which is called where no other thread exists.
unsafe impl Sync for Seat {}

/// Tasks a worker has taken out of the inbox.
struct Local {
    urgent: TaskList,
    list: TaskList,
    /// Instead of the list, where there are others to steal from it.
    deque: Option<Deque<RawTask>>,
}

// SAFETY: tasks may move to any thread, and so may a deque of them.
unsafe impl Send for Local {}

/// A task in a deque; never dropped there but by [`Pool`]'s drop.
struct RawTask(NonNull<Op>);

// SAFETY: stands for a `Task`, which is `Send`.
unsafe impl Send for RawTask {}

impl Pool {
    pub(crate) fn new(engine: u32, id: PoolId, size: usize, seats: usize, order: Order) -> Arc<Self> {
        let seats = seats.max(size);
        let shared = order == Order::Fifo && seats > 1;
        let locals: Vec<Local> = (0..seats)
            .map(|_| Local {
                urgent: TaskList::default(),
                list: TaskList::default(),
                deque: shared.then(Deque::new_fifo),
            })
            .collect();
        let stealers = locals.iter().filter_map(|l| l.deque.as_ref().map(Deque::stealer)).collect();
        let seat = |local| CachePadded::new(Seat { local: UnsafeCell::new(local), executed: AtomicU64::new(0) });
        Arc::new(Self {
            engine,
            id,
            size: AtomicUsize::new(size),
            inbox: CachePadded::new(Inbox::new()),
            urgent: CachePadded::new(Inbox::new()),
            heap: (order == Order::Priority).then(|| RankedMutex::new(Rank::Leaf, Heap::new())),
            seats: locals.into_iter().map(seat).collect(),
            backlog: RankedMutex::new(Rank::Leaf, TaskList::default()),
            stealers,
            sleepers: CachePadded::new(AtomicUsize::new(0)),
            paused: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            started: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            bed: Anew::new(Bed::new),
            threads: RankedMutex::new(Rank::EngineThreads, Vec::new()),
            running: CachePadded::new(AtomicUsize::new(0)),
            peak: AtomicUsize::new(0),
        })
    }

    pub(crate) fn id(&self) -> PoolId {
        self.id
    }

    /// Workers there are once started.
    #[inline]
    fn size(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }

    /// Whether the threads are there.
    #[inline]
    pub(crate) fn is_started(&self) -> bool {
        self.started.load(Ordering::Acquire)
    }

    /// Starts the threads unless they are there.
    ///
    /// # Errors
    /// The system refuses a thread; those already started stay.
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
                Error::new(ErrorKind::Io { path: None, message, kind: e.kind() })
            })?;
            threads.push(thread);
        }
        self.started.store(true, Ordering::Release);
        Ok(())
    }

    /// Lets the threads leave once nothing is queued, and waits for them. Not from one of them.
    pub(crate) fn join(&self) {
        let mut threads = self.threads.lock();
        self.stopping.store(true, Ordering::Release);
        self.wake_all();
        for thread in threads.drain(..) {
            // Task panics are caught; a worker has nothing else to say.
            let _ = thread.join();
        }
        self.started.store(false, Ordering::Release);
    }

    fn wake_all(&self) {
        let Bed { resting, wake, .. } = self.bed.get();
        let _resting = resting.lock();
        wake.notify_all();
    }

    /// Queues a task; `front` puts it ahead of those already queued, its priority counts in a pool by priority only.
    #[inline]
    pub(crate) fn push(&self, task: Task, front: bool) {
        if let Some(heap) = &self.heap {
            let priority = task.priority;
            heap.lock().push(task, priority);
            mxrs_sync::atomic::fence(Ordering::SeqCst);
        } else {
            let inbox = if front { &self.urgent } else { &self.inbox };
            let was_empty = inbox.push(task);
            // Whoever left the first task of several wakes the lone worker.
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
        let Bed { resting, wake, .. } = self.bed.get();
        let _resting = resting.lock();
        wake.notify_one();
    }

    /// Whether a task that a worker of this pool has set free may run next on it: its inputs are in that core's cache. A
    /// lone worker keeps first in, first out; a pool by priority keeps its priorities.
    #[inline]
    pub(crate) fn may_run_next(&self, index: usize) -> bool {
        if self.heap.is_some() {
            return false;
        }
        if self.size() > 1 {
            return true;
        }
        // SAFETY: called by the worker of this number, which is in a task: it holds no borrow of its seat.
        let local = unsafe { &*self.seats[index].local.get() };
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
            executed: self.seats.iter().map(|s| s.executed.load(Ordering::Relaxed)).sum(),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Nothing is left after a join; a child that never started its threads has its parent's tasks here.
        for stealer in &self.stealers {
            while let Some(RawTask(op)) = worker::steal(stealer) {
                // SAFETY: taken out of the deque, which owned it.
                drop(unsafe { Task::from_raw(op) });
            }
        }
    }
}
