//! The process's only `pthread_atfork` handlers, and the lock that they hold across a fork.

use super::ForkGuard;
use super::registry::{Fork, Registry, Side};
use crate::ranked::Held;
use crate::{Mutex, MutexGuard, Rank};
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());
static GENERATION: AtomicU64 = AtomicU64::new(0);
/// Whether the handlers are installed. Written under the registry's lock.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Keeps the registry's lock and the prepared guards during a fork, between the two handlers.
struct AcrossFork(UnsafeCell<Option<(MutexGuard<'static, Registry>, Fork)>>);

// SAFETY: only a thread that holds the registry's lock uses the cell. `before` takes the lock and stores the lock's
// guard in the cell; `after` takes the content out of the cell and drops the guard. POSIX calls both on the forking
// thread, which is the only thread of the child.
unsafe impl Sync for AcrossFork {}

static ACROSS: AcrossFork = AcrossFork(UnsafeCell::new(None));

pub(super) fn add(rank: Rank, guard: &Arc<dyn ForkGuard>) -> u64 {
    watch();
    let (id, failures) = with_registry(|r| (r.add(rank, guard), r.take_failures()));
    log(failures);
    id
}

pub(super) fn remove(id: u64) {
    with_registry(|r| r.remove(id));
}

pub(super) fn watch() {
    if WATCHED.load(Ordering::Acquire) {
        return;
    }
    let rc = with_registry(|_| {
        if WATCHED.load(Ordering::Relaxed) {
            return 0;
        }
        // SAFETY: the handlers have the right signature, never unwind, and exist as long as the program's code.
        let rc = unsafe { libc::pthread_atfork(Some(before), Some(after_in_parent), Some(after_in_child)) };
        WATCHED.store(rc == 0, Ordering::Release);
        rc
    });
    if rc != 0 {
        let error = std::io::Error::from_raw_os_error(rc);
        tracing::error!(target: "mxrs_sync", "forks of this process are not watched, so children may hang: {error}");
    }
}

#[inline]
pub(super) fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

fn with_registry<T>(work: impl FnOnce(&mut Registry) -> T) -> T {
    let _held = Held::enter(Rank::Fork, 0);
    work(&mut REGISTRY.lock())
}

fn log(failures: Vec<String>) {
    for failure in failures {
        tracing::error!(target: "mxrs_sync", "{failure}");
    }
}

extern "C" fn before() {
    never_unwinding(|| {
        let mut registry = REGISTRY.lock();
        let fork = registry.prepare();
        // SAFETY: this thread holds the registry's lock; see `AcrossFork`.
        unsafe { *ACROSS.0.get() = Some((registry, fork)) };
    });
}

extern "C" fn after_in_parent() {
    never_unwinding(|| log(after(Side::Parent)));
}

extern "C" fn after_in_child() {
    // Counts the fork first, so that hooks can read the new generation.
    GENERATION.fetch_add(1, Ordering::Relaxed);
    never_unwinding(|| {
        // The failures are not logged in the child, because logging could block forever. They are kept for the next
        // `add`.
        let failures = after(Side::Child);
        if !failures.is_empty() {
            REGISTRY.lock().keep_failures(failures);
        }
    });
}

/// Calls `parent` or `child` of all guards and releases the registry's lock, then drops the guards; returns the panics
/// of hooks.
fn after(side: Side) -> Vec<String> {
    // SAFETY: `before` ran on this thread, which still holds the lock; see `AcrossFork`.
    let Some((mut registry, fork)) = (unsafe { (*ACROSS.0.get()).take() }) else { return Vec::new() };
    let released = registry.finish(fork, side);
    let failures = registry.take_failures();
    drop(registry);
    drop(released);
    failures
}

/// Catches panics, because a handler that unwound into the C library would abort the process.
fn never_unwinding(work: impl FnOnce()) {
    // Panics of hooks are caught one by one. This catches the others: those of a guard's destructor or of a log
    // subscriber.
    let _ = catch_unwind(AssertUnwindSafe(work));
}
