//! A queue into which any thread puts granted tasks, and from which a worker takes all of them in one step.
//!
//! A stack of tasks linked through their own blocks: adding one costs one exchange and no allocation. A worker takes
//! tasks by exchanging the whole stack for an empty one, and then reverses what it took, so that tasks run first in,
//! first out.

use crate::op::{Op, Task};
use crate::var::TaskList;
use mxrs_sync::atomic::{AtomicPtr, Ordering};
use std::ptr::{NonNull, null_mut};

/// Granted tasks that no worker has taken yet.
pub(crate) struct Inbox(AtomicPtr<Op>);

impl Inbox {
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    /// Adds a task; true if the inbox was empty. This is a full memory barrier on processors whose atomic exchange is one.
    #[inline]
    pub(crate) fn push(&self, task: Task) -> bool {
        let op = task.into_raw();
        let mut top = self.0.load(Ordering::Relaxed);
        loop {
            // SAFETY: this thread owns the task until the exchange succeeds.
            unsafe { *op.as_ref().link.get() = top };
            match self.0.compare_exchange_weak(top, op.as_ptr(), Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return top.is_null(),
                Err(now) => top = now,
            }
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed).is_null()
    }

    /// Takes all tasks and appends them to `list` in the order in which they were added.
    #[inline]
    pub(crate) fn take(&self, list: &mut TaskList) {
        if self.is_empty() {
            return;
        }
        let mut top = self.0.swap(null_mut(), Ordering::Acquire);
        let mut turned = null_mut();
        while let Some(op) = NonNull::new(top) {
            // SAFETY: the exchange transferred the whole stack to this thread.
            top = unsafe { std::mem::replace(&mut *op.as_ref().link.get(), turned) };
            turned = op.as_ptr();
        }
        while let Some(op) = NonNull::new(turned) {
            // SAFETY: the exchange transferred the task to this thread. The link is read before `list.push` overwrites
            // it.
            turned = unsafe { *op.as_ref().link.get() };
            // SAFETY: `op` came from `Task::into_raw` in `push`, and this thread took it out of the stack.
            list.push(unsafe { Task::from_raw(op) });
        }
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.take(&mut TaskList::default());
    }
}
