//! The data that the threads of a team share, and what each thread does in a run. The rules T1 to T10 are in the
//! documentation of [`super`].

use super::idle::{Idle, Oversubscribed};
use crate::atomic::{AtomicBool, AtomicIsize, AtomicU64, AtomicUsize, Ordering, fence};
use crate::cell::UnsafeCell;
use crate::{Mutex, affinity, fork, hint, thread};
use crossbeam_utils::CachePadded;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// Mask of the low bits of `state`. If there are at most as many chunks as threads, these bits hold the number of
/// chunks, and thread `i` runs chunk `i`. If there are more chunks, they hold 0, and threads take chunks from `left`.
/// [`STOP`] means that the threads shall end.
const HANDS: u64 = EPOCH - 1;
/// The number that is added to `state` to increase the epoch by one: the epoch is in the high bits of `state`.
const EPOCH: u64 = 1 << 20;
const STOP: u64 = HANDS;
/// The size of the largest team.
pub(super) const MAX_SIZE: usize = STOP as usize - 1;
/// The largest number of threads that one thread wakes: threads are woken as a tree (T6).
const FAN_OUT: usize = 4;
/// The number of times that the caller polls before it checks again whether a thread sleeps (T6). Threads that are
/// awake normally finish within these polls. The polls take less time than waking a thread.
const LOOKS_BEFORE_FENCE: u32 = if cfg!(loom) { 0 } else { 100 };

/// The body of a loop, called with the number of a chunk; its lifetime is erased.
pub(super) type Body = dyn Fn(usize) + Sync;

#[derive(Clone, Copy)]
pub(super) struct Job {
    pub(super) body: *const Body,
    /// The number of chunks, at most `isize::MAX`.
    pub(super) n_chunks: usize,
}

/// The data that waiting threads poll, in one cache line.
struct Board {
    state: AtomicU64,
    job: UnsafeCell<Option<Job>>,
}

/// The state of one thread, in its own cache line.
struct ThreadSlot {
    /// In a run with at most as many chunks as threads, thread `i` runs chunk `i` and then stores the run's `Board::state`
    /// here. The caller waits until the slots of all other threads that have a chunk contain this value.
    finished: AtomicU64,
    asleep: AtomicBool,
}

pub(super) struct Shared {
    board: CachePadded<Board>,
    /// Indexed by thread number; entry 0, the caller's, is unused.
    slots: Box<[CachePadded<ThreadSlot>]>,
    /// The number of chunks that are not taken yet, if there are more chunks than threads; otherwise 0 or less.
    left: CachePadded<AtomicIsize>,
    /// The number of chunks taken from `left` that threads other than the caller have finished.
    finished: CachePadded<AtomicUsize>,
    busy: CachePadded<AtomicBool>,
    // The fields below are rarely written.
    size: usize,
    /// The number of threads that take part in runs that begin now: `size` without the threads that [`Self::keep_back`]
    /// excludes (T10).
    active: AtomicUsize,
    oversubscribed: Oversubscribed,
    /// The [`fork::generation`] of the process that started the threads. It differs in a forked child, where the
    /// threads do not exist (T9).
    generation: u64,
    cpus: Option<Vec<Vec<usize>>>,
    /// The smallest number of elements for which kernels divide a loop among threads; see [`super::Team::share_from`].
    share_from: AtomicUsize,
    /// Handles to wake threads 1, 2, …
    handles: OnceLock<Vec<thread::Thread>>,
    waiting: AtomicBool,
    waiter: Mutex<Option<thread::Thread>>,
    panicked: AtomicBool,
    /// The first panic of the current run.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: all fields except `job` are Send and Sync. One thread at a time writes `job`, and not while another thread
// may read it (T1, T2). The write comes before the read, because the writer releases `state` or `left` and the reader
// acquires it. The next write comes after the read, because the reader releases its slot or `finished` and the caller
// acquires it. The body that `job` points to is Sync, so any thread may call it, and it outlives its readers (T4).
unsafe impl Send for Shared {}
// SAFETY: the argument for `Send` also covers shared use.
unsafe impl Sync for Shared {}

impl Shared {
    pub(super) fn new(size: usize, cpus: Option<Vec<Vec<usize>>>) -> Self {
        let slot = || CachePadded::new(ThreadSlot { finished: AtomicU64::new(0), asleep: AtomicBool::new(false) });
        Self {
            board: CachePadded::new(Board { state: AtomicU64::new(0), job: UnsafeCell::new(None) }),
            slots: (0..size).map(|_| slot()).collect(),
            left: CachePadded::new(AtomicIsize::new(0)),
            finished: CachePadded::new(AtomicUsize::new(0)),
            busy: CachePadded::new(AtomicBool::new(false)),
            size,
            active: AtomicUsize::new(size),
            oversubscribed: Oversubscribed::ask(size),
            generation: fork::generation(),
            cpus,
            share_from: AtomicUsize::new(0),
            handles: OnceLock::new(),
            waiting: AtomicBool::new(false),
            waiter: Mutex::new(None),
            panicked: AtomicBool::new(false),
            panic: Mutex::new(None),
        }
    }

    /// The number of threads that take part in runs.
    #[inline]
    pub(super) fn size(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }

    /// Sets how many threads of the team are excluded from runs that begin later (T10).
    pub(super) fn keep_back(&self, threads: usize) {
        self.active.store(self.size.saturating_sub(threads).max(1), Ordering::Relaxed);
    }

    pub(super) fn share_from(&self, elements: usize) {
        self.share_from.store(elements, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn shares_from(&self) -> usize {
        self.share_from.load(Ordering::Relaxed)
    }

    pub(super) fn cpus(&self) -> Option<&[Vec<usize>]> {
        self.cpus.as_deref()
    }

    /// T9: whether the threads exist only in a parent process.
    #[inline]
    pub(super) fn is_orphan(&self) -> bool {
        self.generation != fork::generation()
    }

    /// Stores the handles with which threads 1, 2, … can be woken; called once, before the first run.
    pub(super) fn can_wake(&self, handles: Vec<thread::Thread>) {
        let _ = self.handles.set(handles);
    }

    /// Lets the threads of the team end; called after the last run. It does not wake them: the caller must wake threads
    /// that sleep.
    pub(super) fn stop(&self) {
        self.board.state.fetch_or(STOP, Ordering::Release);
    }

    /// Reserves the team for one run of the calling thread (T1). Returns false if another caller is using the team.
    pub(super) fn begin(&self) -> bool {
        !self.busy.swap(true, Ordering::Acquire)
    }

    /// Releases the team after a run. Returns the first panic that a call of the body raised in this run.
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

    /// Executes one run, on the thread for which `begin` returned true.
    pub(super) fn run(&self, job: Job) {
        let size = self.size();
        self.pin(0);
        // SAFETY: T1: this thread has set `busy`, and the previous run ended with all its chunks finished (T4), so no
        // thread reads the job.
        self.board.job.with_mut(|slot| unsafe { *slot = Some(job) });
        if job.n_chunks <= size {
            let state = self.announce(job.n_chunks as u64);
            self.wake_children(0, job.n_chunks);
            self.call(job, 0);
            let mut first = 1;
            self.wait(job.n_chunks, |s| {
                while first < job.n_chunks && s.slots[first].finished.load(Ordering::Acquire) == state {
                    first += 1;
                }
                first == job.n_chunks
            });
        } else {
            self.finished.store(0, Ordering::Relaxed);
            // After this store, a thread that still looks for a chunk of an earlier run may take a chunk of this run,
            // even before it sees the new epoch.
            self.left.store(job.n_chunks as isize, Ordering::Release);
            self.announce(0);
            self.wake_children(0, size);
            let mine = self.take_chunks(job, self.left.fetch_sub(1, Ordering::Relaxed));
            self.wait(0, |s| s.finished.load(Ordering::Acquire) == job.n_chunks - mine);
        }
    }

    /// T3: stores a new epoch, with `hands` in the low bits, and returns the new `state`.
    fn announce(&self, hands: u64) -> u64 {
        let before = self.board.state.load(Ordering::Relaxed);
        let state = (before & !HANDS).wrapping_add(EPOCH) | hands;
        self.board.state.store(state, Ordering::Release);
        state
    }

    #[inline]
    fn call(&self, job: Job, chunk: usize) {
        // SAFETY: this thread owns `chunk`, which is not finished, so the run has not ended and the body is still
        // borrowed (T4).
        let body = unsafe { &*job.body };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(chunk))) {
            let mut first = self.panic.lock();
            if first.is_none() {
                *first = Some(panic);
            } else {
                drop(first);
                discard(panic);
            }
            // When the caller sees that the chunk is finished, it also sees this flag.
            self.panicked.store(true, Ordering::Relaxed);
        }
    }

    /// Runs chunks until none is left; returns the number of chunks that it ran. `left` is the value of the counter
    /// `left` before this thread took its first chunk.
    fn take_chunks(&self, job: Job, mut left: isize) -> usize {
        let mut n_taken = 0;
        while left > 0 {
            self.call(job, job.n_chunks - left as usize);
            n_taken += 1;
            // This cannot take a chunk of the next run: this run ends only after this thread has reported its chunks as
            // finished.
            left = self.left.fetch_sub(1, Ordering::Relaxed);
        }
        n_taken
    }

    /// The main loop of team thread `me`: waits for runs and works on them until the team is stopped.
    pub(super) fn serve(&self, me: usize) {
        self.pin(me);
        let mut last = 0;
        let mut idle = Idle::new(self.oversubscribed);
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

    /// T6: parks until the epoch differs from `last`.
    #[cold]
    fn sleep(&self, me: usize, last: u64) {
        self.slots[me].asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        while self.board.state.load(Ordering::Acquire) == last && !self.is_orphan() {
            thread::park();
        }
        self.slots[me].asleep.store(false, Ordering::Relaxed);
    }

    /// Runs the chunks of thread `me` in the run of a new epoch; false if there was no chunk for this thread.
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
            self.slots[me].finished.store(state, Ordering::Release);
        } else {
            return false;
        }
        self.wake_caller();
        true
    }

    /// The job, for a thread that owns an unfinished chunk of it (T2).
    fn job(&self) -> Job {
        // SAFETY: T2: the slot was filled before this thread could own a chunk, and is not written until that chunk is
        // finished.
        let job = self.board.job.with(|slot| unsafe { *slot });
        match job {
            Some(job) => job,
            None => unreachable!("T2: a chunk without a job"),
        }
    }

    /// Takes a chunk of the current run, which may be later than the run whose epoch this thread saw. Returns the value
    /// of `left` before the chunk was taken; `None` if no chunk is left.
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
        if self.slots[thread].asleep.load(Ordering::Relaxed)
            && let Some(handles) = self.handles.get()
        {
            handles[thread - 1].unpark();
        }
    }

    /// T7: called after a thread has stored that its chunks are finished; wakes the caller if it waits.
    fn wake_caller(&self) {
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed)
            && let Some(waiter) = self.waiter.lock().as_ref()
        {
            waiter.unpark();
        }
    }

    /// Waits, as the caller, until `done` is true; the threads below `hands` are woken if they sleep.
    fn wait(&self, hands: usize, mut done: impl FnMut(&Self) -> bool) {
        for _ in 0..LOOKS_BEFORE_FENCE {
            if done(self) {
                return;
            }
            hint::spin_loop();
        }
        fence(Ordering::SeqCst);
        (1..hands).for_each(|thread| self.wake(thread));
        let mut idle = Idle::new(self.oversubscribed);
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
        std::thread_local! { static PINNED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) }; }
        let place = &cpus[thread % cpus.len()];
        if PINNED.with_borrow(|pinned| pinned == place) {
            return;
        }
        if let Err(error) = affinity::pin_current(place) {
            tracing::warn!(target: "mxrs_sync", "team thread {thread} is not pinned: {error}");
        }
        PINNED.set(place.clone());
    }
}

/// Drops the payload of a panic that is not reported. If this drop panics too, the new panic is caught and its payload
/// leaked: unwinding would make this thread leave the run before its chunks are finished (T4).
pub(super) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
}
