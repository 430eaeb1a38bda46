//! An entry of a waiting thread in a variable's queue.

use super::Access;
use crate::parker::Parker;
use crate::var::VarCell;
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Arc;

/// An entry of a waiting thread in a variable's queue.
#[repr(C)]
pub(crate) struct Waiter {
    access: Access,
    parker: Cell<Option<Arc<Parker>>>,
}

impl Waiter {
    pub(crate) fn new(var: NonNull<VarCell>, write: bool, parker: Arc<Parker>) -> Self {
        Self { access: Access::new(var, std::ptr::null_mut(), write), parker: Cell::new(Some(parker)) }
    }

    /// The pointer to put into the queue. It may be used to access the whole waiter, not only its first field.
    pub(crate) fn access(this: &Self) -> *const Access {
        std::ptr::from_ref(this).cast()
    }

    /// Takes the parker of a thread whose turn has come. After the thread is signaled the waiter may be gone.
    ///
    /// # Safety
    /// `access` came from [`Waiter::access`], its thread has not been signaled, and the variable's lock is held.
    pub(crate) unsafe fn take_parker(access: *const Access) -> Option<Arc<Parker>> {
        // SAFETY: the access is the first field of a `repr(C)` waiter, which lives until its thread is signaled, and
        // the pointer was made from the whole waiter. The caller holds the lock, so no other thread uses
        // `parker`.
        unsafe { (*access.cast::<Self>()).parker.take() }
    }
}

std::thread_local! {
    static SPARE: Cell<Option<Box<Waiter>>> = const { Cell::new(None) };
}

/// Memory for the waiter of the calling thread, kept for its next wait.
///
/// It is not on the thread's stack: a forked child has a copy of the queue but not the thread, and may use the memory
/// of the thread's stack for other data.
pub(crate) struct Place(NonNull<Waiter>);

impl Place {
    pub(crate) fn of(waiter: Waiter) -> Self {
        let memory = match SPARE.try_with(Cell::take).ok().flatten() {
            Some(mut spare) => {
                *spare = waiter;
                spare
            }
            None => Box::new(waiter),
        };
        Self(NonNull::from(Box::leak(memory)))
    }
}

impl std::ops::Deref for Place {
    type Target = Waiter;

    fn deref(&self) -> &Waiter {
        // SAFETY: the memory exists until the place is dropped, and a waiter changes only through its `Cell`s.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a box, and the waiter is in no queue: its thread has been signaled, or did not
        // have to wait.
        let memory = unsafe { Box::from_raw(self.0.as_ptr()) };
        memory.parker.take();
        let _ = SPARE.try_with(|spare| spare.set(Some(memory)));
    }
}
