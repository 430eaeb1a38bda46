//! Raw tensor memory as slices, for loops of which every thread has its own part.
//!
//! [`Source`] reads an input, [`Sink`] meets the request of an output. Threads write disjoint ranges; within its range a
//! thread makes the slices of one piece at a time, and never one of an output while one of the same memory lives: an output
//! that shares memory with an input is computed in a buffer, piece by piece, and each piece is read before it is written.

use crate::number::Element;
use mxrs_op::{KernelArgs, RawTensor};
use mxrs_types::{DType, Error, Result, WriteReq};
use std::marker::PhantomData;
use std::ops::Range;

/// Elements computed at a time where they are not written in place.
pub const PIECE: usize = 1024;

/// An input of a running call.
#[derive(Clone, Copy)]
pub struct Source<'a, T> {
    ptr: *const T,
    len: usize,
    memory: PhantomData<&'a [T]>,
}

// SAFETY: it only leads to memory that the call may read from any thread; see `slice`.
unsafe impl<T: Sync> Send for Source<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Source<'_, T> {}

impl<'a, T: bytemuck::Pod> Source<'a, T> {
    /// Input `index`; empty when the call has none or it has no memory.
    pub fn of(args: &KernelArgs<'a>, index: usize) -> Self {
        let (ptr, len) = parts(args.inputs.get(index));
        Self { ptr, len, memory: PhantomData }
    }

    /// Its elements in `range`.
    ///
    /// # Safety
    /// Nobody writes them while the slice lives.
    pub unsafe fn slice(&self, range: Range<usize>) -> &'a [T] {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of an input of {}", self.len);
        if self.len == 0 {
            return &[];
        }
        // SAFETY: within the memory of the input (checked above), which is valid during 'a; nobody writes it, says the
        // caller.
        unsafe { std::slice::from_raw_parts(self.ptr.add(range.start), range.len()) }
    }

    /// The element at `index`.
    ///
    /// # Safety
    /// Nobody writes it at the same time.
    pub unsafe fn at(&self, index: usize) -> T {
        // SAFETY: the caller's promise.
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

/// What becomes of the values of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They are dropped.
    Skip,
    /// They are computed where they belong.
    Direct,
    /// They are computed in a buffer and copied: their place is read too.
    Copy,
    /// They are added.
    Add,
}

impl Mode {
    /// What output `index` of the call, of this type, asks for.
    ///
    /// # Errors
    /// A sum into an output of bools, which have none.
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

/// An output of a running call, of which every thread writes its own ranges.
#[derive(Clone, Copy)]
pub struct Sink<'a, T> {
    ptr: *mut T,
    len: usize,
    mode: Mode,
    memory: PhantomData<&'a mut [T]>,
}

// SAFETY: threads write disjoint ranges; see `write`.
unsafe impl<T: Send> Send for Sink<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Sink<'_, T> {}

impl<'a, T: Element> Sink<'a, T> {
    /// Output `index`, whose type is `dtype`.
    ///
    /// # Errors
    /// As [`Mode::of`].
    pub fn of(args: &KernelArgs<'a>, index: usize, dtype: DType) -> Result<Self> {
        Ok(Self::with_mode(args, index, Mode::of(args, index, dtype)?))
    }

    /// Output `index`, whose mode is known.
    pub fn with_mode(args: &KernelArgs<'a>, index: usize, mode: Mode) -> Self {
        let (ptr, len) = parts(args.outputs.get(index));
        Self { ptr, len, mode, memory: PhantomData }
    }

    /// Whether anybody wants it.
    pub fn is_wanted(&self) -> bool {
        self.mode != Mode::Skip
    }

    /// What becomes of its values.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Has `fill` compute the elements in `range`, in pieces where they do not go to their place at once: it gets the part
    /// of the range that a piece is, and the piece, whose every element it sets.
    ///
    /// # Safety
    /// No other thread reads or writes these elements of the output, or of an input in its memory, meanwhile. `fill` keeps
    /// no slice of an input from piece to piece, and of an input in the output's memory it reads no element that an earlier
    /// piece has written.
    pub unsafe fn write(&self, range: Range<usize>, mut fill: impl FnMut(Range<usize>, &mut [T])) {
        match self.mode {
            Mode::Skip => {}
            // SAFETY: the caller's promise; nothing reads this memory, as the mode says.
            Mode::Direct => fill(range.clone(), unsafe { self.slice_mut(range) }),
            Mode::Copy | Mode::Add => {
                let mut buffer = [T::ZERO; PIECE];
                let mut start = range.start;
                while start < range.end {
                    let end = range.end.min(start + PIECE);
                    let piece = &mut buffer[..end - start];
                    fill(start..end, piece);
                    // SAFETY: the caller's promise; the slices `fill` made of inputs are gone.
                    let to = unsafe { self.slice_mut(start..end) };
                    if self.mode == Mode::Add {
                        to.iter_mut().zip(&*piece).for_each(|(to, x)| *to = to.plus(*x));
                    } else {
                        to.copy_from_slice(piece);
                    }
                    start = end;
                }
            }
        }
    }

    /// Its elements in `range`.
    ///
    /// # Safety
    /// Nobody else reads or writes them while the slice lives.
    pub unsafe fn slice_mut(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of an output of {}", self.len);
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: within the memory of the output (checked above), which is valid during 'a; nobody else uses it, says the
        // caller.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.add(range.start), range.len()) }
    }
}

/// A part of a running call's scratch memory, of which every thread uses its own ranges.
#[derive(Clone, Copy)]
pub struct Scratch<'a, T> {
    ptr: *mut T,
    len: usize,
    memory: PhantomData<&'a mut [T]>,
}

// SAFETY: threads use disjoint ranges; see `slice`.
unsafe impl<T: Send> Send for Scratch<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Scratch<'_, T> {}

impl<'a, T: bytemuck::Pod> Scratch<'a, T> {
    /// `len` items from byte `start` on, a multiple of 64.
    pub fn of(args: &KernelArgs<'a>, start: usize, len: usize) -> Self {
        let is_there = start.is_multiple_of(64) && start + len * size_of::<T>() <= args.scratch.len_bytes();
        assert!(is_there || len == 0, "scratch memory is as planned");
        Self { ptr: args.scratch.as_ptr().wrapping_add(start).cast(), len, memory: PhantomData }
    }

    /// The items in `range`; what they are at first is undefined.
    ///
    /// # Safety
    /// Nobody else uses them while the slice lives.
    pub unsafe fn slice(&self, range: Range<usize>) -> &'a mut [T] {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of {} items of scratch", self.len);
        if self.len == 0 {
            return &mut [];
        }
        // SAFETY: within scratch memory (checked here and in `of`), which is valid during 'a and aligned to 64 bytes; nobody
        // else uses it, says the caller.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.add(range.start), range.len()) }
    }

    /// What was written, for reading.
    pub fn written(&self) -> Source<'a, T> {
        Source { ptr: self.ptr, len: self.len, memory: PhantomData }
    }

    /// As a tensor of another call.
    ///
    /// # Safety
    /// No slice of it lives while the other call runs, but those of that call.
    pub unsafe fn as_raw(&self) -> RawTensor<'a> {
        // SAFETY: scratch memory, valid during 'a for as many items (checked in `of`).
        unsafe { RawTensor::new(self.ptr.cast(), self.len * size_of::<T>()) }
    }
}
