//! Variables, and the protocol by which tasks take turns on them.
//!
//! # State
//!
//! A variable is in one of four states, under its own small lock:
//!
//! | state | `readers` | `writer` | `queue` |
//! |---|---|---|---|
//! | free | 0 | none | empty |
//! | read | > 0 | none | empty |
//! | claimed | > 0 | waiting | anything |
//! | written | -1 | running | anything |
//!
//! **Pushing** locks all variables of the task in ascending id, appends to each, and unlocks: all or nothing, so crossed
//! pushes agree on the order of the two tasks on every variable. A read is *granted* at once unless there is a writer; a
//! write is granted at once if the variable is free, claims it if it is only read, and is queued otherwise. **Completing**
//! visits one variable after the other. The last reader of a claimed variable grants the writer; a finished write admits
//! the reads at the head of the queue, then lets the next write claim or take the variable. A task granted on all its
//! variables is dispatched, outside every lock. A *waiting thread* is an entry of the queue like a task, but when granted
//! it is woken and the turn passes on at once; so it never stands in a worker's queue behind unrelated tasks.
//!
//! Who may touch what: the fields of the state, only under the lock. `version` and `tainted` are written under the lock by
//! the completing writer and may be read by anyone. The failure slot changes only when a write completes, so a task that
//! has been granted a variable sees one value of it from grant to completion.
//!
//! # Rules
//!
//! - **E1** `readers >= -1`, and -1 exactly while a write has been granted and is not completed.
//! - **E2** Without a writer the queue is empty.
//! - **E3** Exclusion: two running tasks never share a variable that either writes.
//! - **E4** Results equal those of running the tasks one by one in push order; with several pushing threads, in some order
//!   that keeps each thread's own and is the same on all variables.
//! - **E5** `version` counts completed writes, failed and skipped ones too; reads never change it; whatever the scheduler.
//! - **E6** A pushed task runs or is skipped exactly once, and completes exactly once.
//! - **E7** Waiting for all ends only when, after the waiter's own pushes, nothing is pending.
//! - **E8** A task is dispatched only after it has been appended to all its variables: the number of missing grants is
//!   stored while all of them are locked.
//! - **E9** A task has each variable once; both read and written counts as written.
//! - **E10** No deadlock: if every body returns, every pushed task is eventually dispatched.
//! - **E11** After a deletion no task can use the variable; trying is an error. Ids are never given out again.
//! - **E12** A variable carries a failure if and only if a failed task reaches it through skipped tasks and nobody has been
//!   told yet. (A task that runs in spite of a failure, [`crate::Property::NoSkip`], passes it on like a skipped one.)
//! - **E13** A failure is told at most once, and at least once if anyone waits on a tainted variable or for all.
//! - **E14** A failure never blocks progress.
//! - **E15** A `NoSkip` task sees the failure and runs.
//! - **E16** (bulking) and **E17** (fork) concern layers that are not part of this crate yet.
//!
//! # Order of shutdown
//!
//! 1. New pushes are refused, but for those from inside tasks still running.
//! 2. The stopping thread waits until nothing is pending (E7).
//! 3. Pools are told to stop; their threads leave once their queue is empty.
//! 4. They are joined, by a thread that is none of them.
//! 5. Failures nobody asked about are logged, when the engine goes away.

use crate::failure::Failure;
use crate::op::Op;
use crate::parker::Parker;
use mxrs_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use mxrs_sync::{Rank, RankedGuard, RankedMutex};
use mxrs_types::{Error, ErrorKind, Result};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Something tasks read and write. Clones stand for the same variable.
#[derive(Clone)]
pub struct Var(Arc<VarCell>);

impl Var {
    pub(crate) fn new(engine: u64) -> Self {
        // Not loom's: ids are no part of the protocol, and loom's atomics cannot live in statics.
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let id = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let state =
            VarState { readers: 0, writer: Writer::None, queue: VecDeque::new(), deleted: false, failure: None };
        Self(Arc::new(VarCell {
            id,
            engine,
            version: AtomicU64::new(0),
            tainted: AtomicBool::new(false),
            state: RankedMutex::new(Rank::EngineVar, state),
        }))
    }

    /// Unique in the process, and never given out again.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// Writes completed so far, successful or not (E5).
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    pub(crate) fn cell(&self) -> &VarCell {
        &self.0
    }

    /// Refuses a variable made by another engine.
    pub(crate) fn check_engine(&self, engine: u64) -> Result<()> {
        if self.0.engine == engine {
            return Ok(());
        }
        let message = format!("variable {} belongs to another engine; use the engine that made it", self.0.id);
        Err(Error::new(ErrorKind::Engine { message }))
    }
}

impl PartialEq for Var {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
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

pub(crate) struct VarCell {
    id: u64,
    engine: u64,
    version: AtomicU64,
    /// Whether the failure slot is filled: a hint that saves the lock.
    tainted: AtomicBool,
    state: RankedMutex<VarState>,
}

pub(crate) struct VarState {
    readers: i32,
    writer: Writer,
    queue: VecDeque<Entry>,
    deleted: bool,
    failure: Option<Arc<Failure>>,
}

enum Writer {
    None,
    Waiting(Who),
    Running,
}

enum Who {
    Task(Arc<Op>),
    Thread(Arc<Parker>),
}

struct Entry {
    who: Who,
    write: bool,
}

/// A thread whose turn came, and the failure the variable carried then.
type Woken = (Arc<Parker>, Option<Arc<Failure>>);

/// What a change of state set free; acted upon after the lock is gone.
#[derive(Default)]
pub(crate) struct Freed {
    /// Tasks granted on all their variables, in the order they were pushed.
    pub(crate) tasks: SmallVec<[Arc<Op>; 4]>,
    threads: SmallVec<[Woken; 2]>,
}

impl Freed {
    /// Wakes the threads whose turn came.
    pub(crate) fn wake_threads(&mut self) {
        for (parker, failure) in self.threads.drain(..) {
            parker.signal(failure);
        }
    }
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitFor {
    /// All writes pushed so far.
    Writes,
    /// All reads and writes pushed so far.
    Everything,
}

/// Appends a task to all its variables, all or nothing. True when it was granted on each at once and so is the caller's
/// to dispatch; otherwise a completion will find it.
///
/// # Errors
/// A variable is deleted (E11); nothing was appended.
pub(crate) fn append(op: &Arc<Op>, deletes: bool) -> Result<bool> {
    let mut guards: SmallVec<[RankedGuard<'_, VarState>; 16]> = SmallVec::new();
    for access in &op.accesses {
        let guard = access.var.0.state.lock_in_order(access.var.id());
        if guard.deleted {
            return Err(deleted(access.var.id(), op.name.as_str()));
        }
        guards.push(guard);
    }
    let mut missing = 0;
    for (guard, access) in guards.iter_mut().zip(&op.accesses) {
        if !guard.append(op, access.write) {
            missing += 1;
        }
        guard.deleted |= deletes;
    }
    op.expect_grants(missing);
    Ok(missing == 0)
}

/// Gives a completed task's variables to whoever is next.
pub(crate) fn release(op: &Op, failure: Option<&Arc<Failure>>, freed: &mut Freed) {
    for access in &op.accesses {
        access.var.0.release(access.write, failure, freed);
    }
}

fn deleted(id: u64, what: &str) -> Error {
    let message = format!("{what}: variable {id} has been deleted; keep the variable until its last use is pushed");
    Error::new(ErrorKind::Engine { message })
}

impl VarCell {
    pub(crate) fn is_tainted(&self) -> bool {
        // Relaxed: the writer's grant chain (locks and counters) orders this before the reader's grant.
        self.tainted.load(Ordering::Relaxed)
    }

    pub(crate) fn live_failure(&self) -> Option<Arc<Failure>> {
        if !self.is_tainted() {
            return None;
        }
        self.state.lock_in_order(self.id).failure.clone().filter(|f| f.is_live())
    }

    fn release(&self, write: bool, failure: Option<&Arc<Failure>>, freed: &mut Freed) {
        let mut state = self.state.lock_in_order(self.id);
        if !write {
            return state.end_read(freed);
        }
        // Told only after the lock is released; a failure the new one replaces is dropped then, too.
        let _old = std::mem::replace(&mut state.failure, failure.cloned());
        if failure.is_some() || self.is_tainted() {
            self.tainted.store(failure.is_some(), Ordering::Relaxed);
        }
        // Only the completing writer changes it, so no read-modify-write is needed.
        self.version.store(self.version.load(Ordering::Relaxed) + 1, Ordering::Release);
        state.end_write(freed);
        drop(state);
    }

    /// Attaches the calling thread to the queue, or says what the variable carries if there is nothing to wait for.
    ///
    /// # Errors
    /// The variable is deleted.
    pub(crate) fn attach(&self, wait_for: WaitFor) -> Result<Attached> {
        let mut state = self.state.lock_in_order(self.id);
        if state.deleted {
            return Err(deleted(self.id, "wait"));
        }
        let write = wait_for == WaitFor::Everything;
        match state.writer {
            Writer::None if !write || state.readers == 0 => Ok(Attached::Ready(state.failure.clone())),
            Writer::None => {
                let parker = Parker::new();
                state.writer = Writer::Waiting(Who::Thread(Arc::clone(&parker)));
                Ok(Attached::Waiting(parker))
            }
            _ => {
                let parker = Parker::new();
                state.queue.push_back(Entry { who: Who::Thread(Arc::clone(&parker)), write });
                Ok(Attached::Waiting(parker))
            }
        }
    }
}

/// Result of [`VarCell::attach`].
pub(crate) enum Attached {
    Ready(Option<Arc<Failure>>),
    Waiting(Arc<Parker>),
}

impl VarState {
    /// Notes a task; true if granted at once.
    fn append(&mut self, op: &Arc<Op>, write: bool) -> bool {
        self.check();
        let who = || Who::Task(Arc::clone(op));
        match (&self.writer, write) {
            (Writer::None, false) => {
                self.readers += 1;
                return true;
            }
            (Writer::None, true) if self.readers == 0 => {
                self.take();
                return true;
            }
            (Writer::None, true) => self.writer = Writer::Waiting(who()),
            _ => self.queue.push_back(Entry { who: who(), write }),
        }
        false
    }

    fn end_read(&mut self, freed: &mut Freed) {
        self.check();
        debug_assert!(self.readers > 0, "E1: a read ends only once");
        self.readers -= 1;
        if self.readers > 0 {
            return;
        }
        match std::mem::replace(&mut self.writer, Writer::None) {
            Writer::Waiting(Who::Task(op)) => {
                self.take();
                grant(op, freed);
            }
            Writer::Waiting(Who::Thread(parker)) => {
                freed.threads.push((parker, self.failure.clone()));
                self.admit(freed);
            }
            Writer::None => {}
            Writer::Running => debug_assert!(false, "E3: a read ended while a write ran"),
        }
    }

    fn end_write(&mut self, freed: &mut Freed) {
        self.check();
        debug_assert_eq!(self.readers, -1, "E1: a write ends only once");
        self.readers = 0;
        self.writer = Writer::None;
        self.admit(freed);
    }

    /// With no writer: grants the reads at the head of the queue, then the next write its claim or its turn.
    fn admit(&mut self, freed: &mut Freed) {
        while let Some(Entry { who, write }) = self.queue.pop_front() {
            match who {
                Who::Thread(parker) if !write || self.readers == 0 => {
                    freed.threads.push((parker, self.failure.clone()));
                }
                Who::Task(op) if !write => {
                    self.readers += 1;
                    grant(op, freed);
                }
                Who::Task(op) if self.readers == 0 => {
                    self.take();
                    grant(op, freed);
                    return;
                }
                who => {
                    self.writer = Writer::Waiting(who);
                    return;
                }
            }
        }
    }

    fn take(&mut self) {
        self.readers = -1;
        self.writer = Writer::Running;
    }

    /// E1 and E2.
    fn check(&self) {
        debug_assert!(self.readers >= -1, "E1");
        debug_assert_eq!(self.readers == -1, matches!(self.writer, Writer::Running), "E1");
        debug_assert!(!matches!(self.writer, Writer::None) || self.queue.is_empty(), "E2");
        debug_assert!(!matches!(self.writer, Writer::Waiting(_)) || self.readers > 0, "a claim needs readers");
    }
}

fn grant(op: Arc<Op>, freed: &mut Freed) {
    if op.grant() {
        freed.tasks.push(op);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
