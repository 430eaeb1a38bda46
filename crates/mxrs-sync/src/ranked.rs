//! A mutex with a rank in the order of locks. Debug builds check the order; release builds store nothing.

use crate::{Mutex, MutexGuard, Rank};
use std::ops::{Deref, DerefMut};

#[cfg(all(debug_assertions, not(loom)))]
mod held {
    use crate::rank::{Rank, check};
    use std::cell::RefCell;

    thread_local! {
        static HELD: RefCell<Vec<(Rank, u64)>> = const { RefCell::new(Vec::new()) };
    }

    /// Records a lock that is about to be taken. Checks nothing while the thread's thread-local values are destroyed.
    pub fn enter(entry: (Rank, u64)) {
        let verdict = HELD.try_with(|held| {
            let mut held = held.borrow_mut();
            let verdict = check(&held, entry);
            held.push(entry);
            verdict
        });
        if let Ok(Err(inversion)) = verdict {
            tracing::error!(target: "mxrs_sync", "{inversion}");
            debug_assert!(std::thread::panicking(), "{inversion}");
        }
    }

    /// Records that a lock was released.
    pub fn leave(entry: (Rank, u64)) {
        let _ = HELD.try_with(|held| {
            let mut held = held.borrow_mut();
            if let Some(at) = held.iter().rposition(|h| *h == entry) {
                held.remove(at);
            }
        });
    }
}

/// An entry in the thread's list of held locks, removed when dropped.
#[derive(Debug)]
pub(crate) struct Held {
    #[cfg(all(debug_assertions, not(loom)))]
    entry: (Rank, u64),
}

impl Held {
    #[inline]
    pub(crate) fn enter(_rank: Rank, _order: u64) -> Self {
        #[cfg(all(debug_assertions, not(loom)))]
        {
            let held = Self { entry: (_rank, _order) };
            held::enter(held.entry);
            held
        }
        #[cfg(any(not(debug_assertions), loom))]
        Self {}
    }
}

#[cfg(all(debug_assertions, not(loom)))]
impl Drop for Held {
    fn drop(&mut self) {
        held::leave(self.entry);
    }
}

/// A [`Mutex`] with a [`Rank`]. In debug builds, taking it against the order of [`crate::rank`] is logged and fails an
/// assertion before the thread can block. In release builds and under loom it is a plain lock.
///
/// ```
/// use mxrs_sync::{Rank, RankedMutex};
/// let pool = RankedMutex::new(Rank::EnginePool, 1);
/// *pool.lock() += 1;
/// assert_eq!(*pool.lock(), 2);
/// ```
#[derive(Debug)]
pub struct RankedMutex<T> {
    inner: Mutex<T>,
    #[cfg(all(debug_assertions, not(loom)))]
    rank: Rank,
}

/// Holds a [`RankedMutex`] until dropped.
#[derive(Debug)]
pub struct RankedGuard<'a, T> {
    // The fields are dropped in this order: first the lock is released, then its entry leaves the thread's list of held
    // locks.
    inner: MutexGuard<'a, T>,
    _held: Held,
}

impl<T> RankedMutex<T> {
    /// Makes an unlocked lock of this rank.
    pub fn new(rank: Rank, value: T) -> Self {
        #[cfg(any(not(debug_assertions), loom))]
        let _ = rank;
        Self {
            inner: Mutex::new(value),
            #[cfg(all(debug_assertions, not(loom)))]
            rank,
        }
    }

    /// Waits for the lock.
    #[inline]
    pub fn lock(&self) -> RankedGuard<'_, T> {
        self.lock_in_order(0)
    }

    /// Waits for the lock; locks of the same rank with a smaller `order` may be held.
    #[inline]
    pub fn lock_in_order(&self, order: u64) -> RankedGuard<'_, T> {
        #[cfg(all(debug_assertions, not(loom)))]
        let held = Held::enter(self.rank, order);
        #[cfg(any(not(debug_assertions), loom))]
        let held = Held::enter(Rank::Leaf, order);
        RankedGuard { inner: self.inner.lock(), _held: held }
    }

    /// The value, without locking, because `&mut self` excludes other users.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }
}

impl<'a, T> RankedGuard<'a, T> {
    /// Sleeps on `condvar` and releases the lock meanwhile; see [`crate::Condvar::wait`].
    #[must_use]
    pub fn wait(self, condvar: &crate::Condvar) -> Self {
        let Self { inner, _held } = self;
        Self { inner: condvar.wait(inner), _held }
    }

    /// [`RankedGuard::wait`] for at most `timeout`; see [`crate::Condvar::wait_for`].
    #[cfg(not(loom))]
    #[must_use]
    pub fn wait_for(self, condvar: &crate::Condvar, timeout: std::time::Duration) -> Self {
        let Self { inner, _held } = self;
        Self { inner: condvar.wait_for(inner, timeout).0, _held }
    }
}

impl<T> Deref for RankedGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for RankedGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn right_order_is_silent_and_leaves_nothing_behind() {
        let outer = RankedMutex::new(Rank::EngineVar, ());
        let inner = RankedMutex::new(Rank::EnginePool, 5);
        for _ in 0..2 {
            let a = outer.lock_in_order(1);
            assert_eq!(*inner.lock(), 5);
            drop(a);
            drop(inner.lock());
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    fn inversion_is_noticed_before_it_can_deadlock() {
        let outcome = std::thread::spawn(|| {
            let outer = RankedMutex::new(Rank::EngineVar, ());
            let inner = RankedMutex::new(Rank::EnginePool, ());
            let _inner = inner.lock();
            let _outer = outer.lock_in_order(1);
        })
        .join();
        let message = *outcome.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("EngineVar#1 wanted while EnginePool#0 is held"), "{message}");
    }
}
