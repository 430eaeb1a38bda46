//! What others note and see at a variable: whose buffer has collected tasks that use it ([`crate::bulk`]), and who waits.

use super::cell::{VarCell, VarState, task_of};
use super::deleted;
use crate::op::Access;
use mxrs_types::Error;

/// Why a collected task could not mark a variable.
#[derive(Debug)]
pub(crate) enum NotMarked {
    /// It is deleted (E11).
    Deleted(Error),
    /// The buffer of this number has marked it, and has to be pushed first.
    Other(u16),
}

impl VarCell {
    /// The buffer whose collected tasks use the variable; 0 for none.
    pub(crate) fn buffered_by(&self) -> u16 {
        self.lock().buffered
    }

    /// Notes that a task in this buffer uses the variable, and counts a handle for it: a task that is not appended yet does
    /// not keep its variables.
    ///
    /// # Errors
    /// See [`NotMarked`]; no handle was counted.
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

    /// Takes this buffer's mark off, once nothing in it uses the variable any more. Where it is off already, another buffer may
    /// have put its own there.
    pub(crate) fn unmark_buffered(&self, buffer: u16) {
        let mut state = self.lock();
        if state.buffered == buffer {
            state.buffered = 0;
        }
    }

    /// Names of the tasks that wait for the variable, and of threads.
    pub(crate) fn waiting_names(&self) -> Vec<String> {
        let state = self.lock();
        // SAFETY: a queued task belongs to nobody and stays where it is, under the lock.
        let name = |access| task_of(access).map_or("a thread".into(), |op| unsafe { op.as_ref() }.name.to_string());
        let claim = (!state.claim.is_null()).then_some(state.claim);
        claim.into_iter().chain(state.queued()).map(name).collect()
    }

    /// `readers`, whether there is a writer, length of the queue.
    #[cfg(all(test, not(loom)))]
    pub(super) fn look(&self) -> (i32, bool, usize) {
        let state = self.lock();
        (state.readers, state.has_writer(), state.queued().count())
    }
}

impl VarState {
    /// The queue, first to last.
    fn queued(&self) -> impl Iterator<Item = *const Access> {
        let mut at = self.last;
        let mut over = at.is_null();
        std::iter::from_fn(move || {
            if over {
                return None;
            }
            // SAFETY: queued accesses are there under the lock, which the borrowed state says is held; the last leads to
            // the first.
            at = unsafe { (*at).next.get() };
            over = at == self.last;
            Some(at)
        })
    }
}
