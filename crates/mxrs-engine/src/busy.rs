//! Marks threads that are in the middle of a step which a fork must not interrupt: pushing a task, running one on the
//! pushing thread, collecting, joining a queue, completing a started task, or starting and ending workers.
//!
//! A thread takes a lock of an engine only during such a step, or as a worker during a task. A fork waits until these
//! steps and tasks have ended, so the child finds every lock free.
//!
//! Each thread has its own flag, so marking costs two stores. A fork sets a flag of the process and then waits for the
//! threads' flags. A thread sets its own flag and then checks the flag of the process. So the fork sees the thread's
//! flag, or the thread sees the fork's flag, or both.

use crate::context::is_inside_any;
// The standard library's atomics: loom does not model forks, and its atomics cannot live in statics.
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time that a fork waits for a thread or a task.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// The number of forks being prepared, over all engines.
static FORKING: AtomicUsize = AtomicUsize::new(0);
/// The flags of all threads, as a lock-free list. If the list had a lock and a fork happened while a new thread adds
/// its flag, the lock would stay locked forever in the child.
static FLAGS: AtomicPtr<Flag> = AtomicPtr::new(std::ptr::null_mut());

/// Counts the steps that a thread is in the middle of. Flags are never freed; the flag of a thread that has ended is
/// reused by the next new thread.
struct Flag {
    marks: AtomicU32,
    is_taken: AtomicBool,
    next: *const Flag,
}

impl Flag {
    fn all() -> impl Iterator<Item = &'static Self> {
        let mut at: *const Self = FLAGS.load(Ordering::Acquire);
        std::iter::from_fn(move || {
            // SAFETY: flags are leaked, and after publication only their atomics change.
            let flag = unsafe { at.as_ref() }?;
            at = flag.next;
            Some(flag)
        })
    }

    fn claim() -> &'static Self {
        let is_free = |flag: &&Self| !flag.is_taken.swap(true, Ordering::AcqRel);
        if let Some(flag) = Self::all().find(is_free) {
            return flag;
        }
        let made = Self { marks: AtomicU32::new(0), is_taken: AtomicBool::new(true), next: std::ptr::null() };
        let made = Box::into_raw(Box::new(made));
        let mut head = FLAGS.load(Ordering::Acquire);
        loop {
            // SAFETY: no other thread has a pointer to the box before it is published below.
            unsafe { (*made).next = head };
            match FLAGS.compare_exchange_weak(head, made, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: the box is leaked, and from now on only shared references to it exist.
                Ok(_) => return unsafe { &*made },
                Err(now) => head = now,
            }
        }
    }
}

/// A thread's flag, released when the thread ends.
struct Mine(&'static Flag);

impl Drop for Mine {
    fn drop(&mut self) {
        self.0.marks.store(0, Ordering::Release);
        self.0.is_taken.store(false, Ordering::Release);
    }
}

std::thread_local! {
    static MINE: Mine = Mine(Flag::claim());
}

/// Marks the calling thread as busy until this value is dropped.
pub(crate) struct Busy(());

impl Busy {
    #[inline]
    fn mark() -> Self {
        // Only this thread writes its flag. It is a counter, because a body that runs on the pushing thread may push in
        // turn.
        let _ = MINE.try_with(|mine| mine.0.marks.store(mine.0.marks.load(Ordering::Relaxed) + 1, Ordering::Relaxed));
        Self(())
    }

    /// Marks the calling thread as busy. Waits before that while a fork is being prepared.
    pub(crate) fn enter() -> Self {
        Self::enter_with(|| fence(Ordering::SeqCst), || ())
    }

    /// [`Busy::enter`] with a hook: `announce` runs between setting the mark and checking for a fork, and must be a
    /// full barrier; `withdraw` undoes it if a fork is being prepared.
    ///
    /// A thread that is already busy, or inside a task, does not wait, because the fork waits for it.
    #[inline]
    pub(crate) fn enter_with(announce: impl Fn(), withdraw: impl Fn()) -> Self {
        loop {
            let busy = Self::mark();
            announce();
            if !forking() || is_waited_for() {
                return busy;
            }
            withdraw();
            drop(busy);
            let_fork_pass();
        }
    }

    /// Marks the thread that forks. It does not wait, because the fork is its own.
    pub(crate) fn of_forking_thread() -> Self {
        Self::mark()
    }
}

impl Drop for Busy {
    #[inline]
    fn drop(&mut self) {
        let _ = MINE.try_with(|mine| {
            mine.0.marks.store(mine.0.marks.load(Ordering::Relaxed).saturating_sub(1), Ordering::Release)
        });
    }
}

/// Whether a fork would wait for the calling thread even if the thread had not just set its mark: the thread is inside
/// a task, or it was already marked before.
#[cold]
fn is_waited_for() -> bool {
    is_inside_any() || MINE.try_with(|mine| mine.0.marks.load(Ordering::Relaxed)).is_ok_and(|marks| marks > 1)
}

/// Whether a fork is being prepared.
#[inline]
fn forking() -> bool {
    FORKING.load(Ordering::Relaxed) > 0
}

/// Waits until the fork in progress is over. The calling thread must not be marked as busy, because the fork would wait
/// for it.
#[cold]
fn let_fork_pass() {
    while forking() {
        thread::yield_now();
    }
}

/// Keeps other threads from becoming busy until [`end_fork`], and waits until the busy ones have finished their steps,
/// up to [`PATIENCE`].
pub(crate) fn begin_fork() {
    FORKING.fetch_add(1, Ordering::SeqCst);
    fence(Ordering::SeqCst);
    let own = MINE.try_with(|mine| std::ptr::from_ref(mine.0)).ok();
    let until = Instant::now() + PATIENCE;
    for flag in Flag::all().filter(|flag| own != Some(std::ptr::from_ref(*flag))) {
        while flag.marks.load(Ordering::Acquire) > 0 && Instant::now() < until {
            thread::yield_now();
        }
    }
}

/// Lets threads become busy again.
pub(crate) fn end_fork() {
    FORKING.fetch_sub(1, Ordering::SeqCst);
}
