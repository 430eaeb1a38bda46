//! The team: threads that share one operator's loop.
//!
//! # Protocol
//!
//! A team of size `n` owns `n - 1` threads; the caller of [`Team::run`] is thread 0. Everything turns on one word,
//! `state = epoch | OPEN | inside`.
//!
//! - **T1** Only the caller that won `busy` writes the job slot, and only while `state` is closed with `inside == 0`.
//! - **T2** Opening stores a new epoch with the OPEN bit. A thread *enters* by adding 1 to `inside` in the same word, which
//!   succeeds only while that epoch is open; it reads the job slot only between entering and leaving.
//! - **T3** A thread enters each epoch at most once.
//! - **T4** The caller closes when no chunk is left to hand out, then waits for `inside == 0`. So when `run` returns,
//!   nobody can still see the body: that is what makes lending a borrowed closure sound.
//! - **T5** With at most `n` chunks, chunk `i` belongs to thread `i`, so all chunks are in progress at the same time; the
//!   caller does not close before all of them are finished. With more, threads take the next chunk from a counter, and a
//!   thread that wakes too late finds the door closed and is not waited for.
//! - **T6** An idle thread spins for a moment, then announces `asleep`, looks at `state` once more, and parks. The opener
//!   stores `state` first and looks at `asleep` after; a sequentially consistent fence stands between the two on each
//!   side, so one of them sees the other. Wake-ups spread as a tree: thread `i` wakes `4i + 1 ..= 4i + 4`.
//! - **T7** The caller waits the same way, with `waiting` in the part of `asleep`.
//! - **T8** A run from inside a body, or while another caller has the team, or with one chunk, happens on the caller alone.
//! - **T9** A team remembers the [`fork::generation`] its threads were started in. In a forked child they do not exist, and
//!   `state`, `busy` and the locks are as some thread of the parent left them; so there the team has size 1, every run
//!   happens on the caller and touches none of these, and dropping the team joins nobody. A thread that was itself in a
//!   body when that body forked finds out at its next wait: the caller's run panics, a team thread ends.

use crate::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use crate::{Mutex, affinity, fork, hint, thread};
use crossbeam_utils::CachePadded;
use mxrs_types::{Error, ErrorKind, Result};
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Low bits of `state`: threads between entering and leaving.
const INSIDE: u64 = OPEN - 1;
/// The door bit of `state`.
const OPEN: u64 = 1 << 19;
/// One step of the epoch, the high bits of `state`.
const EPOCH: u64 = OPEN << 1;
/// How long a thread looks for work, or the caller for its team, before it parks.
const SPIN: Duration = Duration::from_micros(50);
/// Threads woken by one thread.
const FAN_OUT: usize = 4;

// Loom's macro knows no `const` initialisers.
#[cfg(loom)]
crate::thread_local! { static IN_BODY: Cell<bool> = Cell::new(false); }
#[cfg(not(loom))]
crate::thread_local! { static IN_BODY: Cell<bool> = const { Cell::new(false) }; }

/// Size and place of a [`Team`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeamConfig {
    /// Threads that run a loop together, the caller included.
    pub threads: NonZeroUsize,
    /// Logical CPUs to pin to: thread `i` to the `i`-th, starting over at the end. The caller, thread 0, is pinned at its
    /// first shared loop and stays so. Linux only. See [`affinity::cpu_list`].
    pub cpus: Option<Vec<usize>>,
}

/// Threads that share one operator's loop. See the module for how.
pub struct Team {
    shared: Arc<Shared>,
    threads: Vec<thread::JoinHandle<()>>,
}

/// What a loop does to one chunk, its lifetime erased.
type Body = dyn Fn(usize) + Sync;

#[derive(Clone, Copy)]
struct Job {
    body: *const Body,
    n_chunks: usize,
}

struct Shared {
    size: usize,
    /// T9.
    generation: u64,
    cpus: Option<Vec<usize>>,
    state: CachePadded<AtomicU64>,
    /// Next chunk, when there are more chunks than threads.
    next: CachePadded<AtomicUsize>,
    /// Chunks finished by threads other than the caller, when there are at most as many chunks as threads.
    finished: CachePadded<AtomicUsize>,
    busy: CachePadded<AtomicBool>,
    job: UnsafeCell<Option<Job>>,
    /// The first panic of the current run.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    stop: AtomicBool,
    /// By thread number; entry 0, the caller's, is unused.
    asleep: Box<[CachePadded<AtomicBool>]>,
    /// To wake threads 1, 2, …
    handles: OnceLock<Vec<thread::Thread>>,
    waiting: AtomicBool,
    waiter: Mutex<Option<thread::Thread>>,
}

// SAFETY: all fields but `job` are Send and Sync by themselves. `job` is written by one thread at a time (T1) and read only
// between entering and leaving (T2), which the release and acquire operations on `state` order against the write; the body
// it points to is Sync, so it may be called from any thread, and it outlives its readers (T4).
unsafe impl Send for Shared {}
// SAFETY: see Send.
unsafe impl Sync for Shared {}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Team").field("size", &self.size()).field("cpus", &self.shared.cpus).finish()
    }
}

impl Team {
    /// Starts the threads.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] for an empty CPU list or a CPU this process may not use, [`ErrorKind::Io`] when the
    /// system refuses a thread.
    pub fn new(config: TeamConfig) -> Result<Arc<Self>> {
        let size = config.threads.get();
        if size as u64 >= INSIDE {
            return Err(Error::invalid("team size", size, format!("less than {INSIDE}")));
        }
        if let Some(cpus) = &config.cpus {
            affinity::check(cpus)?;
        }
        fork::watch();
        let shared = Arc::new(Shared::new(size, config.cpus));
        let mut team = Self { shared: Arc::clone(&shared), threads: Vec::with_capacity(size - 1) };
        for i in 1..size {
            let shared = Arc::clone(&shared);
            // On failure `team` is dropped, which stops the threads made so far.
            let spawned = thread::Builder::new().name(format!("mxrs-team-{i}")).spawn(move || shared.serve(i));
            team.threads.push(spawned.map_err(|e| {
                Error::new(ErrorKind::Io {
                    path: None,
                    message: format!("cannot start team thread {i} of {size}: {e}"),
                    kind: e.kind(),
                })
            })?);
        }
        let _ = shared.handles.set(team.threads.iter().map(|t| t.thread().clone()).collect());
        Ok(Arc::new(team))
    }

    /// A team of one: every loop runs on its caller.
    pub fn serial() -> Arc<Self> {
        Arc::new(Self { shared: Arc::new(Shared::new(1, None)), threads: Vec::new() })
    }

    /// Threads that run a loop together, the caller included; 1 in a process forked since the team was made.
    pub fn size(&self) -> usize {
        if self.shared.is_orphan() { 1 } else { self.shared.size }
    }

    /// Whether the calling thread is inside a team's loop body right now, where a further [`Team::run`] is serial.
    pub fn is_inside() -> bool {
        IN_BODY.with(Cell::get)
    }

    /// Runs `body(i)` for every `i` in `0..n_chunks`, the caller included; returns when all are done.
    ///
    /// With `n_chunks <= size`, chunk `i` runs on thread `i` and all run at the same time; with more, each thread takes
    /// the next chunk when it is free. From inside a body, or while another caller has the team, or in a process forked
    /// since the team was made, all chunks run on the caller, in ascending order.
    ///
    /// # Panics
    /// With the first panic of a body, after all chunks have been run; in a process that a body forked, when the run would
    /// wait for threads that exist in the parent only.
    pub fn run(&self, n_chunks: usize, body: &(dyn Fn(usize) + Sync)) {
        let shared = &*self.shared;
        let alone = n_chunks <= 1 || shared.size == 1 || shared.is_orphan() || Self::is_inside();
        if alone || shared.busy.swap(true, Ordering::Acquire) {
            return run_inline(n_chunks, body);
        }
        let inside = Inside::enter();
        shared.pin(0);
        // SAFETY: only the lifetime changes. `run_shared` returns after the last thread has left (T4), so nobody uses the
        // body once the borrow ends; it cannot unwind before that, as panics of bodies are caught one by one.
        let body = unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const Body>(body) };
        let panic = shared.run_shared(Job { body, n_chunks });
        drop(inside);
        shared.busy.store(false, Ordering::Release);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if self.shared.is_orphan() {
            // The system may have given the numbers of the parent's threads to new ones: neither join nor detach.
            self.threads.drain(..).for_each(std::mem::forget);
            return;
        }
        self.shared.stop.store(true, Ordering::Release);
        for thread in &self.threads {
            thread.thread().unpark();
        }
        for thread in self.threads.drain(..) {
            // Bodies' panics are caught; a thread has nothing else to say.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn new(size: usize, cpus: Option<Vec<usize>>) -> Self {
        Self {
            size,
            generation: fork::generation(),
            cpus,
            state: CachePadded::new(AtomicU64::new(0)),
            next: CachePadded::new(AtomicUsize::new(0)),
            finished: CachePadded::new(AtomicUsize::new(0)),
            busy: CachePadded::new(AtomicBool::new(false)),
            job: UnsafeCell::new(None),
            panic: Mutex::new(None),
            stop: AtomicBool::new(false),
            asleep: (0..size).map(|_| CachePadded::new(AtomicBool::new(false))).collect(),
            handles: OnceLock::new(),
            waiting: AtomicBool::new(false),
            waiter: Mutex::new(None),
        }
    }

    /// T9: whether the threads were left behind in a parent process.
    fn is_orphan(&self) -> bool {
        self.generation != fork::generation()
    }

    fn run_shared(&self, job: Job) -> Option<Box<dyn Any + Send>> {
        let fixed = job.n_chunks <= self.size;
        let closed = self.state.load(Ordering::Relaxed);
        debug_assert_eq!(closed & (OPEN | INSIDE), 0, "T1: the door must be closed and nobody inside");
        // SAFETY: T1: this thread holds `busy`, the door is closed and nobody is inside, so nobody reads the slot.
        unsafe { *self.job.get() = Some(job) };
        self.next.store(0, Ordering::Relaxed);
        self.finished.store(0, Ordering::Relaxed);
        self.state.store(closed.wrapping_add(EPOCH) | OPEN, Ordering::Release);
        fence(Ordering::SeqCst);
        self.wake_children(0, job.n_chunks);
        if fixed {
            self.call(job, 0);
            self.wait(|s| s.finished.load(Ordering::Acquire) == job.n_chunks - 1);
        } else {
            self.take_chunks(job);
        }
        self.state.fetch_and(!OPEN, Ordering::AcqRel);
        self.wait(|s| s.state.load(Ordering::Acquire) & INSIDE == 0);
        self.panic.lock().take()
    }

    fn call(&self, job: Job, chunk: usize) {
        // SAFETY: the caller is inside (T2) or is the thread in `run`, so the body is still borrowed (T4).
        let body = unsafe { &*job.body };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(chunk))) {
            self.panic.lock().get_or_insert(panic);
        }
    }

    fn take_chunks(&self, job: Job) {
        loop {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if chunk >= job.n_chunks {
                return;
            }
            self.call(job, chunk);
        }
    }

    /// Life of team thread `me`.
    fn serve(&self, me: usize) {
        self.pin(me);
        let _inside = Inside::enter();
        let mut last = 0;
        let mut idle_since: Option<Instant> = None;
        loop {
            let state = self.state.load(Ordering::Acquire);
            if state & OPEN != 0 && state & !(OPEN | INSIDE) != last {
                let entered = self.state.compare_exchange(state, state + 1, Ordering::AcqRel, Ordering::Relaxed);
                if entered.is_ok() {
                    fence(Ordering::SeqCst);
                    last = state & !(OPEN | INSIDE);
                    if self.work(me) {
                        idle_since = None;
                    }
                }
                continue;
            }
            if self.stop.load(Ordering::Acquire) || self.is_orphan() {
                return;
            }
            if spin_allowed(&mut idle_since) {
                continue;
            }
            self.asleep[me].store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            loop {
                let state = self.state.load(Ordering::Acquire);
                let called = state & OPEN != 0 && state & !(OPEN | INSIDE) != last;
                if called || self.stop.load(Ordering::Acquire) {
                    break;
                }
                thread::park();
            }
            self.asleep[me].store(false, Ordering::Relaxed);
        }
    }

    /// From entering to leaving; false when there was no chunk for this thread.
    fn work(&self, me: usize) -> bool {
        // SAFETY: T2: this thread has entered, so the slot was filled before and is not written until it leaves.
        let job = unsafe { *self.job.get() };
        let mut worked = false;
        if let Some(job) = job {
            self.wake_children(me, job.n_chunks);
            worked = me < job.n_chunks;
            if job.n_chunks > self.size {
                self.take_chunks(job);
            } else if worked {
                self.call(job, me);
                self.finished.fetch_add(1, Ordering::Release);
            }
        }
        self.state.fetch_sub(1, Ordering::Release);
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed)
            && let Some(waiter) = self.waiter.lock().as_ref()
        {
            waiter.unpark();
        }
        worked
    }

    fn wake_children(&self, me: usize, n_chunks: usize) {
        let Some(handles) = self.handles.get() else { return };
        let first = FAN_OUT * me + 1;
        for child in first..(first + FAN_OUT).min(self.size).min(n_chunks) {
            if self.asleep[child].load(Ordering::Relaxed) {
                handles[child - 1].unpark();
            }
        }
    }

    /// Waits, as the caller, for something that a leaving thread makes true.
    fn wait(&self, done: impl Fn(&Self) -> bool) {
        let mut since = None;
        while !done(self) {
            assert!(!self.is_orphan(), "a loop body forked this process; its other threads stayed in the parent");
            if spin_allowed(&mut since) {
                continue;
            }
            *self.waiter.lock() = Some(thread::current());
            self.waiting.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            while !done(self) {
                thread::park();
            }
            self.waiting.store(false, Ordering::Relaxed);
            *self.waiter.lock() = None;
        }
    }

    fn pin(&self, thread: usize) {
        let Some(cpus) = &self.cpus else { return };
        std::thread_local! { static PINNED: Cell<Option<usize>> = const { Cell::new(None) }; }
        let cpu = cpus[thread % cpus.len()];
        if PINNED.get() == Some(cpu) {
            return;
        }
        if let Err(error) = affinity::pin_current(cpu) {
            tracing::warn!(target: "mxrs_sync", "team thread {thread} is not pinned: {error}");
        }
        PINNED.set(Some(cpu));
    }
}

/// Whether to look again rather than park; false once `SPIN` has passed since the first call.
fn spin_allowed(since: &mut Option<Instant>) -> bool {
    if cfg!(loom) {
        return false;
    }
    for _ in 0..8 {
        hint::spin_loop();
    }
    since.get_or_insert_with(Instant::now).elapsed() < SPIN
}

fn run_inline(n_chunks: usize, body: &(dyn Fn(usize) + Sync)) {
    let inside = Inside::enter();
    let mut panic = None;
    for chunk in 0..n_chunks {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| body(chunk))) {
            panic.get_or_insert(payload);
        }
    }
    drop(inside);
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

/// Marks the thread as being in a body, and restores what was there.
struct Inside {
    before: bool,
}

impl Inside {
    fn enter() -> Self {
        Self { before: IN_BODY.with(|inside| inside.replace(true)) }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        IN_BODY.with(|inside| inside.set(self.before));
    }
}
