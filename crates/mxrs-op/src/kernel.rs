//! Kernels: code that turns input memory into output memory.
//!
//! Contract of [`RawTensor`]: pointer and length describe memory that stays valid during [`Kernel::run`], and that no other
//! code uses meanwhile if it is an output. The memory is aligned to 64 bytes, unless the tensor is empty. An output with
//! [`WriteReq::Inplace`] is the same memory as one input. An output with [`WriteReq::Null`] may have no memory. No other two
//! tensors of a call overlap. An input whose content the operator ignores may have no memory either. The executor guarantees
//! all of this by means of the planner and the engine, and kernels rely on it.

use crate::RandomCall;
use mxrs_sync::Team;
use mxrs_types::{DeviceStream, Result, WriteReq};
use std::marker::PhantomData;
use std::sync::Arc;

/// Memory of one tensor of a call.
#[derive(Clone, Copy, Debug)]
pub struct RawTensor<'a> {
    ptr: *mut u8,
    len_bytes: usize,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: a `RawTensor` is an address and a length. Only its unsafe methods access the bytes, and their callers must follow
// the contract in the head of this file, on whichever thread they run.
unsafe impl Send for RawTensor<'_> {}
// SAFETY: safe methods on a shared `RawTensor` only read the address and the length. Callers of the unsafe methods must
// follow the contract in the head of this file.
unsafe impl Sync for RawTensor<'_> {}

impl<'a> RawTensor<'a> {
    /// A tensor at this address with this many bytes.
    ///
    /// # Safety
    /// `ptr` must be valid for reads (inputs) or reads and writes (outputs) of `len_bytes` bytes during `'a`, as the head
    /// of this file says. If the length is zero, any pointer is allowed.
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

    /// Size in bytes.
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
    /// No code may write this memory while the slice exists. In particular, no output that shares this memory may be in use.
    pub unsafe fn bytes(&self) -> &'a [u8] {
        if self.len_bytes == 0 {
            // The empty slice is made of words, so that it is aligned for every dtype.
            let empty: &'static [u64] = &[];
            return bytemuck::cast_slice(empty);
        }
        // SAFETY: `new` and the slice constructors require the range to be valid for reads during `'a`, and the caller
        // guarantees that no code writes it.
        unsafe { std::slice::from_raw_parts(self.ptr, self.len_bytes) }
    }

    /// The bytes, for writing.
    ///
    /// # Safety
    /// The tensor must be an output or the scratch memory of the running call, and no other slice of the same memory may
    /// exist.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn bytes_mut(&self) -> &'a mut [u8] {
        if self.len_bytes == 0 {
            let empty: &'static mut [u64] = &mut [];
            return bytemuck::cast_slice_mut(empty);
        }
        // SAFETY: the caller guarantees that this is an output or scratch memory, and that no other slice of it exists.
        // `new` and `from_mut_slice` require such memory to be valid for writes during `'a`.
        unsafe { std::slice::from_raw_parts_mut(self.ptr, self.len_bytes) }
    }
}

/// The arguments of one run of a kernel.
#[derive(Debug)]
pub struct KernelArgs<'a> {
    /// Inputs, including auxiliary states, in the layouts for which the kernel was planned.
    pub inputs: &'a [RawTensor<'a>],
    /// Outputs in the planned layouts.
    pub outputs: &'a [RawTensor<'a>],
    /// What to do with each output.
    pub reqs: &'a [WriteReq],
    /// Scratch memory of the planned size, 64-byte aligned, with unspecified content.
    pub scratch: RawTensor<'a>,
    /// The threads that the kernel may use for its loops.
    pub team: &'a Team,
    /// Random numbers of this call, for operators that [draw some](crate::OpDef::is_random).
    pub random: Option<RandomCall>,
    /// The stream of the device on which the kernel runs; `None` on the host. A kernel of a device enqueues its work on the
    /// stream and returns. The tensors and the scratch memory are then memory of that device, and stay valid until the
    /// work is done.
    pub stream: Option<&'a dyn DeviceStream>,
}

/// A kernel prepared for one call signature. It can run any number of times, also on several threads at the same time.
pub trait Kernel: Send + Sync {
    /// Name of the implementation, for profiles: `onednn:brgconv:avx512_core`.
    fn name(&self) -> &str;

    /// Whether the executor should let this kernel [add](WriteReq::Add) to output `output`, instead of letting the
    /// kernel write its result to other memory and adding that result in a separate step. Every kernel can add, but a
    /// kernel that would itself write to other memory first should return false. If this method returns true, the sum
    /// must have the same bits as with a separate step.
    fn adds(&self, output: usize) -> bool {
        let _ = output;
        false
    }

    /// The same kernel for an output with gaps between its images (the slices along the first axis), because the output is a
    /// part of a larger tensor. The kernel has one output, and each image begins `image_bytes` bytes after the beginning of
    /// the image before. Scratch memory, other tensors and the computed bits stay the same. The kernel neither reads nor
    /// writes between the images. Returns `None` if the kernel cannot do this.
    fn strided(self: Arc<Self>, image_bytes: usize) -> Option<Arc<dyn Kernel>> {
        let _ = image_bytes;
        None
    }

    /// The same kernel with an additional input at this position, after all others: a tensor with the shape, dtype and
    /// layout of the kernel's only output. The new kernel adds this tensor to its result. The output may have the
    /// memory of this input. The new kernel may round once instead of twice. Returns `None` if the new kernel would
    /// take as long as this kernel and a separate addition.
    fn fuse_add(self: Arc<Self>, position: usize) -> Option<Arc<dyn Kernel>> {
        let _ = position;
        None
    }

    /// Computes the outputs.
    ///
    /// # Safety
    /// The tensors and the scratch memory must be those of the call that the kernel was planned for: their sizes, layouts,
    /// alignment and overlaps must be as the head of this file says. Outputs, and inputs that the operator rewrites, must
    /// be writable.
    ///
    /// # Errors
    /// Returns the error of the vendor library or of the operator. Shapes and types were checked when the kernel was
    /// planned.
    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()>;
}
