//! Appends a task to all its variables, and releases them when it is done.

use super::cell::{VarState, Woken};
use super::deleted;
use crate::failure::Failure;
use crate::op::{Access, Dispatch, Op, Task, accesses_of, give_back, widen};
use crate::parker::Parker;
use mxrs_sync::RankedGuard;
use mxrs_types::Error;
use smallvec::SmallVec;
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Arc;

/// The condition that a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitFor {
    /// All writes pushed so far are done.
    Writes,
    /// All reads and writes pushed so far are done.
    Everything,
}

/// A list that owns its tasks, first in, first out.
#[derive(Default)]
pub(crate) struct TaskList {
    head: Option<NonNull<Op>>,
    tail: Option<NonNull<Op>>,
}

impl TaskList {
    #[inline]
    pub(crate) fn push(&mut self, task: Task) {
        let op = task.into_raw();
        // SAFETY: the list owns the task, and only the owner of a task uses its link.
        unsafe { *op.as_ref().link.get() = std::ptr::null_mut() };
        match self.tail.replace(op) {
            None => self.head = Some(op),
            // SAFETY: the list owns its last task, and only the owner of a task uses its link.
            Some(tail) => unsafe { *tail.as_ref().link.get() = op.as_ptr() },
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Task> {
        let op = self.head?;
        // SAFETY: the list owns its first task, and only the owner of a task uses its link.
        self.head = unsafe { NonNull::new(*op.as_ref().link.get()) };
        if self.head.is_none() {
            self.tail = None;
        }
        // SAFETY: the task came from `into_raw` in `push`, and has just been taken out of the list.
        Some(unsafe { Task::from_raw(op) })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// The accesses of each task, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[Access]> {
        let mut at = self.head;
        std::iter::from_fn(move || {
            let op = at?;
            // SAFETY: the list owns the task, and is borrowed for as long as the items are used.
            unsafe {
                at = NonNull::new(*op.as_ref().link.get());
                Some(accesses_of(op))
            }
        })
    }
}

// SAFETY: a list owns its tasks, which are `Send`.
unsafe impl Send for TaskList {}

impl Drop for TaskList {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

/// Tasks and threads that a change of state has released; they are dispatched after the locks are released.
#[derive(Default)]
pub(crate) struct Freed {
    pub(crate) tasks: TaskList,
    pub(super) threads: SmallVec<[Woken; 2]>,
    /// Tasks whose pushing thread waits to run them.
    handed: SmallVec<[(Arc<Parker>, Task); 1]>,
    pub(super) old_failure: Option<Arc<Failure>>,
}

impl Freed {
    /// Adds a task that has got its last grant.
    #[inline]
    pub(super) fn granted(&mut self, op: NonNull<Op>) {
        // SAFETY: giving the last grant makes this thread the owner.
        let task = unsafe { Task::from_raw(op) };
        if task.dispatch == Dispatch::Pusher
            && let Some(parker) = task.take_parker()
        {
            return self.handed.push((parker, task));
        }
        self.tasks.push(task);
    }

    /// Wakes the threads whose turn has come.
    #[inline]
    pub(crate) fn wake_threads(&mut self) {
        for (parker, failure) in self.threads.drain(..) {
            parker.signal(failure);
        }
        for (parker, task) in self.handed.drain(..) {
            parker.hand_over(task);
        }
    }
}

/// Why a task was not appended to any variable.
#[derive(Debug)]
pub(crate) enum Refused {
    /// A variable is deleted (rule E11 of [`crate::var`]).
    Deleted(Error),
    /// The task deletes a variable that collected tasks use. They were accepted earlier, so they must be pushed first.
    Collected,
}

impl VarState {
    #[inline]
    fn refuses(&self, deletes: bool, id: u64, task: &Task) -> Option<Refused> {
        if self.deleted {
            return Some(Refused::Deleted(deleted(id, task.name.as_str())));
        }
        (deletes && self.buffered != 0).then_some(Refused::Collected)
    }
}

/// Appends a task to all its variables, or to none. Returns the task if it was granted on all of them immediately; the
/// caller then dispatches it. Otherwise a completion will dispatch it.
///
/// # Errors
/// See [`Refused`]; the task was not appended and is returned.
#[inline]
pub(crate) fn append(task: Task, deletes: bool) -> Result<Option<Task>, (Refused, Task)> {
    let op = task.as_ptr();
    // SAFETY: the block exists until this thread has released the last lock below: the task cannot be completed before
    // it is granted the variable of that lock.
    let accesses = unsafe { accesses_of(op) };
    match accesses {
        [] => return Ok(Some(task)),
        [one] => {
            let mut guard = one.var().lock();
            if let Some(refused) = guard.refuses(deletes, one.var().id(), &task) {
                drop(guard);
                return Err((refused, task));
            }
            guard.deleted |= deletes;
            if guard.append(one) {
                task.expect_grants(0, guard.marks());
                return Ok(Some(task));
            }
            task.expect_grants(1, 0);
            task.into_raw();
            return Ok(None);
        }
        _ => {}
    }
    let mut guards: SmallVec<[RankedGuard<'_, VarState>; 16]> = SmallVec::new();
    if accesses.len() > guards.inline_size() {
        widen(&mut guards, accesses.len(), &SPARE);
    }
    for access in accesses {
        let guard = access.var().lock();
        if let Some(refused) = guard.refuses(deletes, access.var().id(), &task) {
            drop(guard);
            drop(guards);
            return Err((refused, task));
        }
        guards.push(guard);
    }
    let (mut missing, mut marks) = (0, 0);
    for (guard, access) in guards.iter_mut().zip(accesses) {
        match guard.append(access) {
            true => marks |= guard.marks(),
            false => missing += 1,
        }
        guard.deleted |= deletes;
    }
    task.expect_grants(missing, marks);
    // This thread gives up the task before it releases the locks, because another thread may be granted the task and
    // run it as soon as they are released.
    let task = if missing == 0 {
        Some(task)
    } else {
        task.into_raw();
        None
    };
    guards.clear();
    give_back(guards, &SPARE);
    Ok(task)
}

std::thread_local! {
    static SPARE: Cell<Vec<RankedGuard<'static, VarState>>> = const { Cell::new(Vec::new()) };
}

/// Releases a completed task's variables to the next tasks. `failure` returns the failure that a written variable carries
/// from now on.
#[inline]
pub(crate) fn release<'f>(task: &Task, failure: impl Fn(&Access) -> Option<&'f Arc<Failure>>, freed: &mut Freed) {
    for access in task.accesses() {
        let failure = if access.write { failure(access) } else { None };
        let cell = access.var_ptr();
        // SAFETY: the `VarCell` exists until its last use has ended, and this use ends only within the call of
        // `release`.
        let last = unsafe { cell.as_ref() }.release(access.write, failure, freed);
        if last {
            // SAFETY: no handle is left and this was the last use, so no other code can reach the `VarCell`. `Var::new`
            // leaked it from a box, and the lock is released.
            drop(unsafe { Box::from_raw(cell.as_ptr()) });
        }
        freed.old_failure = None;
    }
}
