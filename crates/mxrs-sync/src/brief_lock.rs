//! A lock for sections of at most a few microseconds that call no foreign code.
//!
//! Taking the lock is one atomic operation, and releasing it is a plain store: a quarter of the cost of an ordinary
//! lock. The price is that waiting threads are not woken: they spin, then yield, then sleep for short times. So the
//! lock suits data that nearly always the same thread uses, or that several threads use for short moments. An example
//! is the cache of a thread that another thread sometimes empties.
//!
//! The lock has no queue of waiting threads, so it can be held across a fork: the child can release it although the
//! waiting threads do not exist there.
//!
//! Rules:
//! 1. `held` is false exactly when no [`BriefGuard`] of the lock exists.
//! 2. The thread that changes `held` from false to true (acquire) owns the value, and only that thread changes it back
//!    (release).

use crate::atomic::{AtomicBool, Ordering};
use crate::rank::Rank;
use crate::ranked::Held;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

#[cfg(loom)]
use loom::cell::UnsafeCell;
#[cfg(not(loom))]
use std::cell::UnsafeCell;

/// A lock for brief sections; see the module. Its position in the order of locks is a [`Rank`] and a number, checked in
/// debug builds as for [`RankedMutex`](crate::RankedMutex).
///
/// ```
/// use mxrs_sync::{BriefLock, Rank};
/// let cache = BriefLock::new(Rank::StorageCache, 1, Vec::new());
/// cache.lock().push(5);
/// assert_eq!(*cache.lock(), [5]);
/// ```
pub struct BriefLock<T> {
    held: AtomicBool,
    #[cfg(all(debug_assertions, not(loom)))]
    place: (Rank, u64),
    value: UnsafeCell<T>,
}

// SAFETY: only the thread that took the lock can use the value (rule 2 of the module), so sharing the lock is like
// sending the value between threads.
unsafe impl<T: Send> Sync for BriefLock<T> {}
// SAFETY: the lock owns its value, and no part of it is tied to a thread.
unsafe impl<T: Send> Send for BriefLock<T> {}

/// Holds a [`BriefLock`] until dropped, on the thread that took it.
///
/// A reference to the guard is a reference to the value, so threads may not share it:
///
/// ```compile_fail,E0277
/// let lock = mxrs_sync::BriefLock::new(mxrs_sync::Rank::Leaf, 0, std::cell::Cell::new(1));
/// let guard = lock.lock();
/// std::thread::scope(|scope| scope.spawn(|| guard.set(2)).join().unwrap());
/// ```
pub struct BriefGuard<'a, T> {
    lock: &'a BriefLock<T>,
    /// Makes the guard neither `Send` nor `Sync`.
    _on_this_thread: PhantomData<*mut T>,
    #[cfg(loom)]
    value: Option<loom::cell::MutPtr<T>>,
    _place: Held,
}

impl<T> BriefLock<T> {
    /// Makes an unlocked lock of this rank. Locks of one rank must be taken in ascending `order`.
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
    pub fn lock(&self) -> BriefGuard<'_, T> {
        #[cfg(all(debug_assertions, not(loom)))]
        let place = Held::enter(self.place.0, self.place.1);
        #[cfg(any(not(debug_assertions), loom))]
        let place = Held::enter(Rank::Leaf, 0);
        if !self.take() {
            self.wait();
        }
        BriefGuard {
            lock: self,
            _on_this_thread: PhantomData,
            #[cfg(loom)]
            value: Some(self.value.get_mut()),
            _place: place,
        }
    }

    /// Takes the value out of the lock.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    #[inline]
    fn take(&self) -> bool {
        self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Waits until the lock is free, with increasing pauses.
    #[cold]
    fn wait(&self) {
        let mut round = 0_u32;
        while !self.take() {
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

impl<T> Drop for BriefGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        #[cfg(loom)]
        drop(self.value.take());
        self.lock.held.store(false, Ordering::Release);
    }
}

impl<T> Deref for BriefGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: until this guard is dropped, its thread owns the lock, and only that thread uses the value (rule 2).
        #[cfg(not(loom))]
        return unsafe { &*self.lock.value.get() };
        // SAFETY: until this guard is dropped, only its thread uses the value (rule 2); loom checks that.
        #[cfg(loom)]
        return unsafe { self.value.as_ref().expect("taken only in drop").deref() };
    }
}

impl<T> DerefMut for BriefGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: until this guard is dropped, its thread owns the lock, and only that thread uses the value (rule 2).
        #[cfg(not(loom))]
        return unsafe { &mut *self.lock.value.get() };
        // SAFETY: until this guard is dropped, only its thread uses the value (rule 2); loom checks that.
        #[cfg(loom)]
        return unsafe { self.value.as_ref().expect("taken only in drop").deref() };
    }
}

impl<T> fmt::Debug for BriefLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BriefLock").field("held", &self.held.load(Ordering::Relaxed)).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn increments_of_many_threads_all_count() {
        let lock = BriefLock::new(Rank::Leaf, 0, 0_u64);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| *lock.lock() += 1));
            }
        });
        assert_eq!(*lock.lock(), 4000);
    }

    #[test]
    fn a_panicking_holder_leaves_it_usable() {
        let lock = BriefLock::new(Rank::Leaf, 0, 1);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = lock.lock();
            panic!("while holding");
        }));
        assert!(result.is_err());
        assert_eq!(*lock.lock(), 1);
    }
}
