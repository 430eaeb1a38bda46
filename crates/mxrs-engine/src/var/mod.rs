//! Variables, and the protocol by which tasks take turns on them.
//!
//! # State
//!
//! A variable is one cache line: a small lock, the state it guards, the version and the number of handles. It is in one
//! of four states:
//!
//! | state | `readers` | `claim` | `queue` |
//! |---|---|---|---|
//! | free | 0 | none | empty |
//! | read | > 0 | none | empty |
//! | claimed | > 0 | a write | anything |
//! | written | -1 | none | anything |
//!
//! **Pushing** locks all variables of the task in ascending order of addresses, appends the task to each, and unlocks
//! them. So two tasks that are pushed at the same time have the same order on every variable that they share. A read is
//! *granted* immediately unless there is a writer; a write is granted immediately if the variable is free, claims it if
//! it is only read, and is queued otherwise. **Completing** visits one variable after the other. If the last reader of
//! a claimed variable ends, the writer is granted. If a write ends, the reads at the head of the queue are granted; the
//! write behind them then claims the variable, or is granted if there were no such reads. A task granted on all its
//! variables is dispatched, outside every lock. A *waiting thread* is an entry of the queue like a task. When its turn
//! comes, it is woken, and the turn passes to the next entry immediately. It needs no worker, so unrelated tasks do not
//! delay it.
//!
//! The queue is a linked list of entries (`Access`) that lie inside the queued tasks or in memory of the waiting threads,
//! so that neither pushing nor completing allocates.
//!
//! # Who may touch what
//!
//! - The fields of the state, and the links of a queue: only under the variable's lock.
//! - `version`: written under the lock by the completing writer, read by anyone.
//! - The failure slot changes only when a write completes, so a task that has been granted a variable sees one value of
//!   it from grant to completion. A task that is granted a variable with a failure is marked as tainted, so that only
//!   tainted tasks look at their variables again.
//! - A task's block: only the pushing thread until the task is appended; then no thread until the last grant; then the
//!   thread that gave the last grant, and the worker to which it passes the task, until the task is completed and the
//!   block is freed. A variable's queue points to the block only until the variable is granted to the task.
//! - A variable's memory is freed by the thread that drops the last handle or by the thread that ends the last use,
//!   whichever is later.
//!
//! # Rules
//!
//! - **E1** `readers >= -1`, and -1 exactly while a write has been granted and is not completed.
//! - **E2** Without a writer the queue is empty.
//! - **E3** Exclusion: two running tasks never share a variable that either writes.
//! - **E4** Results equal those of running the tasks one by one in the order of their pushes. With several pushing
//!   threads, this is some order of all tasks that keeps the order of each thread and is the same on all variables.
//! - **E5** `version` counts completed writes, including failed and skipped ones, under every scheduler; reads never
//!   change it.
//! - **E6** A pushed task runs or is skipped exactly once, and completes exactly once; completing it again is an error
//!   ([`crate::Completion`]).
//! - **E7** A wait for all tasks ends only at a moment after the waiting thread's own pushes at which no task is
//!   pending.
//! - **E8** A task is dispatched only after it has been appended to all its variables: the number of missing grants is
//!   stored while all of them are locked.
//! - **E9** A task has each variable once; a variable that is both read and written counts as written.
//! - **E10** No deadlock: if every body returns, every pushed task is eventually dispatched.
//! - **E11** After a deletion no task can use the variable; trying is an error. Ids are never reused.
//! - **E12** A variable carries a failure if and only if its last writer failed or was skipped because of that failure,
//!   and the failure was not reported since. (A task that runs in spite of a failure, [`crate::Property::NoSkip`],
//!   passes it on like a skipped one.)
//! - **E13** A failure is reported at most once, and at least once if a thread waits for a tainted variable or for all.
//! - **E14** A failure never blocks progress.
//! - **E15** A `NoSkip` task sees the failure and runs.
//! - **E16** Tasks pushed as one ([`crate::Engine::bulk`]) give the same results, errors and order as tasks pushed one by
//!   one; only `version` counts the writes of one bulk as one.
//! - **E17** A forked child can push and wait as its parent can ([`crate::fork`]).
//!
//! # Order of shutdown
//!
//! 1. New pushes are refused, except from inside tasks that are still running; collected tasks are pushed.
//! 2. The stopping thread waits until nothing is pending (E7).
//! 3. The pools get the signal to stop; their threads end once their queue is empty.
//! 4. A thread that belongs to none of the pools joins them.
//! 5. Failures that were never reported are logged when the engine is dropped, each error once.

mod cell;
mod marks;
mod queue;

pub(crate) use cell::{Attached, VarCell};
pub(crate) use marks::NotMarked;
pub(crate) use queue::{Freed, Refused, TaskList, WaitFor, append, release};

use mxrs_sync::atomic::{Ordering, fence};
use mxrs_types::{Error, ErrorKind, Result};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ptr::NonNull;

/// A variable: something that tasks read and write. Clones refer to the same variable.
pub struct Var(NonNull<VarCell>);

// SAFETY: a handle is a counted pointer to a `VarCell`, whose parts are atomics, constants and a lock around `Send`
// values.
unsafe impl Send for Var {}
// SAFETY: `&Var` gives access only to the atomics, the constants and the lock of the `VarCell`.
unsafe impl Sync for Var {}

impl Var {
    pub(crate) fn new(engine: u32) -> Self {
        let cell = Box::leak(Box::new(VarCell::new(engine)));
        Self(NonNull::from(cell))
    }

    /// Makes a handle from a reference that [`VarCell::mark_buffered`] added to the count of handles.
    ///
    /// # Safety
    /// The count includes a reference to which no handle belongs; the new handle takes it over.
    pub(crate) unsafe fn from_counted(cell: NonNull<VarCell>) -> Self {
        Self(cell)
    }

    /// The variable's id, which is unique in the process and never reused.
    pub fn id(&self) -> u64 {
        self.cell().id()
    }

    /// Writes completed so far, successful or not (rule E5 of [`crate::var`]).
    pub fn version(&self) -> u64 {
        self.cell().version()
    }

    #[inline]
    pub(crate) fn cell(&self) -> &VarCell {
        // SAFETY: the `VarCell` is freed only when no handle is left.
        unsafe { self.0.as_ref() }
    }

    #[inline]
    pub(crate) fn cell_ptr(&self) -> NonNull<VarCell> {
        self.0
    }

    /// Returns an error for a variable of another engine.
    pub(crate) fn check_engine(&self, engine: u32) -> Result<()> {
        self.cell().check_engine(engine)
    }
}

impl Clone for Var {
    fn clone(&self) -> Self {
        self.cell().count_handle();
        Self(self.0)
    }
}

impl Drop for Var {
    fn drop(&mut self) {
        if self.cell().handles.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            if self.cell().orphan() {
                // SAFETY: no handle is left, and by its state nothing is granted or queued: no other thread can reach
                // the `VarCell`. It was leaked from a box in `new`.
                drop(unsafe { Box::from_raw(self.0.as_ptr()) });
            }
        }
    }
}

impl PartialEq for Var {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Var {}

impl Hash for Var {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Var").field("id", &self.id()).field("version", &self.version()).finish()
    }
}

fn deleted(id: u64, what: &str) -> Error {
    let message = format!("{what}: variable {id} has been deleted; keep the variable until its last use is pushed");
    Error::new(ErrorKind::Engine { message })
}

#[cfg(all(test, not(loom)))]
mod tests;
