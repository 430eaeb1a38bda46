//! The values that a fork guard holds from before the fork until after it.

/// Lock guards or other values. After the fork they are dropped in the reverse of the order in which they were added.
#[derive(Default)]
pub struct Kept<'a>(Vec<Box<dyn Anything + 'a>>);

/// Implemented by every type, because the values are only dropped.
trait Anything {}

impl<T> Anything for T {}

impl<'a> Kept<'a> {
    /// Holds `value` across the fork.
    pub fn keep(&mut self, value: impl Sized + 'a) {
        self.0.push(Box::new(value));
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        while self.0.pop().is_some() {}
    }
}

impl std::fmt::Debug for Kept<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("values", &self.0.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    struct Noisy<'a>(u32, &'a RefCell<Vec<u32>>);

    impl Drop for Noisy<'_> {
        fn drop(&mut self) {
            self.1.borrow_mut().push(self.0);
        }
    }

    #[test]
    fn last_kept_is_first_dropped() {
        let dropped = RefCell::new(Vec::new());
        let mut kept = Kept::default();
        (1..=3).for_each(|i| kept.keep(Noisy(i, &dropped)));
        assert!(dropped.borrow().is_empty());
        drop(kept);
        assert_eq!(*dropped.borrow(), [3, 2, 1]);
    }
}
