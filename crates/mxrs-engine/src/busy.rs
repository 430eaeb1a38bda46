//! Which threads are in the middle of a step that a fork must not tear apart: pushing a task, running one on the pushing
//! thread, collecting, getting into a queue, completing what was started, or starting and ending workers.
//!
//! Whoever takes a lock of an engine does so within such a step, or as a worker in a task: a fork waits for both, so that
//! the child finds every lock free.
//!
//! Each thread has a flag of its own, so marking costs two stores. A fork raises a flag of the process, then waits for the
//! threads' flags; a thread raises its own, then looks at the process's: one sees the other.

use crate::context::is_inside_any;
// Std's own, not those of the door: forks are no part of what loom searches, and loom's cannot live in statics.
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence};
use std::thread;
use std::time::{Duration, Instant};

/// How long a fork waits for a thread or a task.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Forks being prepared, over all engines.
static FORKING: AtomicUsize = AtomicUsize::new(0);
/// The flags of all threads: a list without a lock, since a fork may come while a new thread enters itself, and the child
/// would find the lock held for ever.
static FLAGS: AtomicPtr<Flag> = AtomicPtr::new(std::ptr::null_mut());

/// How many steps a thread is in the middle of. Never freed; of a thread that has ended, the next new one takes it over.
struct Flag {
    marks: AtomicU32,
    is_taken: AtomicBool,
    next: *const Flag,
}

impl Flag {
    fn all() -> impl Iterator<Item = &'static Self> {
        let mut at: *const Self = FLAGS.load(Ordering::Acquire);
        std::iter::from_fn(move || {
            // SAFETY: flags are leaked, and published with all they hold but atomics.
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
            // SAFETY: nobody else knows the box before it is published below.
            unsafe { (*made).next = head };
            match FLAGS.compare_exchange_weak(head, made, Ordering::AcqRel, Ordering::Acquire) {
                // SAFETY: leaked, and from now on only read.
                Ok(_) => return unsafe { &*made },
                Err(now) => head = now,
            }
        }
    }
}

/// A thread's flag, given up when the thread ends.
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

/// Marks the calling thread, until dropped.
pub(crate) struct Busy(());

impl Busy {
    #[inline]
    fn mark() -> Self {
        // Only this thread writes its flag; it counts, as a body run on the pushing thread may push in turn.
        let _ = MINE.try_with(|mine| mine.0.marks.store(mine.0.marks.load(Ordering::Relaxed) + 1, Ordering::Relaxed));
        Self(())
    }

    /// Enters once no fork is in the way.
    pub(crate) fn enter() -> Self {
        Self::enter_with(|| fence(Ordering::SeqCst), || ())
    }

    /// As [`Busy::enter`], with something to do between the mark and the look at forks, which must be a full barrier, and
    /// to be undone when a fork is in the way.
    ///
    /// A thread that is busy already, or inside a task, does not wait: a fork waits for it.
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

    /// For the thread that forks, which has nobody to wait for.
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

/// Whether a fork waits for the calling thread, which has just been marked, for another reason.
#[cold]
fn is_waited_for() -> bool {
    is_inside_any() || MINE.try_with(|mine| mine.0.marks.load(Ordering::Relaxed)).is_ok_and(|marks| marks > 1)
}

/// Whether a fork is being prepared.
#[inline]
fn forking() -> bool {
    FORKING.load(Ordering::Relaxed) > 0
}

/// Lets a fork pass, with the thread not marked.
#[cold]
fn let_fork_pass() {
    while forking() {
        thread::yield_now();
    }
}

/// Keeps other threads from entering, and waits for those that have, but not for ever; until [`end_fork`].
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

/// Lets threads enter again.
pub(crate) fn end_fork() {
    FORKING.fetch_sub(1, Ordering::SeqCst);
}
