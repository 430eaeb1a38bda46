//! Where any thread leaves granted tasks, and workers take all of them at once.
//!
//! A stack of tasks linked through their own blocks: leaving one is one exchange and no allocation. Taking exchanges the
//! whole stack for an empty one, so a task is never looked at by two threads, and turns it round: first in, first out.

use crate::op::{Op, Task};
use crate::var::TaskList;
use mxrs_sync::atomic::{AtomicPtr, Ordering};
use std::ptr::{NonNull, null_mut};

/// Granted tasks that no worker has seen yet.
pub(crate) struct Inbox(AtomicPtr<Op>);

impl Inbox {
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    /// Leaves a task; true if there was none. A full barrier where read-modify-writes are.
    #[inline]
    pub(crate) fn push(&self, task: Task) -> bool {
        let op = task.into_raw();
        let mut top = self.0.load(Ordering::Relaxed);
        loop {
            // SAFETY: the task is this thread's own until the exchange succeeds.
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

    /// Takes all tasks, in the order they came, to the end of `list`.
    #[inline]
    pub(crate) fn take(&self, list: &mut TaskList) {
        if self.is_empty() {
            return;
        }
        let mut top = self.0.swap(null_mut(), Ordering::Acquire);
        let mut turned = null_mut();
        while let Some(op) = NonNull::new(top) {
            // SAFETY: the exchange made the whole stack this thread's own.
            top = unsafe { std::mem::replace(&mut *op.as_ref().link.get(), turned) };
            turned = op.as_ptr();
        }
        while let Some(op) = NonNull::new(turned) {
            // SAFETY: as above; read before the list links it anew.
            turned = unsafe { *op.as_ref().link.get() };
            // SAFETY: as above.
            list.push(unsafe { Task::from_raw(op) });
        }
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.take(&mut TaskList::default());
    }
}
