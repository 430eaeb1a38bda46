//! Parts that the loops of this crate share: ranges for the threads of a team, pointers to tensors that threads write, and
//! versions of a loop compiled for the vector registers that the processor has.

use mxrs_sync::Team;
use std::ops::Range;

/// If a thread had fewer elements than this, waking another thread would cost more than it saves.
const ELEMENTS_PER_THREAD: usize = 1 << 14;

/// A pointer that the threads of a team share; each uses its own range.
#[derive(Clone, Copy)]
pub struct Shared<T>(pub *mut T);
// SAFETY: only the address moves between threads. The SAFETY comment of each access says why threads write disjoint
// ranges, or only read.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: sharing only copies the address. The SAFETY comment of each access says why threads write disjoint ranges, or
// only read.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The element at `offset`.
    pub fn at(self, offset: usize) -> *mut T {
        self.0.wrapping_add(offset)
    }
}

/// Runs `body` over disjoint ranges that cover `0..n`. One index of `0..n` is assumed to cost as much time as
/// `elements` elements of an elementwise loop.
pub fn in_ranges(team: &Team, n: usize, elements: usize, body: &(dyn Fn(Range<usize>) + Sync)) {
    let n_chunks = (n.saturating_mul(elements) / ELEMENTS_PER_THREAD).clamp(1, team.size()).min(n.max(1));
    let per_chunk = n.div_ceil(n_chunks);
    team.run(n_chunks, &|chunk| body((chunk * per_chunk).min(n)..((chunk + 1) * per_chunk).min(n)));
}

/// Computes `to[i] = f(i, from[i])` for every element.
///
/// If `f` may return an element unchanged and the loop runs in place, the compiler makes a branch of `f` and computes one
/// element at a time. Such an `f` should compute the unchanged value, for example by adding 0.
///
/// # Safety
/// Both pointers must be valid for `n` elements that no other thread writes; they must be equal or not overlap.
#[inline(always)]
pub unsafe fn map<T: Copy>(from: *const T, to: *mut T, n: usize, f: impl Fn(usize, T) -> T) {
    if std::ptr::eq(from, to) {
        // SAFETY: the caller promises `n` elements that no other thread writes, and this is the only slice of them.
        let both = unsafe { std::slice::from_raw_parts_mut(to, n) };
        both.iter_mut().enumerate().for_each(|(i, x)| *x = f(i, *x));
    } else {
        // SAFETY: the caller promises `n` elements at both pointers. The pointers differ, so by the contract the
        // elements do not overlap.
        let (from, to) = unsafe { (std::slice::from_raw_parts(from, n), std::slice::from_raw_parts_mut(to, n)) };
        to.iter_mut().zip(from).enumerate().for_each(|(i, (y, x))| *y = f(i, *x));
    }
}

/// Computes `to[i] = f(a[i], b[i])` for every element. If the loop runs in place, `f` should be written as [`map`]
/// says.
///
/// # Safety
/// All pointers must be valid for `n` elements that no other thread writes. `to` must be equal to `a`, `b` or both, or must
/// not overlap them.
#[inline(always)]
pub unsafe fn zip<T: Copy>(a: *const T, b: *const T, to: *mut T, n: usize, f: impl Fn(T, T) -> T) {
    if std::ptr::eq(a, b) {
        // SAFETY: `a` and `b` are equal, so the contract of this function implies that of `map`.
        unsafe { map(a, to, n, |_, x| f(x, x)) }
    } else if std::ptr::eq(b, to) {
        // SAFETY: the caller promises `n` elements. `to` equals `b` and `b` differs from `a`, so by the contract `to`
        // does not overlap `a`.
        let a = unsafe { std::slice::from_raw_parts(a, n) };
        // SAFETY: `b` and `to` are equal, so the contract of this function implies that of `map` for them.
        unsafe { map(b, to, n, |i, y| f(a[i], y)) }
    } else {
        // SAFETY: the caller promises `n` elements. `to` differs from `b`, so by the contract `to` does not overlap
        // `b`.
        let b = unsafe { std::slice::from_raw_parts(b, n) };
        // SAFETY: the contract of this function implies that of `map` for `a` and `to`.
        unsafe { map(a, to, n, |i, x| f(x, b[i])) }
    }
}

/// A loop that can be compiled for several instruction sets. Closures, and functions that it calls without inlining, are
/// compiled only once, for the basic instruction set.
pub trait Loop {
    /// Runs the loop. It must be marked `#[inline(always)]`, and so must everything that it calls.
    fn run(self);
}

/// A [`Loop`] that computes [`map`].
pub struct MapLoop<'a, T, F> {
    from: *const T,
    to: *mut T,
    n: usize,
    f: &'a F,
}

impl<'a, T: Copy, F: Fn(T) -> T> MapLoop<'a, T, F> {
    /// # Safety
    /// The conditions of [`map`] must hold as long as the loop exists.
    pub unsafe fn new(from: *const T, to: *mut T, n: usize, f: &'a F) -> Self {
        Self { from, to, n, f }
    }
}

impl<T: Copy, F: Fn(T) -> T> Loop for MapLoop<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        // SAFETY: the caller of `new` ensures the contract of `map`.
        unsafe { map(self.from, self.to, self.n, |_, x| (self.f)(x)) };
    }
}

/// Runs a loop. If the processor has wide registers, a version that is compiled for them runs, with the same results.
pub fn wide(body: impl Loop) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx2(body: impl Loop) {
            body.run();
        }
        if mxrs_processor::Feature::Avx2.is_there() {
            // SAFETY: the condition above has detected AVX2.
            return unsafe { with_avx2(body) };
        }
    }
    body.run();
}

/// Runs a loop as [`wide`] does, but with a third version, which is compiled for the widest registers (AVX-512). It is
/// meant for loops that are faster with these registers, such as those that convert between f32 and bytes.
pub fn widest(body: impl Loop) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
        fn with_avx512(body: impl Loop) {
            body.run();
        }
        if mxrs_processor::Feature::Avx512Core.is_there() {
            // SAFETY: the condition above has detected all four parts of AVX-512 that `with_avx512` is compiled for.
            return unsafe { with_avx512(body) };
        }
    }
    wide(body);
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn elements_are_mapped_beside_and_in_place() {
        let numbers: Vec<f32> = (0..37).map(|i| i as f32 - 9.0).collect();
        let (a, b) = (numbers.as_slice(), numbers.iter().map(|x| x * 3.0).collect::<Vec<_>>());
        let expected: Vec<f32> = a.iter().zip(&b).map(|(x, y)| x - 2.0 * y).collect();
        let f = |x: f32, y: f32| x - 2.0 * y;
        let (mut beside, mut on_a, mut on_b, mut both) = (vec![0.0; 37], a.to_vec(), b.clone(), a.to_vec());
        // SAFETY: the vectors have 37 elements, this thread alone uses them, and `to` is equal to an operand or does
        // not overlap it.
        unsafe {
            zip(a.as_ptr(), b.as_ptr(), beside.as_mut_ptr(), 37, f);
            let to = on_a.as_mut_ptr();
            zip(to, b.as_ptr(), to, 37, f);
            let to = on_b.as_mut_ptr();
            zip(a.as_ptr(), to, to, 37, f);
            let to = both.as_mut_ptr();
            zip(to, to, to, 37, f);
        }
        assert_eq!([&beside, &on_a, &on_b], [&expected; 3]);
        assert_eq!(both, a.iter().map(|x| -x).collect::<Vec<_>>());
    }

    #[test]
    fn every_item_is_in_one_range() {
        let team = mxrs_testkit::conformance::team(3);
        for n in [0, 1, 2, 3, 7, 100] {
            let seen: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            in_ranges(&team, n, ELEMENTS_PER_THREAD, &|range| {
                range.for_each(|i| {
                    seen[i].fetch_add(1, Ordering::Relaxed);
                });
            });
            assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1), "{n} items");
        }
    }
}
