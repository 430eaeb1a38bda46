//! A value, such as a lock, that a forked child replaces by a fresh one.
//!
//! A fork does not wait for a thread that sleeps until no task is pending, or that stops the engine. Such a thread does
//! not exist in the child, so a lock that it held would stay locked there forever.

use std::ptr::NonNull;
// The standard library's atomics, not those of `mxrs_sync`: loom does not model forks.
use std::sync::atomic::{AtomicPtr, Ordering};

/// A value made by `make`, and made again by [`ForkReset::reset`] in a forked child.
pub(crate) struct ForkReset<T> {
    now: AtomicPtr<T>,
    make: fn() -> T,
}

impl<T> ForkReset<T> {
    pub(crate) fn new(make: fn() -> T) -> Self {
        Self { now: AtomicPtr::new(Box::into_raw(Box::new(make()))), make }
    }

    pub(crate) fn get(&self) -> &T {
        // SAFETY: `now` always holds a pointer from `Box::into_raw`; such a box is freed only in `drop`, which needs
        // `&mut self`.
        unsafe { &*self.now.load(Ordering::Acquire) }
    }

    /// Replaces the value, in a forked child. The old one is leaked: threads that exist only in the parent may have
    /// left it in any state.
    pub(crate) fn reset(&self) {
        self.now.store(Box::into_raw(Box::new((self.make)())), Ordering::Release);
    }
}

impl<T> Drop for ForkReset<T> {
    fn drop(&mut self) {
        if let Some(now) = NonNull::new(*self.now.get_mut()) {
            // SAFETY: the pointer came from `Box::into_raw`, and `&mut self` shows that no reference from `get` is
            // left.
            drop(unsafe { Box::from_raw(now.as_ptr()) });
        }
    }
}

// SAFETY: `get` lends a `T` to any thread (so `T: Sync`), and a drop on another thread moves it there (so `T: Send`).
unsafe impl<T: Send + Sync> Sync for ForkReset<T> {}
// SAFETY: moving the box moves the `T` that it owns.
unsafe impl<T: Send> Send for ForkReset<T> {}
