//! The cell behind a variable's handles: one lock and the states that it guards.

use super::deleted;
use super::queue::{Freed, WaitFor};
use crate::failure::Failure;
use crate::gpu::VarEvents;
use crate::op::{Access, Op, Waiter, mark};
use crate::parker::Parker;
use mxrs_sync::atomic::{AtomicU32, AtomicU64, Ordering};
use mxrs_sync::{Rank, RankedGuard, RankedMutex};
use mxrs_types::{Error, ErrorKind, Result};
use std::ptr::NonNull;
use std::sync::Arc;

/// A variable. It is aligned to a cache line, and in release builds fills exactly one.
#[repr(align(64))]
pub(crate) struct VarCell {
    pub(super) state: RankedMutex<VarState>,
    version: AtomicU64,
    id: u64,
    engine: u32,
    /// The number of handles.
    pub(super) handles: AtomicU32,
}

pub(super) struct VarState {
    /// The number of granted reads, or -1 for a granted write.
    pub(super) readers: i32,
    pub(super) deleted: bool,
    /// The number of the buffer whose collected tasks use the variable; 0 for none ([`crate::bulk`]).
    pub(super) buffered: u16,
    /// Whether no handle is left, so that the end of the last use frees the cell.
    orphan: bool,
    /// The write that has claimed the variable and waits until the current readers are done; null if there is none.
    pub(super) claim: *const Access,
    /// The last entry of the queue, which is a ring: `next` of the last entry is the first entry. Null if the queue is
    /// empty.
    pub(super) last: *const Access,
    /// Fields that most variables never need.
    pub(super) rare: Option<Box<Rare>>,
}

// SAFETY: the pointers lead to accesses inside tasks that have no owner while they are queued, or to waiters of threads
// that wait; both are used only under the lock.
unsafe impl Send for VarState {}

/// The failure and the device events of a variable.
#[derive(Default)]
pub(super) struct Rare {
    pub(super) failure: Option<Arc<Failure>>,
    pub(super) events: VarEvents,
}

/// The result of [`VarCell::attach`].
#[derive(Debug)]
pub(crate) enum Attached {
    /// There is nothing to wait for; the variable carries this failure.
    Ready(Option<Arc<Failure>>),
    /// The thread is queued, and its parker will be signaled.
    Waiting,
}

/// The largest number of handles of one variable. This limit is far below 2^32, so that the count cannot wrap even if
/// many threads exceed the limit at the same moment.
const MAX_HANDLES: u32 = 1 << 31;

#[cold]
fn too_many_handles(id: u64) -> ! {
    panic!("variable {id} has {MAX_HANDLES} handles; handles must be dropped, not forgotten")
}

impl VarCell {
    pub(super) fn new(engine: u32) -> Self {
        // The standard library's atomic even under loom: ids are not part of the protocol, and loom's atomics cannot live in
        // statics.
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let (claim, last) = (std::ptr::null(), std::ptr::null());
        let state = VarState { readers: 0, deleted: false, buffered: 0, orphan: false, claim, last, rare: None };
        Self {
            state: RankedMutex::new(Rank::EngineVar, state),
            version: AtomicU64::new(0),
            id: NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
            engine,
            handles: AtomicU32::new(1),
        }
    }

    /// Counts one more handle. The count has 32 bits and is bounded, because handles that are forgotten (`mem::forget`)
    /// are never uncounted: if the count wrapped, dropping a handle would free a cell that others still use.
    ///
    /// # Panics
    /// Panics if the variable already has [`MAX_HANDLES`] handles.
    #[inline]
    pub(super) fn count_handle(&self) {
        if self.handles.fetch_add(1, Ordering::Relaxed) >= MAX_HANDLES {
            self.handles.fetch_sub(1, Ordering::Relaxed);
            too_many_handles(self.id);
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn check_engine(&self, engine: u32) -> Result<()> {
        if self.engine == engine { Ok(()) } else { Err(self.foreign()) }
    }

    #[cold]
    fn foreign(&self) -> Error {
        let message = format!("variable {} belongs to another engine; use the engine that made it", self.id);
        Error::new(ErrorKind::Engine { message })
    }

    /// The key by which variables are sorted for locking: the address, which is known without reading the cell.
    #[inline]
    pub(crate) fn order(cell: NonNull<Self>) -> u64 {
        // Loom repeats a program and needs the same order each time.
        // SAFETY: the caller has a handle or a use of the variable.
        if cfg!(loom) { unsafe { cell.as_ref() }.id } else { cell.addr().get() as u64 }
    }

    /// Locks the cell. Several cells must be locked in ascending [`VarCell::order`].
    #[inline]
    pub(super) fn lock(&self) -> RankedGuard<'_, VarState> {
        self.state.lock_in_order(Self::order(NonNull::from(self)))
    }

    pub(crate) fn live_failure(&self) -> Option<Arc<Failure>> {
        self.lock().failure()
    }

    /// The failure, if any, because of which a task that reads the variable (or writes it, if `write`) is skipped.
    pub(crate) fn failure_for(&self, write: bool) -> Option<Arc<Failure>> {
        self.lock().failure().filter(|failure| failure.concerns(write))
    }

    /// Calls `f` with the events of the variable's past uses.
    pub(crate) fn with_events<R>(&self, f: impl FnOnce(&mut VarEvents) -> R) -> R {
        f(&mut self.lock().rare.get_or_insert_default().events)
    }

    /// Records that the last handle is gone; true if the cell can be freed now.
    pub(super) fn orphan(&self) -> bool {
        let mut state = self.lock();
        state.orphan = true;
        state.is_free()
    }

    /// Ends a granted use; true if the cell can be freed now.
    #[inline]
    pub(super) fn release(&self, write: bool, failure: Option<&Arc<Failure>>, freed: &mut Freed) -> bool {
        let mut state = self.lock();
        if write {
            // The old failure is dropped only after the lock is released.
            freed.old_failure = state.replace_failure(failure);
            // Only the completing writer changes the version, so no read-modify-write is needed.
            self.version.store(self.version.load(Ordering::Relaxed) + 1, Ordering::Release);
            state.end_write(freed);
        } else {
            state.end_read(freed);
        }
        state.orphan && state.is_free()
    }

    /// Queues the calling thread, or returns the variable's failure if there is nothing to wait for.
    ///
    /// # Errors
    /// Fails if the variable is deleted.
    pub(crate) fn attach(&self, wait_for: WaitFor, waiter: &Waiter) -> Result<Attached> {
        let mut state = self.lock();
        if state.deleted {
            return Err(deleted(self.id, "wait"));
        }
        let write = wait_for == WaitFor::Everything;
        if state.readers == 0 || (!write && state.readers > 0 && state.claim.is_null()) {
            return Ok(Attached::Ready(state.failure()));
        }
        if state.has_writer() {
            state.enqueue(Waiter::access(waiter));
        } else {
            state.claim = Waiter::access(waiter);
        }
        Ok(Attached::Waiting)
    }
}

impl VarState {
    #[inline]
    pub(super) fn has_writer(&self) -> bool {
        self.readers < 0 || !self.claim.is_null()
    }

    fn is_free(&self) -> bool {
        self.readers == 0 && self.claim.is_null() && self.last.is_null()
    }

    pub(super) fn failure(&self) -> Option<Arc<Failure>> {
        self.rare.as_ref()?.failure.clone().filter(|f| f.is_live())
    }

    #[inline]
    fn replace_failure(&mut self, failure: Option<&Arc<Failure>>) -> Option<Arc<Failure>> {
        match (&mut self.rare, failure) {
            (None, None) => None,
            (None, Some(failure)) => {
                self.rare.get_or_insert_default().failure = Some(Arc::clone(failure));
                None
            }
            (Some(rare), failure) => std::mem::replace(&mut rare.failure, failure.cloned()),
        }
    }

    /// The flags that tell a task which gets the variable now whether the variable carries a failure, and whether it has
    /// events of devices to wait for.
    #[inline]
    pub(super) fn marks(&self) -> u32 {
        let Some(rare) = &self.rare else { return 0 };
        let tainted = if rare.failure.is_some() { mark::TAINTED } else { 0 };
        tainted | if rare.events.is_empty() { 0 } else { mark::EVENTS }
    }

    fn enqueue(&mut self, access: *const Access) {
        // SAFETY: a queued access lives until it is taken out of the queue under this lock. The caller owns the new
        // access.
        unsafe {
            let first = if self.last.is_null() { access } else { (*self.last).next.replace(access) };
            (*access).next.set(first);
        }
        self.last = access;
    }

    fn dequeue(&mut self) -> Option<*const Access> {
        if self.last.is_null() {
            return None;
        }
        // SAFETY: a queued access lives until it is taken out of the queue under this lock. `next` of the last access
        // always points to the first.
        let first = unsafe { (*self.last).next.get() };
        if first == self.last {
            self.last = std::ptr::null();
        } else {
            // SAFETY: both accesses are still queued.
            unsafe { (*self.last).next.set((*first).next.get()) };
        }
        Some(first)
    }

    /// Adds a task's access; true if it is granted immediately.
    #[inline]
    pub(super) fn append(&mut self, access: &Access) -> bool {
        self.check();
        if self.has_writer() {
            self.enqueue(access);
        } else if !access.write {
            self.readers += 1;
            return true;
        } else if self.readers == 0 {
            self.readers = -1;
            return true;
        } else {
            self.claim = access;
        }
        false
    }

    #[inline]
    fn end_read(&mut self, freed: &mut Freed) {
        self.check();
        debug_assert!(self.readers > 0, "E1: a read ends only once");
        self.readers -= 1;
        if self.readers > 0 || self.claim.is_null() {
            return;
        }
        let claim = std::mem::replace(&mut self.claim, std::ptr::null());
        match task_of(claim) {
            Some(op) => {
                self.readers = -1;
                self.grant(op, freed);
            }
            None => {
                self.wake(claim, freed);
                self.admit(freed);
            }
        }
    }

    #[inline]
    fn end_write(&mut self, freed: &mut Freed) {
        self.check();
        debug_assert_eq!(self.readers, -1, "E1: a write ends only once");
        self.readers = 0;
        self.admit(freed);
    }

    /// Called when the last use has ended: grants the reads at the head of the queue. The write behind them then claims
    /// the variable, or is granted if there were no such reads.
    #[inline]
    fn admit(&mut self, freed: &mut Freed) {
        while let Some(access) = self.dequeue() {
            // SAFETY: a queued access lives until it is taken out of the queue under this lock; this access is not
            // freed before it is granted or woken below.
            let write = unsafe { (*access).write };
            match task_of(access) {
                None if !write || self.readers == 0 => self.wake(access, freed),
                Some(op) if !write => {
                    self.readers += 1;
                    self.grant(op, freed);
                }
                Some(op) if self.readers == 0 => {
                    self.readers = -1;
                    return self.grant(op, freed);
                }
                _ => {
                    self.claim = access;
                    return;
                }
            }
        }
    }

    #[inline]
    fn grant(&self, op: NonNull<Op>, freed: &mut Freed) {
        // SAFETY: the task has no owner while it lacks this grant, so it cannot be freed.
        if unsafe { op.as_ref() }.grant(self.marks()) {
            freed.granted(op);
        }
    }

    fn wake(&self, access: *const Access, freed: &mut Freed) {
        // SAFETY: an access without a task belongs to a waiter. It was just taken out of the queue, its thread has not
        // been signaled, and the lock is held.
        if let Some(parker) = unsafe { Waiter::take_parker(access) } {
            freed.threads.push((parker, self.failure()));
        }
    }

    /// Asserts that `readers` is valid (rule E1), and that the queue is empty unless there is a writer (rule E2).
    fn check(&self) {
        debug_assert!(self.readers >= -1, "E1");
        debug_assert!(self.readers >= 0 || self.claim.is_null(), "E1");
        debug_assert!(self.has_writer() || self.last.is_null(), "E2");
        debug_assert!(self.claim.is_null() || self.readers > 0, "a claim needs readers");
    }
}

/// The task of a queued access; `None` for a waiting thread.
pub(super) fn task_of(access: *const Access) -> Option<NonNull<Op>> {
    // SAFETY: a queued access lives until it is taken out of the queue under the variable's lock, which the callers hold.
    unsafe { (*access).task() }
}

/// A thread whose turn has come, and the failure that the variable carried then.
pub(super) type Woken = (Arc<Parker>, Option<Arc<Failure>>);

#[cfg(all(test, not(loom), not(debug_assertions)))]
mod tests {
    #[test]
    fn a_variable_is_one_cache_line() {
        assert_eq!(size_of::<super::VarCell>(), 64);
    }
}
