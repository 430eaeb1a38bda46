//! Which threads are in the middle of a step that a fork must not tear apart: pushing a task, or getting into a queue.
//!
//! Each thread has a flag of its own, so marking costs two stores. A fork raises a flag of the process, then waits for the
//! threads' flags; a thread raises its own, then looks at the process's: one sees the other.

// Std's own, not those of the door: forks are no part of what loom searches, and loom's cannot live in statics.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Forks being prepared, over all engines.
static FORKING: AtomicUsize = AtomicUsize::new(0);
/// The flags of all threads.
static FLAGS: Mutex<Vec<Arc<AtomicBool>>> = Mutex::new(Vec::new());

std::thread_local! {
    static MINE: Arc<AtomicBool> = register();
}

#[cold]
fn register() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let mut flags = FLAGS.lock().unwrap_or_else(PoisonError::into_inner);
    flags.retain(|flag| Arc::strong_count(flag) > 1);
    flags.push(Arc::clone(&flag));
    flag
}

/// Marks the calling thread, until dropped.
pub(crate) struct Busy(());

impl Busy {
    /// The caller orders this before looking at [`forking`], by a full barrier.
    #[inline]
    pub(crate) fn enter() -> Self {
        let _ = MINE.try_with(|mine| mine.store(true, Ordering::Relaxed));
        Self(())
    }
}

impl Drop for Busy {
    #[inline]
    fn drop(&mut self) {
        let _ = MINE.try_with(|mine| mine.store(false, Ordering::Release));
    }
}

/// Whether a fork is being prepared.
#[inline]
pub(crate) fn forking() -> bool {
    FORKING.load(Ordering::Relaxed) > 0
}

/// Lets a fork pass, with the thread not marked.
#[cold]
pub(crate) fn let_fork_pass() {
    while forking() {
        thread::yield_now();
    }
}

/// Keeps other threads from entering, and waits for those that have; until [`end_fork`].
pub(crate) fn begin_fork() {
    FORKING.fetch_add(1, Ordering::SeqCst);
    fence(Ordering::SeqCst);
    let flags = FLAGS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for flag in flags {
        while flag.load(Ordering::Acquire) {
            thread::yield_now();
        }
    }
}

/// Lets threads enter again.
pub(crate) fn end_fork() {
    FORKING.fetch_sub(1, Ordering::SeqCst);
}
