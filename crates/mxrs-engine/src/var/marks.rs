//! Marks on a variable (which buffer holds collected tasks that use it, see [`crate::bulk`]), and the names of waiting
//! tasks.

use super::cell::{VarCell, VarState, task_of};
use super::deleted;
use crate::op::Access;
use mxrs_types::Error;

/// Why a variable could not be marked for a collected task.
#[derive(Debug)]
pub(crate) enum NotMarked {
    /// The variable is deleted (rule E11 of [`crate::var`]).
    Deleted(Error),
    /// The buffer of this number has marked the variable, and has to be pushed first.
    Other(u16),
}

impl VarCell {
    /// The number of the buffer whose collected tasks use the variable; 0 for none.
    pub(crate) fn buffered_by(&self) -> u16 {
        self.lock().buffered
    }

    /// Marks the variable as used by a task in this buffer, and adds a reference to its count of handles, because a
    /// task that is not appended yet does not keep its variables alive.
    ///
    /// # Errors
    /// Fails for the reasons in [`NotMarked`]; in that case no reference is added.
    pub(crate) fn mark_buffered(&self, buffer: u16) -> Result<(), NotMarked> {
        let mut state = self.lock();
        if state.deleted {
            return Err(NotMarked::Deleted(deleted(self.id(), "push")));
        }
        if ![0, buffer].contains(&state.buffered) {
            return Err(NotMarked::Other(state.buffered));
        }
        state.buffered = buffer;
        self.count_handle();
        Ok(())
    }

    /// Removes this buffer's mark once no task in it uses the variable. If another buffer has marked the variable in
    /// the meantime, the mark of that buffer stays.
    pub(crate) fn unmark_buffered(&self, buffer: u16) {
        let mut state = self.lock();
        if state.buffered == buffer {
            state.buffered = 0;
        }
    }

    /// The names of the tasks that wait for the variable. A waiting thread is listed as `a thread`.
    pub(crate) fn waiting_names(&self) -> Vec<String> {
        let state = self.lock();
        // SAFETY: a task in the queue is alive: it is freed after it has run, and it leaves the queue before it runs. It cannot
        // leave the queue while the lock is held.
        let name = |access| task_of(access).map_or("a thread".into(), |op| unsafe { op.as_ref() }.name.to_string());
        let claim = (!state.claim.is_null()).then_some(state.claim);
        claim.into_iter().chain(state.queued()).map(name).collect()
    }

    /// Returns `readers`, whether there is a writer, and the length of the queue.
    #[cfg(all(test, not(loom)))]
    pub(super) fn look(&self) -> (i32, bool, usize) {
        let state = self.lock();
        (state.readers, state.has_writer(), state.queued().count())
    }
}

impl VarState {
    /// The queue, from first to last.
    fn queued(&self) -> impl Iterator<Item = *const Access> {
        let mut at = self.last;
        let mut over = at.is_null();
        std::iter::from_fn(move || {
            if over {
                return None;
            }
            // SAFETY: queued accesses live while the lock is held, which the borrow of the state shows. The last one
            // leads to the first.
            at = unsafe { (*at).next.get() };
            over = at == self.last;
            Some(at)
        })
    }
}
