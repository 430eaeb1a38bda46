//! Outputs that are computed in registers and stored chunk by chunk.
//!
//! A thread that alternates between reading, computing and storing whole rows leaves the memory idle while it computes. With
//! [`Storing`] a kernel stores a chunk of one row after each chunk of the next row that it computes, so that both overlap.

use crate::number::Element;
use crate::stream::AHEAD;
use crate::tensors::Sink;
use std::ops::Range;

/// Number of elements that are computed together.
pub const CHUNK: usize = 64;
/// Number of elements that are computed together at the end of a range.
const SMALL: usize = 16;

/// Computes elements of an output. `chunk` must be `#[inline(always)]`.
pub trait Compute<T> {
    /// The `N` elements from index `at` on. Elements of an input in the output's memory are read before this function
    /// returns.
    ///
    /// # Safety
    /// No other thread may write the elements of the inputs that these elements are computed from.
    unsafe fn chunk<const N: usize>(&self, at: usize) -> [T; N];

    /// Prefetches the elements of the inputs from which the `N` elements from `at` on are computed; `at` may be outside
    /// them.
    #[inline(always)]
    fn prefetch<const N: usize>(&self, at: usize) {
        let _ = at;
    }
}

/// Stores the elements of a range step by step.
pub struct Storing<'a, T, C> {
    out: Sink<'a, T>,
    compute: C,
    next: usize,
    end: usize,
}

impl<'a, T: Element, C: Compute<T>> Storing<'a, T, C> {
    /// Begins with the elements before the first whole cache line.
    ///
    /// # Safety
    /// Until the last step, no other code may use these elements of the output, or write the elements of the inputs from
    /// which they are computed. An input in the output's memory is allowed.
    #[inline(always)]
    pub unsafe fn new(out: Sink<'a, T>, range: Range<usize>, compute: C) -> Self {
        let mut storing = Self { out, compute, next: range.start, end: range.end };
        if !out.is_wanted() {
            storing.next = storing.end;
        }
        let head = out.before_line(range.start).min(range.len());
        for _ in 0..head {
            // SAFETY: the caller guarantees what `put` requires, and `head` is at most the length of the range, so elements
            // are left.
            unsafe { storing.put::<1>() };
        }
        storing
    }

    /// # Safety
    /// The contract of [`Self::new`]; at least `N` elements must be left.
    #[inline(always)]
    unsafe fn put<const N: usize>(&mut self) {
        // SAFETY: the caller of `new` guarantees that no other code uses these elements. `chunk` no longer borrows elements
        // of inputs when the results are stored.
        unsafe {
            let results = self.compute.chunk::<N>(self.next);
            self.out.put(self.next, results);
        }
        self.next += N;
    }

    /// Stores the next [`CHUNK`] elements, if as many are left.
    ///
    /// # Safety
    /// The contract of [`Self::new`].
    #[inline(always)]
    pub unsafe fn step(&mut self) {
        if self.end - self.next >= CHUNK {
            // SAFETY: the caller of `new` guarantees that no other code uses these elements, and at least `CHUNK` of them
            // are left.
            unsafe { self.put::<CHUNK>() };
        }
    }

    /// Stores all other elements.
    ///
    /// # Safety
    /// The contract of [`Self::new`].
    #[inline(always)]
    pub unsafe fn finish(mut self) {
        // SAFETY: the caller of `new` guarantees that no other code uses these elements, and each loop stores only elements
        // that are left.
        unsafe {
            while self.end - self.next >= CHUNK {
                self.compute.prefetch::<CHUNK>(self.next + AHEAD / size_of::<T>().max(1));
                self.put::<CHUNK>();
            }
            while self.end - self.next >= SMALL {
                self.put::<SMALL>();
            }
            while self.next < self.end {
                self.put::<1>();
            }
        }
    }
}

/// An array whose element `i` is `f(i)`. Unlike `array::from_fn`, this is a plain loop, which the compiler vectorizes for
/// arrays of any length. `zero` is any value.
#[inline(always)]
pub fn each<T: Copy, const N: usize>(zero: T, f: impl Fn(usize) -> T) -> [T; N] {
    let mut all = [zero; N];
    for (l, to) in all.iter_mut().enumerate() {
        *to = f(l);
    }
    all
}

/// The `N` values from `at` on.
#[inline(always)]
pub fn chunk_of<T, const N: usize>(values: &[T], at: usize) -> &[T; N] {
    assert!(at <= values.len() && N <= values.len() - at, "{N} values from {at} on, of {}", values.len());
    // SAFETY: the assertion keeps the array within the slice.
    unsafe { &*values.as_ptr().add(at).cast() }
}
