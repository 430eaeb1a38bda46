//! A place for a value that is made once and never freed.
//!
//! Unlike a `OnceLock` it has no lock, so a fork at any moment leaves it empty or filled, and never locked.

use std::sync::atomic::{AtomicPtr, Ordering};

/// Empty, or filled once with a value that then lives as long as the process.
pub(crate) struct Leaked<T: 'static>(AtomicPtr<T>);

impl<T: Send + Sync> Leaked<T> {
    /// An empty place.
    pub(crate) const fn empty() -> Self {
        Self(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The value, if the place is filled.
    #[inline]
    pub(crate) fn get(&self) -> Option<&'static T> {
        // SAFETY: the pointer is null, or `fill` stored it from a box that was never freed and to which only shared
        // references exist. Acquire pairs with the release in `fill`, so the value is initialized.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Fills the place. If another thread was faster, drops `value` and returns the value of that thread as an error.
    pub(crate) fn fill(&self, value: T) -> Result<&'static T, &'static T> {
        let made = Box::into_raw(Box::new(value));
        match self.0.compare_exchange(std::ptr::null_mut(), made, Ordering::Release, Ordering::Acquire) {
            // SAFETY: the box is never freed, and from now on only shared references to its value exist.
            Ok(_) => Ok(unsafe { &*made }),
            Err(theirs) => {
                // SAFETY: `made` came from `Box::into_raw` and was not published.
                drop(unsafe { Box::from_raw(made) });
                // SAFETY: not null, because the exchange expected null and failed; otherwise as in `get`.
                Err(unsafe { &*theirs })
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_first_value_stays_and_the_others_are_dropped() {
        static PLACE: Leaked<Arc<u32>> = Leaked::empty();
        assert!(PLACE.get().is_none());
        let values: Vec<_> = (0..4).map(Arc::new).collect();
        let seen: Vec<u32> = std::thread::scope(|scope| {
            let threads: Vec<_> = values
                .iter()
                .map(|v| scope.spawn(|| **PLACE.fill(Arc::clone(v)).unwrap_or_else(|other| other)))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        let winner = **PLACE.get().unwrap();
        assert_eq!(seen, [winner; 4]);
        for value in &values {
            assert_eq!(Arc::strong_count(value), if **value == winner { 2 } else { 1 });
        }
    }
}
