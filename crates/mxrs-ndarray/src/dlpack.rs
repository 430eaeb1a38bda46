//! The structures of DLPack, by which libraries lend one another tensors, and the owner of a lent tensor.
//!
//! The layout is that of `DLManagedTensor` of `dlpack.h`, whose field order has not changed since version 0.2; version 1
//! calls it the unversioned form. A lender fills in the structure and a function that ends the loan, the *deleter*. The
//! borrower calls the deleter exactly once.
//!
//! `array/dlpack.rs` lends and borrows arrays.

use mxrs_types::{DType, Error, Result};
use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;

/// Where a tensor is: `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DlDevice {
    /// The kind of memory: 1 for host memory, 2 for CUDA memory, 3 for host memory that CUDA has pinned.
    pub device_type: i32,
    /// The number among devices of this kind.
    pub device_id: i32,
}

impl DlDevice {
    /// The code of host memory.
    pub const CPU: i32 = 1;
    /// The code of host memory that CUDA has pinned.
    pub const CUDA_HOST: i32 = 3;
}

/// The type of an element: `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DlDataType {
    /// 0 for signed integers, 1 for unsigned ones, 2 for IEEE floats, 4 for bfloat, 6 for booleans.
    pub code: u8,
    /// The number of bits.
    pub bits: u8,
    /// The number of lanes of a vector; 1 for a plain element.
    pub lanes: u16,
}

impl From<DType> for DlDataType {
    fn from(dtype: DType) -> Self {
        let code = match dtype {
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => 0,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => 1,
            DType::F16 | DType::F32 | DType::F64 => 2,
            DType::BF16 => 4,
            DType::Bool => 6,
        };
        Self { code, bits: (8 * dtype.size_of()) as u8, lanes: 1 }
    }
}

impl TryFrom<DlDataType> for DType {
    type Error = Error;

    /// # Errors
    /// Fails for a type that arrays do not have: vectors, complex numbers, and widths without a [`DType`].
    fn try_from(given: DlDataType) -> Result<Self> {
        Self::ALL.into_iter().find(|dtype| DlDataType::from(*dtype) == given).ok_or_else(|| {
            let DlDataType { code, bits, lanes } = given;
            let known: Vec<String> = Self::ALL.iter().map(ToString::to_string).collect();
            Error::invalid("DLPack type", format!("code {code}, {bits} bits, {lanes} lanes"), known.join(", "))
        })
    }
}

/// A tensor: `DLTensor`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DlTensor {
    /// The memory; the first element is `byte_offset` bytes after it.
    pub data: *mut c_void,
    /// Where the memory is.
    pub device: DlDevice,
    /// The number of axes.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DlDataType,
    /// The sizes of the axes: `ndim` numbers.
    pub shape: *mut i64,
    /// The distance of neighbors along each axis, in elements: `ndim` numbers, or null for row-major order.
    pub strides: *mut i64,
    /// The offset of the first element, in bytes.
    pub byte_offset: u64,
}

/// A lent tensor: `DLManagedTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct DlManagedTensor {
    /// The tensor.
    pub dl_tensor: DlTensor,
    /// A value of the lender's.
    pub manager_ctx: *mut c_void,
    /// Ends the loan; null if there is nothing to end.
    pub deleter: Option<unsafe extern "C" fn(*mut DlManagedTensor)>,
}

/// A lent tensor. Dropping it ends the loan.
pub struct Dlpack(NonNull<DlManagedTensor>);

// SAFETY: DLPack allows a borrower to use a tensor and to call its deleter on any thread, and `from_raw` requires it.
unsafe impl Send for Dlpack {}
// SAFETY: a shared reference allows reading the structure, which does not change during the loan.
unsafe impl Sync for Dlpack {}

impl Dlpack {
    /// Takes over a lent tensor, such as the pointer in a Python capsule named `dltensor`.
    ///
    /// # Safety
    /// `tensor` points to a filled-in structure that no other code borrows. Its shape, and its strides unless they are null,
    /// have `ndim` numbers. Structure and memory stay as they are until the deleter is called, which may happen on any
    /// thread.
    pub unsafe fn from_raw(tensor: NonNull<DlManagedTensor>) -> Self {
        Self(tensor)
    }

    /// Hands the tensor over to another library, which has to call its deleter.
    pub fn into_raw(self) -> NonNull<DlManagedTensor> {
        let tensor = self.0;
        std::mem::forget(self);
        tensor
    }

    /// The description of the tensor.
    pub fn tensor(&self) -> &DlTensor {
        // SAFETY: the structure is valid until the deleter is called, which `drop` does.
        unsafe { &self.0.as_ref().dl_tensor }
    }

    /// The sizes of the axes.
    pub fn shape(&self) -> &[i64] {
        // SAFETY: `shape` has `ndim` numbers, as `from_raw` requires.
        unsafe { self.numbers(self.tensor().shape) }.unwrap_or(&[])
    }

    /// The distance of neighbors along each axis, in elements; `None` for row-major order.
    pub fn strides(&self) -> Option<&[i64]> {
        // SAFETY: `strides` is null or has `ndim` numbers, as `from_raw` requires.
        unsafe { self.numbers(self.tensor().strides) }
    }

    /// # Safety
    /// `start` is null or points to `ndim` numbers.
    unsafe fn numbers(&self, start: *mut i64) -> Option<&[i64]> {
        let n = usize::try_from(self.tensor().ndim).ok().filter(|_| !start.is_null())?;
        // SAFETY: promised by the caller; the numbers live as long as the structure.
        Some(unsafe { std::slice::from_raw_parts(start, n) })
    }
}

impl Drop for Dlpack {
    fn drop(&mut self) {
        // SAFETY: this value has the duty to end the loan, and it is dropped once. `into_raw` forgets it.
        unsafe {
            if let Some(deleter) = self.0.as_ref().deleter {
                deleter(self.0.as_ptr());
            }
        }
    }
}

impl fmt::Debug for Dlpack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dlpack").field("tensor", self.tensor()).field("shape", &self.shape()).finish()
    }
}
