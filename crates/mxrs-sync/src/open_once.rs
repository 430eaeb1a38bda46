//! A cell whose content one thread, once, may open through a shared reference.

use crate::atomic::{AtomicBool, Ordering};
use std::cell::UnsafeCell;

/// Holds a value for whoever opens it first: the body of an operator, say, that runs exactly once on some thread.
///
/// ```
/// let cell = mxrs_sync::OpenOnce::new(String::from("x"));
/// let text = cell.open().unwrap();
/// text.push('y');
/// assert_eq!(text, "xy");
/// assert!(cell.open().is_none());
/// ```
pub struct OpenOnce<T: ?Sized> {
    opened: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: a shared reference gives access to the value to one thread only, the one whose swap in `open` came first, so
// sharing the cell amounts to sending the value there.
unsafe impl<T: ?Sized + Send> Sync for OpenOnce<T> {}

impl<T> OpenOnce<T> {
    /// An unopened cell.
    pub fn new(value: T) -> Self {
        Self { opened: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }
}

impl<T: ?Sized> OpenOnce<T> {
    /// The value, for the first caller; `None` for everyone after.
    #[expect(clippy::mut_from_ref, reason = "handed out once, which `opened` enforces")]
    pub fn open(&self) -> Option<&mut T> {
        if self.opened.swap(true, Ordering::AcqRel) {
            return None;
        }
        // SAFETY: only one call ever gets here, as nothing resets `opened`; so this is the only borrow through `&self`,
        // and it cannot outlive the cell.
        Some(unsafe { &mut *self.value.get() })
    }
}

impl<T: ?Sized> std::fmt::Debug for OpenOnce<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenOnce").field("opened", &self.opened.load(Ordering::Relaxed)).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_of_many_threads_gets_it() {
        let cell = OpenOnce::new(0_u32);
        let winners: usize = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| cell.open().map(|v| *v += 1).is_some() as usize)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(winners, 1);
        assert_eq!(cell.value.into_inner(), 1);
    }
}
