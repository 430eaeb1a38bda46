//! Lets each item of a loop through exactly once.

use std::sync::atomic::{AtomicU64, Ordering};

/// Number of items whose bits, one per item, are in the field `first`. The bits of further items are allocated on the heap.
const IN_PLACE: usize = 64;

/// The set of items of `0..n` that have been started.
pub(super) struct OnceEach {
    n: usize,
    first: AtomicU64,
    rest: Vec<AtomicU64>,
}

impl OnceEach {
    pub(super) fn new(n: usize) -> Self {
        let rest_words = n.saturating_sub(IN_PLACE).div_ceil(64);
        Self { n, first: AtomicU64::new(0), rest: (0..rest_words).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Returns whether the caller may run item `i`: true for the first call with `i`, false for later calls and for an item
    /// that does not exist.
    pub(super) fn claim(&self, i: usize) -> bool {
        if i >= self.n {
            return false;
        }
        let word = if i < IN_PLACE { &self.first } else { &self.rest[(i - IN_PLACE) / 64] };
        let bit = 1_u64 << (i % 64);
        // Relaxed ordering is enough, because the bit only decides which thread runs the item. The pool's own barrier
        // makes the writes of items visible to other threads.
        word.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Number of items that have not been claimed.
    pub(super) fn unclaimed(&self) -> usize {
        let claimed: u32 =
            std::iter::once(&self.first).chain(&self.rest).map(|word| word.load(Ordering::Relaxed).count_ones()).sum();
        self.n - claimed as usize
    }
}

#[cfg(test)]
mod tests {
    use super::OnceEach;

    #[test]
    fn lets_each_item_through_once_across_word_borders() {
        for n in [0, 1, 63, 64, 65, 128, 129, 1000] {
            let items = OnceEach::new(n);
            assert_eq!(items.unclaimed(), n);
            for i in 0..n {
                assert!(items.claim(i), "first claim of {i} of {n}");
                assert!(!items.claim(i), "second claim of {i} of {n}");
                assert_eq!(items.unclaimed(), n - i - 1);
            }
            assert!(!items.claim(n) && !items.claim(usize::MAX), "items beyond {n}");
        }
    }
}
