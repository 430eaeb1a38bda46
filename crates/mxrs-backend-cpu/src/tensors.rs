//! Views of raw tensor memory as slices, for loops in which every thread has its own part.
//!
//! [`Source`] reads an input, [`Sink`] obeys the request of an output. Threads write disjoint ranges. Within its range
//! a thread makes the slices of one piece at a time, and never a slice of an output while another slice of the same
//! memory exists. An output that shares memory with an input is computed in a buffer, piece by piece, and each piece is
//! read before it is written.

use crate::number::Element;
use crate::stream;
use mxrs_op::{KernelArgs, RawTensor};
use mxrs_types::{DType, Error, Result, WriteReq};
use std::marker::PhantomData;
use std::ops::Range;

/// An output that is computed in a buffer is computed in pieces of this many elements.
pub const PIECE: usize = 1024;

/// An input of a running call.
#[derive(Clone, Copy)]
pub struct Source<'a, T> {
    ptr: *const T,
    len: usize,
    memory: PhantomData<&'a [T]>,
}

// SAFETY: a `Source` only reads memory that the call may read from any thread. The callers of `slice` exclude
// concurrent writes.
unsafe impl<T: Sync> Send for Source<'_, T> {}
// SAFETY: shared use of a `Source` only reads memory. The callers of `slice` exclude concurrent writes.
unsafe impl<T: Sync> Sync for Source<'_, T> {}

impl<'a, T: bytemuck::Pod> Source<'a, T> {
    /// Input `index`; empty if the call does not have this input, or the input has no memory.
    pub fn of(args: &KernelArgs<'a>, index: usize) -> Self {
        let (ptr, len) = parts(args.inputs.get(index));
        Self { ptr, len, memory: PhantomData }
    }

    /// The elements in `range`.
    ///
    /// # Safety
    /// No thread may write these elements while the slice exists.
    pub unsafe fn slice(&self, range: Range<usize>) -> &'a [T] {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of an input of {}", self.len);
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the assertion keeps `range` within the input's memory, which is valid for `'a` and, by the assertion
        // in `parts`, aligned. The caller ensures that no thread writes these elements.
        unsafe { std::slice::from_raw_parts(self.ptr.add(range.start), range.len()) }
    }

    /// The `N` elements from `at` on.
    ///
    /// # Safety
    /// No thread may write these elements while the reference exists.
    #[inline(always)]
    pub unsafe fn chunk<const N: usize>(&self, at: usize) -> &'a [T; N] {
        assert!(at <= self.len && N <= self.len - at, "{N} elements from {at} on, of an input of {}", self.len);
        // SAFETY: the assertion keeps the elements within the input's memory, as in `slice`. The caller ensures that no
        // thread writes them.
        unsafe { &*self.ptr.add(at).cast() }
    }

    /// Prefetches the `N` elements from `at` on, which are read soon. They may be outside the input.
    #[inline(always)]
    pub fn prefetch<const N: usize>(&self, at: usize) {
        stream::prefetch_at::<T, N>(self.ptr.wrapping_add(at));
    }

    /// The element at `index`.
    ///
    /// # Safety
    /// No thread may write this element at the same time.
    pub unsafe fn at(&self, index: usize) -> T {
        // SAFETY: the contract of this function is that of `slice` for one element, which exists only until the end of
        // this function.
        let one = unsafe { self.slice(index..index + 1) };
        one[0]
    }
}

fn parts<T>(raw: Option<&RawTensor<'_>>) -> (*mut T, usize) {
    let Some(raw) = raw else { return (std::ptr::null_mut(), 0) };
    let ptr = raw.as_ptr().cast::<T>();
    assert!(raw.len_bytes() == 0 || ptr.is_aligned(), "tensors are aligned to 64 bytes");
    (ptr, raw.len_bytes() / size_of::<T>())
}

/// How the values of an output are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The values are not stored.
    Skip,
    /// The values are computed in the output's memory.
    Direct,
    /// The values are computed in a buffer and copied around the caches.
    Stream,
    /// The values are computed in a buffer and copied, because inputs share the output's memory.
    Copy,
    /// The values are computed in a buffer and added to the old values.
    Add,
}

impl Mode {
    /// Whether new values replace the old ones.
    pub fn replaces(self) -> bool {
        matches!(self, Self::Direct | Self::Stream | Self::Copy)
    }

    /// The mode for the request of output `index`, whose dtype is `dtype`.
    ///
    /// # Errors
    /// Fails if the request is to add to an output of bools.
    pub fn of(args: &KernelArgs<'_>, index: usize, dtype: DType) -> Result<Self> {
        let overlaps = || args.inputs.iter().any(|input| args.outputs[index].overlaps(input));
        match args.reqs.get(index).copied().unwrap_or_default() {
            WriteReq::Null => Ok(Self::Skip),
            WriteReq::Add if dtype == DType::Bool => {
                Err(Error::not_built("add to a bool output", "bool arrays have no sum"))
            }
            WriteReq::Add => Ok(Self::Add),
            WriteReq::Write | WriteReq::Inplace if overlaps() => Ok(Self::Copy),
            WriteReq::Write | WriteReq::Inplace => Ok(Self::Direct),
        }
    }
}

/// An output of a running call. Each thread writes its own ranges.
#[derive(Clone, Copy)]
pub struct Sink<'a, T> {
    ptr: *mut T,
    len: usize,
    mode: Mode,
    memory: PhantomData<&'a mut [T]>,
}

// SAFETY: threads write disjoint ranges, which the contracts of `write` and `slice_mut` demand of their callers.
unsafe impl<T: Send> Send for Sink<'_, T> {}
// SAFETY: shared use writes disjoint ranges, which the contracts of `write` and `slice_mut` demand of their callers.
unsafe impl<T: Send> Sync for Sink<'_, T> {}

impl<'a, T: Element> Sink<'a, T> {
    /// Output `index`, whose dtype is `dtype`.
    ///
    /// # Errors
    /// Fails if the request is to add to an output of bools.
    pub fn of(args: &KernelArgs<'a>, index: usize, dtype: DType) -> Result<Self> {
        let sink = Self::with_mode(args, index, Mode::of(args, index, dtype)?);
        let streams = sink.mode == Mode::Direct && stream::pays(sink.len * size_of::<T>());
        Ok(if streams { Self { mode: Mode::Stream, ..sink } } else { sink })
    }

    /// Output `index` with this mode.
    pub fn with_mode(args: &KernelArgs<'a>, index: usize, mode: Mode) -> Self {
        let (ptr, len) = parts(args.outputs.get(index));
        Self { ptr, len, mode, memory: PhantomData }
    }

    /// Whether the output is requested.
    pub fn is_wanted(&self) -> bool {
        self.mode != Mode::Skip
    }

    /// How the values of the output are stored.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Lets `fill` compute the elements in `range`. In the mode `Direct`, `fill` is called once, with the memory of the output.
    /// In the other modes it is called for one small buffer after another, whose content is then stored in the output or added
    /// to it. `fill` gets the range of the elements and the memory for them, and must set every element.
    ///
    /// # Safety
    /// During the call no other thread may read or write these elements of the output, or of an input in its memory.
    /// `fill` must not keep a slice of an input from one piece to the next. From an input in the output's memory it
    /// must not read elements that an earlier piece has written.
    pub unsafe fn write(&self, range: Range<usize>, mut fill: impl FnMut(Range<usize>, &mut [T])) {
        match self.mode {
            Mode::Skip => {}
            // SAFETY: the caller gives this thread these elements, and in this mode no input shares the output's
            // memory.
            Mode::Direct => fill(range.clone(), unsafe { self.slice_mut(range) }),
            // SAFETY: `write_pieces` requires what the caller of this function guarantees. A short range gets a short
            // buffer, because clearing the buffer takes time.
            Mode::Stream | Mode::Copy | Mode::Add if range.len() <= PIECE / 4 => unsafe {
                self.write_pieces::<{ PIECE / 4 }>(range, fill);
            },
            // SAFETY: `write_pieces` requires what the caller of this function guarantees.
            Mode::Stream | Mode::Copy | Mode::Add => unsafe { self.write_pieces::<PIECE>(range, fill) },
        }
    }

    /// Lets `fill` compute the elements in `range` in pieces of at most `N` elements, in a buffer.
    ///
    /// # Safety
    /// As for [`Self::write`].
    unsafe fn write_pieces<const N: usize>(&self, range: Range<usize>, mut fill: impl FnMut(Range<usize>, &mut [T])) {
        let mut buffer = [T::ZERO; N];
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + N);
            let piece = &mut buffer[..end - start];
            fill(start..end, piece);
            // SAFETY: the caller gives this thread these elements, and the slices that `fill` made of inputs are no longer
            // used.
            unsafe { self.store(start..end, piece) };
            start = end;
        }
    }

    /// Stores `N` elements from `at` on, or adds them to the old ones. For [`Mode::Stream`] their memory begins at a
    /// multiple of 64 bytes, or they are stored through the caches.
    ///
    /// # Safety
    /// No other code may use these elements.
    #[inline(always)]
    pub unsafe fn put<const N: usize>(&self, at: usize, from: [T; N]) {
        // An output that is not requested may have no memory.
        if self.mode == Mode::Skip {
            return;
        }
        assert!(at <= self.len && N <= self.len - at, "{N} elements from {at} on, of an output of {}", self.len);
        // SAFETY: the assertion keeps the elements within the output's memory, as in `slice_mut`. The caller ensures that no
        // other code uses them.
        let to: &mut [T; N] = unsafe { &mut *self.ptr.add(at).cast() };
        match self.mode {
            Mode::Add => to.iter_mut().zip(from).for_each(|(to, x)| *to = to.plus(x)),
            Mode::Stream if stream::is_aligned(to) => stream::store(to, &from),
            _ => *to = from,
        }
    }

    /// The number of elements from `at` on before the first one at a multiple of 64 bytes, if whole lines are stored around
    /// the caches; otherwise 0.
    #[inline(always)]
    pub fn before_line(&self, at: usize) -> usize {
        if self.mode == Mode::Stream { stream::before_line(self.ptr.wrapping_add(at)) } else { 0 }
    }

    /// Stores elements at a distance of `step` from each other, the first at `at`, or adds them to the old ones.
    ///
    /// # Safety
    /// No other code may use these elements.
    pub unsafe fn put_each(&self, at: usize, step: usize, values: impl ExactSizeIterator<Item = T>) {
        let last = values
            .len()
            .checked_sub(1)
            .and_then(|n| n.checked_mul(step))
            .map_or(Some(0), |reach| at.checked_add(reach));
        if values.len() == 0 || !self.is_wanted() {
            return;
        }
        assert!(
            last.is_some_and(|last| last < self.len),
            "{} elements from {at} on, of an output of {}",
            values.len(),
            self.len
        );
        for (i, value) in values.enumerate() {
            // SAFETY: the assertion keeps the last element, and so all of them, within the output's memory, as in
            // `slice_mut`. The caller ensures that no other code uses them.
            let to = unsafe { &mut *self.ptr.add(at + i * step) };
            *to = if self.mode == Mode::Add { to.plus(value) } else { value };
        }
    }

    /// Stores elements that were computed in a buffer.
    ///
    /// # Safety
    /// No other code may use the elements in `range`.
    unsafe fn store(&self, range: Range<usize>, from: &[T]) {
        // SAFETY: the caller guarantees that no other code uses these elements.
        let to = unsafe { self.slice_mut(range) };
        match self.mode {
            Mode::Add => to.iter_mut().zip(from).for_each(|(to, x)| *to = to.plus(*x)),
            Mode::Stream => stream::copy(from, to),
            _ => to.copy_from_slice(from),
        }
    }

    /// The elements in `range`.
    ///
    /// # Safety
    /// No other code may read or write these elements while the slice exists.
    pub unsafe fn slice_mut(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of an output of {}", self.len);
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: the assertion keeps `range` within the output's memory, which is valid for `'a` and, by the assertion
        // in `parts`, aligned. The caller ensures that no other code uses these elements.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.add(range.start), range.len()) }
    }
}

/// A part of a running call's scratch memory. Each thread uses its own ranges.
#[derive(Clone, Copy)]
pub struct Scratch<'a, T> {
    ptr: *mut T,
    len: usize,
    memory: PhantomData<&'a mut [T]>,
}

// SAFETY: threads use disjoint ranges, which the contract of `slice` demands of its callers.
unsafe impl<T: Send> Send for Scratch<'_, T> {}
// SAFETY: shared use accesses disjoint ranges, which the contract of `slice` demands of its callers.
unsafe impl<T: Send> Sync for Scratch<'_, T> {}

impl<'a, T: bytemuck::Pod> Scratch<'a, T> {
    /// `len` items from byte `start` on, which must be a multiple of 64.
    pub fn of(args: &KernelArgs<'a>, start: usize, len: usize) -> Self {
        let is_there = start.is_multiple_of(64) && start + len * size_of::<T>() <= args.scratch.len_bytes();
        assert!(is_there || len == 0, "scratch memory is as planned");
        Self { ptr: args.scratch.as_ptr().wrapping_add(start).cast(), len, memory: PhantomData }
    }

    /// The items in `range`. Their initial values are unspecified.
    ///
    /// # Safety
    /// No other code may use these items while the slice exists.
    pub unsafe fn slice(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of {} items of scratch", self.len);
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: the assertions here and in `of` keep `range` within the scratch memory, which is valid for `'a` and
        // aligned to 64 bytes; the caller ensures that nothing else uses it.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.add(range.start), range.len()) }
    }

    /// Reads the same items, after they have been written.
    pub fn written(&self) -> Source<'a, T> {
        Source { ptr: self.ptr, len: self.len, memory: PhantomData }
    }

    /// The items as a tensor that another kernel's call can use.
    ///
    /// # Safety
    /// While the other call runs, no slice of these items may exist outside that call.
    pub unsafe fn as_raw(&self) -> RawTensor<'a> {
        // SAFETY: `of` has checked that `len` items are within the scratch memory, which is valid for `'a`.
        unsafe { RawTensor::new(self.ptr.cast(), self.len * size_of::<T>()) }
    }
}
