//! Kernels: code that turns input memory into output memory.
//!
//! Contract of [`RawTensor`]: pointer and length describe memory that stays valid and, for outputs, exclusively held
//! for the duration of [`Kernel::run`]; it is aligned to 64 bytes (or the tensor is empty). An output with
//! [`WriteReq::Inplace`] is the very memory of one input, one with [`WriteReq::Null`] may have no memory at all; no
//! other two tensors of a call overlap. An input whose content the operator ignores may have no memory either. The executor
//! establishes this through the planner and the engine; kernels rely on it.

use crate::RandomCall;
use mxrs_sync::Team;
use mxrs_types::{Result, WriteReq};
use std::marker::PhantomData;
use std::sync::Arc;

/// Memory of one tensor of a call.
#[derive(Clone, Copy, Debug)]
pub struct RawTensor<'a> {
    ptr: *mut u8,
    len_bytes: usize,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: a RawTensor is a borrowed range of bytes; who may read or write it is decided by the call it belongs to
// (module head), which may happen on any thread.
unsafe impl Send for RawTensor<'_> {}
// SAFETY: as above; shared use only copies the pointer.
unsafe impl Sync for RawTensor<'_> {}

impl<'a> RawTensor<'a> {
    /// Describes memory.
    ///
    /// # Safety
    /// `ptr` must be valid for reads (inputs) or reads and writes (outputs) of `len_bytes` bytes during `'a`, as the
    /// module head says. A zero length may have any pointer.
    pub unsafe fn new(ptr: *mut u8, len_bytes: usize) -> Self {
        Self { ptr, len_bytes, memory: PhantomData }
    }

    /// An input from a slice, for tests and tools.
    pub fn from_slice(bytes: &'a [u8]) -> Self {
        Self { ptr: bytes.as_ptr().cast_mut(), len_bytes: bytes.len(), memory: PhantomData }
    }

    /// An output from a slice, for tests and tools.
    pub fn from_mut_slice(bytes: &'a mut [u8]) -> Self {
        Self { ptr: bytes.as_mut_ptr(), len_bytes: bytes.len(), memory: PhantomData }
    }

    /// Start of the memory.
    pub fn as_ptr(&self) -> *mut u8 {
        self.ptr
    }

    /// Bytes.
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Whether two tensors share memory.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self.ptr as usize, other.ptr as usize);
        self.len_bytes > 0 && other.len_bytes > 0 && a < b + other.len_bytes && b < a + self.len_bytes
    }

    /// The bytes, for reading.
    ///
    /// # Safety
    /// Nobody writes this memory while the slice lives; in particular it is not an in-place output in use.
    pub unsafe fn bytes(&self) -> &'a [u8] {
        if self.len_bytes == 0 {
            // Of words, so that the empty slice is aligned for every dtype.
            let empty: &'static [u64] = &[];
            return bytemuck::cast_slice(empty);
        }
        // SAFETY: valid for reads by construction, unaliased writes excluded by the caller.
        unsafe { std::slice::from_raw_parts(self.ptr, self.len_bytes) }
    }

    /// The bytes, for writing.
    ///
    /// # Safety
    /// This is an output of the running call, and no other slice of the same memory lives.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn bytes_mut(&self) -> &'a mut [u8] {
        if self.len_bytes == 0 {
            let empty: &'static mut [u64] = &mut [];
            return bytemuck::cast_slice_mut(empty);
        }
        // SAFETY: valid for writes by construction, exclusive by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.ptr, self.len_bytes) }
    }
}

/// Everything a kernel gets for one run.
#[derive(Debug)]
pub struct KernelArgs<'a> {
    /// Inputs (auxiliary states included) in the layouts the kernel was planned for.
    pub inputs: &'a [RawTensor<'a>],
    /// Outputs in the planned layouts.
    pub outputs: &'a [RawTensor<'a>],
    /// What to do with each output.
    pub reqs: &'a [WriteReq],
    /// Temporary memory of the planned size, 64-byte aligned, content undefined.
    pub scratch: RawTensor<'a>,
    /// Threads for loops.
    pub team: &'a Team,
    /// Random numbers of this call, for operators that [draw some](crate::OpDef::is_random).
    pub random: Option<RandomCall>,
}

/// A kernel prepared for one call signature; run any number of times, from several threads at once.
pub trait Kernel: Send + Sync {
    /// What runs, for traces: `onednn:brgconv:avx512_core`.
    fn name(&self) -> &str;

    /// Whether a sum is better made by this kernel, asked to [add](WriteReq::Add) to output `output`, than by writing the
    /// output and adding it afterwards. Every kernel can add; one that would do it by writing elsewhere first should say
    /// no. The bits must be those of writing and adding.
    fn adds(&self, output: usize) -> bool {
        let _ = output;
        false
    }

    /// The same kernel with images of its only output (slices along the first axis) that begin so many bytes from one another
    /// instead of following one another: the output is a part of a larger tensor. Scratch memory and all other tensors stay as they
    /// were, and so do the bits it computes; nothing between the images is read or written. `None` where it cannot do that.
    fn strided(self: Arc<Self>, image_bytes: usize) -> Option<Arc<dyn Kernel>> {
        let _ = image_bytes;
        None
    }

    /// The same kernel with one more input, at this position behind all others: a tensor like its only output that is added to
    /// the result, and whose memory the output may have. It rounds once where writing and adding round twice, at most.
    /// `None` where that would cost as much as an addition of its own.
    fn summed(self: Arc<Self>, position: usize) -> Option<Arc<dyn Kernel>> {
        let _ = position;
        None
    }

    /// Computes the outputs.
    ///
    /// # Errors
    /// What the vendor library or the operator reports; shapes and types were checked at planning.
    fn run(&self, args: &KernelArgs<'_>) -> Result<()>;
}
