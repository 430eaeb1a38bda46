//! What the threads of a team share, and what each does with it; the rules are in [`super`].

use super::idle::{Crowded, Idle};
use crate::atomic::{AtomicBool, AtomicIsize, AtomicU64, AtomicUsize, Ordering, fence};
use crate::cell::UnsafeCell;
use crate::{Mutex, affinity, fork, hint, thread};
use crossbeam_utils::CachePadded;
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// The part of `state` that says who has a chunk by number: 0 for nobody, [`STOP`] for the end of the team.
const HANDS: u64 = EPOCH - 1;
/// One step of the epoch, the high bits of `state`.
const EPOCH: u64 = 1 << 20;
const STOP: u64 = HANDS;
/// Threads of the largest team.
pub(super) const MAX_SIZE: usize = STOP as usize - 1;
/// Threads woken by one thread.
const FAN_OUT: usize = 4;
/// Looks of the caller before its last look for sleepers (T6): long for a thread that is awake, short for one that is not.
const LOOKS_BEFORE_FENCE: u32 = if cfg!(loom) { 0 } else { 100 };

/// What a loop does to one chunk, its lifetime erased.
pub(super) type Body = dyn Fn(usize) + Sync;

#[derive(Clone, Copy)]
pub(super) struct Job {
    pub(super) body: *const Body,
    /// At most `isize::MAX`.
    pub(super) n_chunks: usize,
}

/// What waiting threads look at, in one cache line.
struct Board {
    state: AtomicU64,
    job: UnsafeCell<Option<Job>>,
}

/// What one thread says about itself, in a cache line of its own.
struct Seat {
    /// `state` of the last run in which this thread had a chunk by number, once that is finished.
    finished: AtomicU64,
    asleep: AtomicBool,
}

pub(super) struct Shared {
    board: CachePadded<Board>,
    /// By thread number; entry 0, the caller's, is unused.
    seats: Box<[CachePadded<Seat>]>,
    /// Chunks nobody has taken yet, when there are more chunks than threads; 0 or less otherwise.
    left: CachePadded<AtomicIsize>,
    /// Of such chunks those finished by threads other than the caller.
    finished: CachePadded<AtomicUsize>,
    busy: CachePadded<AtomicBool>,
    // From here on rarely written.
    size: usize,
    /// Threads that take part in runs that begin now: `size`, or fewer once some are kept back (T10).
    active: AtomicUsize,
    crowded: Crowded,
    /// T9.
    generation: u64,
    cpus: Option<Vec<usize>>,
    /// To wake threads 1, 2, …
    handles: OnceLock<Vec<thread::Thread>>,
    waiting: AtomicBool,
    waiter: Mutex<Option<thread::Thread>>,
    panicked: AtomicBool,
    /// The first panic of the current run.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: all fields but `job` are Send and Sync by themselves. `job` is written by one thread at a time, and not while
// another may read it (T1, T2): the release of `state` or `left` and its acquire by the reader order the write before, the
// release of a seat or `finished` and its acquire by the caller order it after. The body it points to is Sync, so it may
// be called from any thread, and it outlives its readers (T4).
unsafe impl Send for Shared {}
// SAFETY: see Send.
unsafe impl Sync for Shared {}

impl Shared {
    pub(super) fn new(size: usize, cpus: Option<Vec<usize>>) -> Self {
        let seat = || CachePadded::new(Seat { finished: AtomicU64::new(0), asleep: AtomicBool::new(false) });
        Self {
            board: CachePadded::new(Board { state: AtomicU64::new(0), job: UnsafeCell::new(None) }),
            seats: (0..size).map(|_| seat()).collect(),
            left: CachePadded::new(AtomicIsize::new(0)),
            finished: CachePadded::new(AtomicUsize::new(0)),
            busy: CachePadded::new(AtomicBool::new(false)),
            size,
            active: AtomicUsize::new(size),
            crowded: Crowded::ask(size),
            generation: fork::generation(),
            cpus,
            handles: OnceLock::new(),
            waiting: AtomicBool::new(false),
            waiter: Mutex::new(None),
            panicked: AtomicBool::new(false),
            panic: Mutex::new(None),
        }
    }

    /// Threads that take part in runs.
    #[inline]
    pub(super) fn size(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }

    /// T10.
    pub(super) fn keep_back(&self, threads: usize) {
        self.active.store(self.size.saturating_sub(threads).max(1), Ordering::Relaxed);
    }

    pub(super) fn cpus(&self) -> Option<&[usize]> {
        self.cpus.as_deref()
    }

    /// T9: whether the threads were left behind in a parent process.
    #[inline]
    pub(super) fn is_orphan(&self) -> bool {
        self.generation != fork::generation()
    }

    /// Hands in what is needed to wake threads 1, 2, …; once, before the first run.
    pub(super) fn can_wake(&self, handles: Vec<thread::Thread>) {
        let _ = self.handles.set(handles);
    }

    /// Lets the threads leave; after the last run. They may have to be woken.
    pub(super) fn stop(&self) {
        self.board.state.fetch_or(STOP, Ordering::Release);
    }

    /// Takes the team for one run (T1); false if another caller has it.
    pub(super) fn begin(&self) -> bool {
        !self.busy.swap(true, Ordering::Acquire)
    }

    /// Gives the team back after a run, with the first panic of its bodies.
    pub(super) fn end(&self) -> Option<Box<dyn Any + Send>> {
        let panicked = self.panicked.load(Ordering::Relaxed);
        let panic = if panicked { self.take_panic() } else { None };
        self.busy.store(false, Ordering::Release);
        panic
    }

    #[cold]
    fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panicked.store(false, Ordering::Relaxed);
        self.panic.lock().take()
    }

    /// One run, from the thread for which `begin` was true.
    pub(super) fn run(&self, job: Job) {
        let size = self.size();
        self.pin(0);
        // SAFETY: T1: this thread holds `busy`, and the run before ended with all its chunks finished (T4), so nobody reads.
        self.board.job.with_mut(|slot| unsafe { *slot = Some(job) });
        if job.n_chunks <= size {
            let state = self.announce(job.n_chunks as u64);
            self.wake_children(0, job.n_chunks);
            self.call(job, 0);
            let mut first = 1;
            self.wait(job.n_chunks, |s| {
                while first < job.n_chunks && s.seats[first].finished.load(Ordering::Acquire) == state {
                    first += 1;
                }
                first == job.n_chunks
            });
        } else {
            self.finished.store(0, Ordering::Relaxed);
            // From here on a late thread may take a chunk, even before it sees the epoch.
            self.left.store(job.n_chunks as isize, Ordering::Release);
            self.announce(0);
            self.wake_children(0, size);
            let mine = self.take_chunks(job, self.left.fetch_sub(1, Ordering::Relaxed));
            self.wait(0, |s| s.finished.load(Ordering::Acquire) == job.n_chunks - mine);
        }
    }

    /// T3: a new epoch; returns its `state`.
    fn announce(&self, hands: u64) -> u64 {
        let before = self.board.state.load(Ordering::Relaxed);
        let state = (before & !HANDS).wrapping_add(EPOCH) | hands;
        self.board.state.store(state, Ordering::Release);
        state
    }

    #[inline]
    fn call(&self, job: Job, chunk: usize) {
        // SAFETY: the caller owns this unfinished chunk of the job, so the body is still borrowed (T4).
        let body = unsafe { &*job.body };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(chunk))) {
            let mut first = self.panic.lock();
            if first.is_none() {
                *first = Some(panic);
            } else {
                drop(first);
                discard(panic);
            }
            // Seen by the caller with the chunk's end.
            self.panicked.store(true, Ordering::Relaxed);
        }
    }

    /// Runs chunks for as long as `left`, the count before taking one, was positive; returns how many.
    fn take_chunks(&self, job: Job, mut left: isize) -> usize {
        let mut n_taken = 0;
        while left > 0 {
            self.call(job, job.n_chunks - left as usize);
            n_taken += 1;
            // Not below a count of the next run: this run lasts until what was taken here is known to be finished.
            left = self.left.fetch_sub(1, Ordering::Relaxed);
        }
        n_taken
    }

    /// Life of team thread `me`.
    pub(super) fn serve(&self, me: usize) {
        self.pin(me);
        let mut last = 0;
        let mut idle = Idle::new(self.crowded);
        loop {
            let state = self.board.state.load(Ordering::Acquire);
            if state != last {
                if state & HANDS == STOP {
                    return;
                }
                last = state;
                if self.work(me, state) {
                    idle.restart();
                }
            } else if !idle.look_again() {
                self.sleep(me, last);
                if self.is_orphan() {
                    return;
                }
                idle.slept();
            }
        }
    }

    /// T6: parks until there is another epoch than `last`.
    #[cold]
    fn sleep(&self, me: usize, last: u64) {
        self.seats[me].asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while self.board.state.load(Ordering::Acquire) == last && !self.is_orphan() {
            thread::park();
        }
        self.seats[me].asleep.store(false, Ordering::Relaxed);
    }

    /// What thread `me` does for a new epoch; false when there was no chunk for it.
    fn work(&self, me: usize, state: u64) -> bool {
        let hands = (state & HANDS) as usize;
        if hands == 0 {
            let size = self.size();
            let Some(left) = (if me < size { self.take_first() } else { None }) else { return false };
            let job = self.job();
            self.wake_children(me, size);
            let n_taken = self.take_chunks(job, left);
            self.finished.fetch_add(n_taken, Ordering::Release);
        } else if me < hands {
            let job = self.job();
            self.wake_children(me, hands);
            self.call(job, me);
            self.seats[me].finished.store(state, Ordering::Release);
        } else {
            return false;
        }
        self.wake_caller();
        true
    }

    /// The job, for a thread that owns an unfinished chunk of it (T2).
    fn job(&self) -> Job {
        // SAFETY: T2: the slot was filled before this thread could own a chunk, and is not written until that is finished.
        let job = self.board.job.with(|slot| unsafe { *slot });
        match job {
            Some(job) => job,
            None => unreachable!("T2: a chunk without a job"),
        }
    }

    /// Takes a chunk of whatever run is going on; returns the count before.
    fn take_first(&self) -> Option<isize> {
        let mut left = self.left.load(Ordering::Relaxed);
        while left > 0 {
            match self.left.compare_exchange_weak(left, left - 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(left),
                Err(now) => left = now,
            }
        }
        None
    }

    fn wake_children(&self, me: usize, hands: usize) {
        let first = FAN_OUT * me + 1;
        for child in first..(first + FAN_OUT).min(hands) {
            self.wake(child);
        }
    }

    #[inline]
    fn wake(&self, thread: usize) {
        if self.seats[thread].asleep.load(Ordering::Relaxed)
            && let Some(handles) = self.handles.get()
        {
            handles[thread - 1].unpark();
        }
    }

    /// T7, the other side: after the end of a chunk has been made known.
    fn wake_caller(&self) {
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed)
            && let Some(waiter) = self.waiter.lock().as_ref()
        {
            waiter.unpark();
        }
    }

    /// Waits, as the caller, until threads below `hands` have made `done` true, or others of their own accord.
    fn wait(&self, hands: usize, mut done: impl FnMut(&Self) -> bool) {
        for _ in 0..LOOKS_BEFORE_FENCE {
            if done(self) {
                return;
            }
            hint::spin_loop();
        }
        fence(Ordering::SeqCst);
        (1..hands).for_each(|thread| self.wake(thread));
        let mut idle = Idle::new(self.crowded);
        while !done(self) {
            assert!(!self.is_orphan(), "a loop body forked this process; its other threads stayed in the parent");
            if idle.look_again() {
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
            return;
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

/// Drops the payload of a panic that is not reported. A payload whose own drop panics must not unwind this thread, which would leave
/// the run before its chunks are finished (T4); such a payload, and what its drop panicked with, are leaked.
pub(super) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
}
