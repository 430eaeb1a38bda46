//! A lock for data that one thread uses nearly always and others seldom: cheap for the owner, patient for the rest.
//!
//! Taking it is one atomic exchange, giving it back a plain store. The price is that nobody is woken: who finds it held
//! spins, then yields, then sleeps in short naps. So it fits sections of a few microseconds at most that call nothing
//! foreign, and no queue of waiters: a thread's cache that another thread now and then empties, say.
//!
//! Rules:
//! 1. `held` is false exactly when no [`OwnerGuard`] of the lock exists.
//! 2. Who changes `held` from false to true (acquire) has the value; it alone changes it back (release).

use crate::atomic::{AtomicBool, Ordering};
use crate::rank::Rank;
use crate::ranked::Held;
use std::fmt;
use std::ops::{Deref, DerefMut};

#[cfg(loom)]
use loom::cell::UnsafeCell;
#[cfg(not(loom))]
use std::cell::UnsafeCell;

/// See the module. Its place in the lock order is a [`Rank`] and a number, checked in debug builds as for
/// [`RankedMutex`](crate::RankedMutex).
///
/// ```
/// use mxrs_sync::{OwnerLock, Rank};
/// let cache = OwnerLock::new(Rank::StorageCache, 1, Vec::new());
/// cache.lock().push(5);
/// assert_eq!(*cache.lock(), [5]);
/// ```
pub struct OwnerLock<T> {
    held: AtomicBool,
    #[cfg(all(debug_assertions, not(loom)))]
    place: (Rank, u64),
    value: UnsafeCell<T>,
}

// SAFETY: rule 2 gives the value to one thread at a time, so sharing the lock amounts to sending the value around.
unsafe impl<T: Send> Sync for OwnerLock<T> {}
// SAFETY: the lock owns its value and nothing in it is tied to a thread.
unsafe impl<T: Send> Send for OwnerLock<T> {}

/// Holds an [`OwnerLock`] until dropped.
pub struct OwnerGuard<'a, T> {
    lock: &'a OwnerLock<T>,
    #[cfg(loom)]
    value: Option<loom::cell::MutPtr<T>>,
    _place: Held,
}

impl<T> OwnerLock<T> {
    /// An unlocked lock of this rank; among locks of one rank those with a smaller `order` are taken first.
    pub fn new(rank: Rank, order: u64, value: T) -> Self {
        #[cfg(any(not(debug_assertions), loom))]
        let _ = (rank, order);
        Self {
            held: AtomicBool::new(false),
            #[cfg(all(debug_assertions, not(loom)))]
            place: (rank, order),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the lock.
    #[inline]
    pub fn lock(&self) -> OwnerGuard<'_, T> {
        #[cfg(all(debug_assertions, not(loom)))]
        let place = Held::enter(self.place.0, self.place.1);
        #[cfg(any(not(debug_assertions), loom))]
        let place = Held::enter(Rank::Leaf, 0);
        if self.held.swap(true, Ordering::Acquire) {
            self.wait();
        }
        OwnerGuard {
            lock: self,
            #[cfg(loom)]
            value: Some(self.value.get_mut()),
            _place: place,
        }
    }

    /// Takes the lock from whoever has it, with growing patience.
    #[cold]
    fn wait(&self) {
        let mut round = 0_u32;
        while self.held.swap(true, Ordering::Acquire) {
            pause(round);
            round = round.saturating_add(1);
        }
    }
}

#[cfg(loom)]
fn pause(_round: u32) {
    crate::thread::yield_now();
}

#[cfg(not(loom))]
fn pause(round: u32) {
    match round {
        0..16 => (0..1_u32 << round.min(6)).for_each(|_| crate::hint::spin_loop()),
        16..256 => crate::thread::yield_now(),
        _ => crate::thread::sleep(std::time::Duration::from_micros(100)),
    }
}

impl<T> Drop for OwnerGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        #[cfg(loom)]
        drop(self.value.take());
        self.lock.held.store(false, Ordering::Release);
    }
}

impl<T> Deref for OwnerGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: by rule 2 the value is this guard's alone until it is dropped.
        #[cfg(not(loom))]
        return unsafe { &*self.lock.value.get() };
        // SAFETY: as above; loom checks it.
        #[cfg(loom)]
        return unsafe { self.value.as_ref().expect("taken only in drop").deref() };
    }
}

impl<T> DerefMut for OwnerGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: by rule 2 the value is this guard's alone until it is dropped.
        #[cfg(not(loom))]
        return unsafe { &mut *self.lock.value.get() };
        // SAFETY: as above; loom checks it.
        #[cfg(loom)]
        return unsafe { self.value.as_ref().expect("taken only in drop").deref() };
    }
}

impl<T> fmt::Debug for OwnerLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnerLock").field("held", &self.held.load(Ordering::Relaxed)).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn increments_of_many_threads_all_count() {
        let lock = OwnerLock::new(Rank::Leaf, 0, 0_u64);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| *lock.lock() += 1));
            }
        });
        assert_eq!(*lock.lock(), 4000);
    }

    #[test]
    fn a_panicking_holder_leaves_it_usable() {
        let lock = OwnerLock::new(Rank::Leaf, 0, 1);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = lock.lock();
            panic!("while holding");
        }));
        assert!(result.is_err());
        assert_eq!(*lock.lock(), 1);
    }
}
