//! A lock for sections of a few microseconds at most that call nothing foreign.
//!
//! Taking it is one atomic operation, giving it back a plain store, a quarter of what an ordinary lock costs. The price is
//! that nobody is woken: who finds it held spins, then yields, then sleeps in short naps. So it fits data that one thread
//! uses nearly always, or several for moments: a thread's cache that another now and then empties, say.
//!
//! As it keeps no queue of waiters, it can be held across a fork: the child that gives it back leaves nothing to threads it
//! does not have.
//!
//! Rules:
//! 1. `held` is false exactly when no [`BriefGuard`] of the lock exists.
//! 2. Who changes `held` from false to true (acquire) has the value; it alone changes it back (release).

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

/// See the module. Its place in the lock order is a [`Rank`] and a number, checked in debug builds as for
/// [`RankedMutex`](crate::RankedMutex).
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

// SAFETY: rule 2 gives the value to one thread at a time, so sharing the lock amounts to sending the value around.
unsafe impl<T: Send> Sync for BriefLock<T> {}
// SAFETY: the lock owns its value and nothing in it is tied to a thread.
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
    /// Neither Send nor Sync.
    _on_this_thread: PhantomData<*mut T>,
    #[cfg(loom)]
    value: Option<loom::cell::MutPtr<T>>,
    _place: Held,
}

impl<T> BriefLock<T> {
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

    /// The value, without locking.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }

    #[inline]
    fn take(&self) -> bool {
        self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Takes the lock from whoever has it, with growing patience.
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
        // SAFETY: by rule 2 the value is this guard's alone until it is dropped.
        #[cfg(not(loom))]
        return unsafe { &*self.lock.value.get() };
        // SAFETY: as above; loom checks it.
        #[cfg(loom)]
        return unsafe { self.value.as_ref().expect("taken only in drop").deref() };
    }
}

impl<T> DerefMut for BriefGuard<'_, T> {
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
