//! Pools of workers: threads that take granted tasks from one queue.

mod queue;

pub(crate) use queue::Queue;

use crate::counters::PoolCounters;
use crossbeam_utils::CachePadded;
use mxrs_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use mxrs_sync::{Condvar, Rank, RankedMutex, hint, thread};
use mxrs_types::{Error, ErrorKind, Result};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an idle worker looks for a task before it parks.
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
}

impl fmt::Display for PoolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu(id) => write!(f, "cpu-{id}"),
            Self::CpuPriority => f.write_str("cpu-priority"),
            Self::Global => f.write_str("global"),
            Self::Copy => f.write_str("copy"),
        }
    }
}

/// What a worker does with a task: finishes it, and may name one to run next. Gets the worker's number.
pub(crate) type Runner<T> = Arc<dyn Fn(T, usize) -> Option<T> + Send + Sync>;

/// Threads and their queue. Threads start with the first task, or earlier on request; the queue outlives them.
pub(crate) struct Pool<T> {
    id: PoolId,
    size: usize,
    queue: Queue<T>,
    /// Threads parked or about to park.
    sleepers: CachePadded<AtomicUsize>,
    park: RankedMutex<()>,
    wake: Condvar,
    started: AtomicBool,
    stopping: AtomicBool,
    threads: RankedMutex<Vec<thread::JoinHandle<()>>>,
    running: AtomicUsize,
    peak: AtomicUsize,
    executed: AtomicU64,
}

impl<T: Send + 'static> Pool<T> {
    pub(crate) fn new(id: PoolId, size: usize, queue: Queue<T>) -> Arc<Self> {
        Arc::new(Self {
            id,
            size,
            queue,
            sleepers: CachePadded::new(AtomicUsize::new(0)),
            park: RankedMutex::new(Rank::EnginePool, ()),
            wake: Condvar::new(),
            started: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            threads: RankedMutex::new(Rank::EngineLifecycle, Vec::new()),
            running: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            executed: AtomicU64::new(0),
        })
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Whether no task is queued.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether the threads are there.
    pub(crate) fn is_started(&self) -> bool {
        self.started.load(Ordering::Acquire)
    }

    /// Starts the threads unless they are there.
    ///
    /// # Errors
    /// The system refuses a thread; those already started stay.
    #[cold]
    pub(crate) fn start(self: &Arc<Self>, runner: &dyn Fn() -> Runner<T>) -> Result<()> {
        let mut threads = self.threads.lock();
        if self.is_started() {
            return Ok(());
        }
        self.stopping.store(false, Ordering::Release);
        for index in threads.len()..self.size {
            let (pool, runner) = (Arc::clone(self), runner());
            let name = format!("mxrs-{}-{index}", self.id);
            let thread = thread::Builder::new().name(name).spawn(move || pool.serve(index, &*runner)).map_err(|e| {
                let message = format!("cannot start worker {index} of {} of pool {}: {e}", self.size, self.id);
                Error::new(ErrorKind::Io { path: None, message, kind: e.kind() })
            })?;
            threads.push(thread);
        }
        self.started.store(true, Ordering::Release);
        Ok(())
    }

    /// Lets the threads leave once the queue is empty, and waits for them. Not from one of them.
    pub(crate) fn join(&self) {
        let mut threads = self.threads.lock();
        self.stopping.store(true, Ordering::Release);
        {
            let _park = self.park.lock();
            self.wake.notify_all();
        }
        for thread in threads.drain(..) {
            // Task panics are caught; a worker has nothing else to say.
            let _ = thread.join();
        }
        self.started.store(false, Ordering::Release);
    }

    /// Queues a task; `front` puts it ahead of those already queued, `priority` counts in a heap only.
    pub(crate) fn push(&self, task: T, front: bool, priority: i32) {
        self.queue.push(task, front, priority);
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            let _park = self.park.lock();
            self.wake.notify_one();
        }
    }

    fn serve(&self, index: usize, runner: &(dyn Fn(T, usize) -> Option<T> + Send + Sync)) {
        while let Some(task) = self.next() {
            let mut task = Some(task);
            while let Some(t) = task {
                let running = self.running.fetch_add(1, Ordering::Relaxed) + 1;
                if running > self.peak.load(Ordering::Relaxed) {
                    self.peak.fetch_max(running, Ordering::Relaxed);
                }
                self.executed.fetch_add(1, Ordering::Relaxed);
                task = runner(t, index);
                self.running.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// The next task, or `None` when stopping and nothing is left.
    fn next(&self) -> Option<T> {
        let mut since = None;
        loop {
            if let Some(task) = self.queue.pop() {
                return Some(task);
            }
            for _ in 0..16 {
                hint::spin_loop();
            }
            if since.get_or_insert_with(Instant::now).elapsed() < SPIN {
                continue;
            }
            let mut park = self.park.lock();
            self.sleepers.fetch_add(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            // A pusher either sees this sleeper, and then notifies under the lock, or its task is seen here.
            let mut leave = false;
            while self.queue.is_empty() && !leave {
                leave = self.stopping.load(Ordering::Acquire);
                if !leave {
                    park = park.wait(&self.wake);
                }
            }
            self.sleepers.fetch_sub(1, Ordering::Relaxed);
            if leave {
                return None;
            }
        }
    }

    pub(crate) fn counters(&self) -> PoolCounters {
        PoolCounters {
            id: self.id,
            threads: self.threads.lock().len(),
            peak_running: self.peak.load(Ordering::Relaxed),
            executed: self.executed.load(Ordering::Relaxed),
        }
    }
}
