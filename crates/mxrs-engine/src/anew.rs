//! A lock that a forked child gets anew.
//!
//! A thread that sleeps until nothing is pending, or stops the engine, is not waited for by a fork; in the child, where it
//! does not exist, its lock may be held for ever.

use std::ptr::NonNull;
// Std's own: forks are no part of what loom searches.
use std::sync::atomic::{AtomicPtr, Ordering};

/// Made by `make`, and made again in a forked child.
pub(crate) struct Anew<T> {
    now: AtomicPtr<T>,
    make: fn() -> T,
}

impl<T> Anew<T> {
    pub(crate) fn new(make: fn() -> T) -> Self {
        Self { now: AtomicPtr::new(Box::into_raw(Box::new(make()))), make }
    }

    pub(crate) fn get(&self) -> &T {
        // SAFETY: the pointer is to a leaked box, which is freed only with `self`.
        unsafe { &*self.now.load(Ordering::Acquire) }
    }

    /// In a forked child. The old one stays where it is, as what the lost threads left there cannot be told.
    pub(crate) fn renew(&self) {
        self.now.store(Box::into_raw(Box::new((self.make)())), Ordering::Release);
    }
}

impl<T> Drop for Anew<T> {
    fn drop(&mut self) {
        if let Some(now) = NonNull::new(*self.now.get_mut()) {
            // SAFETY: leaked from a box, and nobody borrows from `self` any more.
            drop(unsafe { Box::from_raw(now.as_ptr()) });
        }
    }
}

// SAFETY: `get` lends a `T` to any thread, and a drop elsewhere moves it there; as for a box, with `T` lent besides.
unsafe impl<T: Send + Sync> Sync for Anew<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Anew<T> {}
