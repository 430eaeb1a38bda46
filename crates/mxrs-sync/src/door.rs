//! Locks, atomics and threads: the standard library's types, or under `--cfg loom` those of loom, with the same names.

/// Shared ownership: the standard library's types even under loom, because loom's cannot hold unsized values.
pub use std::sync::{Arc, Weak};

#[cfg(loom)]
pub use once::OnceLock;
#[cfg(not(loom))]
pub use std::sync::OnceLock;

#[cfg(loom)]
pub use loom::thread_local;
#[cfg(not(loom))]
pub use std::thread_local;

/// Atomic integers, booleans and fences.
pub mod atomic {
    #[cfg(loom)]
    pub use loom::sync::atomic::{
        AtomicBool, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };
    #[cfg(not(loom))]
    pub use std::sync::atomic::{
        AtomicBool, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
    };

    /// Makes a sequentially consistent read-modify-write a full barrier before later loads.
    ///
    /// On x86-64 such an operation is a full barrier by itself, so this costs nothing. On other processors, and under
    /// loom and Miri, this function is a fence. Call it directly after the operation.
    #[inline]
    pub fn fence_after_rmw() {
        #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
        #[cfg(not(all(target_arch = "x86_64", not(any(loom, miri)))))]
        fence(Ordering::SeqCst);
    }
}

/// A cell for memory that threads share according to a protocol, which loom checks.
pub(crate) mod cell {
    #[cfg(loom)]
    pub(crate) use loom::cell::UnsafeCell;

    /// A cell with the interface of loom's cell, for builds without loom.
    #[cfg(not(loom))]
    #[derive(Debug, Default)]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    #[cfg(not(loom))]
    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        /// Calls `read` with the pointer, for reading.
        #[inline]
        pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
            read(self.0.get())
        }

        /// Calls `write` with the pointer, for writing.
        #[inline]
        pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}

/// Starting, parking and naming threads.
pub mod thread {
    #[cfg(loom)]
    pub use loom::thread::{Builder, JoinHandle, Thread, ThreadId, current, park, spawn, yield_now};

    /// Lets other threads run, because loom does not model time.
    #[cfg(loom)]
    pub fn sleep(_duration: std::time::Duration) {
        yield_now();
    }

    #[cfg(not(loom))]
    pub use std::thread::{Builder, JoinHandle, Thread, ThreadId, current, park, sleep, spawn, yield_now};
}

/// Advice to the processor while spinning.
pub mod hint {
    #[cfg(loom)]
    pub use loom::hint::spin_loop;
    #[cfg(not(loom))]
    pub use std::hint::spin_loop;
}

#[cfg(loom)]
mod once {
    use super::atomic::{AtomicBool, Ordering};

    /// A value that is written once, for loom, which has no such type. It adds a lock and a flag of loom to the
    /// standard library's type, so that loom can check the order.
    #[derive(Debug, Default)]
    pub struct OnceLock<T> {
        is_set: AtomicBool,
        setting: super::Mutex<()>,
        value: std::sync::OnceLock<T>,
    }

    impl<T> OnceLock<T> {
        /// Makes a `OnceLock` without a value.
        pub fn new() -> Self {
            Self { is_set: AtomicBool::new(false), setting: super::Mutex::new(()), value: std::sync::OnceLock::new() }
        }

        /// The value, if it has been written.
        pub fn get(&self) -> Option<&T> {
            if self.is_set.load(Ordering::Acquire) { self.value.get() } else { None }
        }

        /// Returns the value, which `make` computes if there is none yet. `make` must not use other items of this module.
        pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            if let Some(value) = self.get() {
                return value;
            }
            let _setting = self.setting.lock();
            let value = self.value.get_or_init(make);
            self.is_set.store(true, Ordering::Release);
            value
        }
    }
}

#[cfg(not(loom))]
mod locks {
    use std::sync::PoisonError;
    use std::time::Duration;

    /// Holds a [`Mutex`] until dropped.
    pub type MutexGuard<'a, T> = std::sync::MutexGuard<'a, T>;

    /// A lock that stays usable after its holder has panicked. It keeps no list of sleeping threads, so it can be held
    /// during a fork ([`crate::fork`]).
    #[derive(Debug, Default)]
    pub struct Mutex<T>(std::sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// An unlocked lock around `value`.
        pub const fn new(value: T) -> Self {
            Self(std::sync::Mutex::new(value))
        }

        /// Waits for the lock.
        #[inline]
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// Takes the lock if no thread holds it.
        #[inline]
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            use std::sync::TryLockError;
            match self.0.try_lock() {
                Ok(guard) => Some(guard),
                Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            }
        }

        /// The value, without locking, because `&mut self` excludes other users.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
        }

        /// Takes the value out of the lock.
        pub fn into_inner(self) -> T {
            self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// Lets threads sleep until another thread changes what a [`Mutex`] guards.
    #[derive(Debug, Default)]
    pub struct Condvar(std::sync::Condvar);

    impl Condvar {
        /// Makes a condition variable on which no thread sleeps.
        pub const fn new() -> Self {
            Self(std::sync::Condvar::new())
        }

        /// Releases the guard, sleeps, and takes the lock again. May wake up without a reason.
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
        }

        /// Like [`Condvar::wait`], for at most `timeout`; true if the time ran out.
        pub fn wait_for<'a, T>(&self, guard: MutexGuard<'a, T>, timeout: Duration) -> (MutexGuard<'a, T>, bool) {
            let (guard, outcome) = self.0.wait_timeout(guard, timeout).unwrap_or_else(PoisonError::into_inner);
            (guard, outcome.timed_out())
        }

        /// Wakes one sleeping thread.
        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        /// Wakes all sleeping threads.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

#[cfg(loom)]
mod locks {
    /// Holds a [`Mutex`] until dropped.
    pub type MutexGuard<'a, T> = loom::sync::MutexGuard<'a, T>;

    /// A lock that stays usable after its holder has panicked.
    #[derive(Debug, Default)]
    pub struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// An unlocked lock around `value`.
        pub fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        /// Waits for the lock.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
        }

        /// Takes the lock if no thread holds it.
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            self.0.try_lock().ok()
        }

        /// The value, without locking, because `&mut self` excludes other users.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
        }

        /// Takes the value out of the lock.
        pub fn into_inner(self) -> T {
            self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
        }
    }

    /// Lets threads sleep until another thread changes what a [`Mutex`] guards.
    #[derive(Debug, Default)]
    pub struct Condvar(loom::sync::Condvar);

    impl Condvar {
        /// Makes a condition variable on which no thread sleeps.
        pub fn new() -> Self {
            Self(loom::sync::Condvar::new())
        }

        /// Releases the guard, sleeps, and takes the lock again. May wake up without a reason.
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
            self.0.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner)
        }

        /// [`Condvar::wait`] without a time limit, because loom does not model time; never reports that the time ran
        /// out.
        pub fn wait_for<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            _timeout: std::time::Duration,
        ) -> (MutexGuard<'a, T>, bool) {
            (self.wait(guard), false)
        }

        /// Wakes one sleeping thread.
        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        /// Wakes all sleeping threads.
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

pub use locks::{Condvar, Mutex, MutexGuard};
