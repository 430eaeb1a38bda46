//! Lending arrays to other libraries and borrowing their tensors, by DLPack.

use super::NdArray;
use crate::dlpack::{DlDevice, DlManagedTensor, DlTensor, Dlpack};
use crate::{ArrayContext, ArrayMemory};
use mxrs_types::{DType, DeviceKind, Error, Result, Shape};
use std::ptr::{NonNull, null_mut};

/// A lent array, with the structure that the borrower gets and the numbers that the structure points to.
struct Lent {
    _array: NdArray,
    shape: Vec<i64>,
    strides: Vec<i64>,
    tensor: DlManagedTensor,
}

/// Ends the loan of an array.
///
/// # Safety
/// `tensor` came from [`NdArray::to_dlpack_for_read`] or [`NdArray::to_dlpack_for_write`], and this is called once.
unsafe extern "C" fn end_loan(tensor: *mut DlManagedTensor) {
    // SAFETY: `lend` stored the address of the box in `manager_ctx`. No other code frees the box.
    drop(unsafe { Box::from_raw((*tensor).manager_ctx.cast::<Lent>()) });
}

impl NdArray {
    /// Lends the array to a library that reads it, after pending writes. The library must not write it, and this program
    /// must not write it before the loan has ended.
    ///
    /// # Errors
    /// Returns the deferred error of a failed writer. Fails for an array that the host cannot access.
    pub fn to_dlpack_for_read(&self) -> Result<Dlpack> {
        self.check_lendable()?;
        self.wait_to_read()?;
        Ok(self.lend())
    }

    /// Lends the array to a library that reads and writes it, after all pending uses. This program must not use it before
    /// the loan has ended.
    ///
    /// # Errors
    /// Returns the errors of [`Self::to_dlpack_for_read`], and the error with which a [recorder](crate::Recorded) refuses
    /// the write.
    #[track_caller]
    pub fn to_dlpack_for_write(&self) -> Result<Dlpack> {
        self.check_lendable()?;
        self.note_write()?;
        self.engine().wait_to_write(self.var())?;
        Ok(self.lend())
    }

    fn check_lendable(&self) -> Result<()> {
        if self.home().is_none() {
            return Ok(());
        }
        let got = format!("an array on {}", self.device());
        Err(Error::invalid("array for DLPack", got, "an array in host memory; copy it to cpu(0) first"))
    }

    fn lend(&self) -> Dlpack {
        let as_i64 = |n: &usize| i64::try_from(*n).unwrap_or(i64::MAX);
        let is_pinned = self.device().kind == DeviceKind::CpuPinned;
        let device_type = if is_pinned { DlDevice::CUDA_HOST } else { DlDevice::CPU };
        let device_id = i32::try_from(self.device().id).unwrap_or(0);
        let mut lent = Box::new(Lent {
            shape: self.shape().iter().map(as_i64).collect(),
            strides: self.shape().strides().iter().map(as_i64).collect(),
            tensor: DlManagedTensor {
                dl_tensor: DlTensor {
                    data: self.as_ptr().cast(),
                    device: DlDevice { device_type, device_id: if is_pinned { device_id } else { 0 } },
                    ndim: i32::try_from(self.shape().ndim()).unwrap_or(i32::MAX),
                    dtype: self.dtype().into(),
                    shape: null_mut(),
                    strides: null_mut(),
                    byte_offset: 0,
                },
                manager_ctx: null_mut(),
                deleter: Some(end_loan),
            },
            _array: self.detach(),
        });
        lent.tensor.dl_tensor.shape = lent.shape.as_mut_ptr();
        lent.tensor.dl_tensor.strides = lent.strides.as_mut_ptr();
        let lent = Box::into_raw(lent);
        // SAFETY: `lent` came from a box, so it is valid and not null. Its structure is filled in; shape and strides have
        // `ndim` numbers, and they live in the box until `end_loan`, which may run on any thread because arrays are `Send`.
        unsafe {
            (*lent).tensor.manager_ctx = lent.cast();
            Dlpack::from_raw(NonNull::new_unchecked(&raw mut (*lent).tensor))
        }
    }

    /// Makes an array over a borrowed tensor, without copying. The loan ends when the last array over it is gone and its
    /// tasks are done, or before this function returns an error.
    ///
    /// # Errors
    /// Fails for a tensor that is not in host memory, has an element type that arrays do not have, is not in row-major order
    /// without gaps, or is not aligned to its elements. [`Self::copy_of_dlpack`] copies tensors in any order.
    ///
    /// # Safety
    /// The memory has the elements that the structure describes, initialized. Until the loan ends, other code uses them only
    /// as [`Self::from_foreign`] allows.
    pub unsafe fn from_dlpack(context: &ArrayContext, tensor: Dlpack) -> Result<Self> {
        let (shape, dtype) = describe(&tensor)?;
        if !is_compact(&shape, tensor.strides()) {
            let got = format!("strides {:?} of the shape {shape}", tensor.strides().unwrap_or(&[]));
            let expected = format!("{:?}, or a copy of the tensor", shape.strides());
            return Err(Error::invalid("DLPack tensor", got, expected));
        }
        let start = first_byte(&tensor);
        let n_bytes = shape.checked_size_bytes(dtype)?;
        // SAFETY: promised by the caller. The closure owns the tensor, so the loan lasts until it is called.
        unsafe { Self::from_foreign(context, shape, dtype, start, n_bytes, move || drop(tensor)) }
    }

    /// Makes an array in CPU memory with the elements of a tensor, which may be in any order.
    ///
    /// # Errors
    /// Fails for a tensor that is not in host memory or has an element type that arrays do not have, and if memory is short.
    ///
    /// # Safety
    /// The memory has the elements that the structure describes, initialized, and no other code writes them meanwhile.
    pub unsafe fn copy_of_dlpack(context: &ArrayContext, tensor: &Dlpack) -> Result<Self> {
        let (shape, dtype) = describe(tensor)?;
        let row_major: Vec<i64> = shape.strides().iter().map(|&n| n as i64).collect();
        let strides = tensor.strides().unwrap_or(&row_major);
        let (size, start) = (dtype.size_of(), first_byte(tensor).cast_const());
        let mut memory = ArrayMemory::new(context, shape.checked_size_bytes(dtype)?)?;
        let mut index = vec![0usize; shape.ndim()];
        for element in memory.bytes_mut().chunks_exact_mut(size) {
            let offset: i64 = index.iter().zip(strides).map(|(&at, &stride)| at as i64 * stride).sum();
            // SAFETY: every index is below the size of its axis, so the element is one that the structure describes. Bytes
            // need no alignment.
            let from = unsafe { std::slice::from_raw_parts(start.offset(offset as isize * size as isize), size) };
            element.copy_from_slice(from);
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                if index[axis] < shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        Self::from_memory(context, shape, dtype, memory)
    }
}

/// Shape and element type of a tensor in host memory.
fn describe(tensor: &Dlpack) -> Result<(Shape, DType)> {
    let DlTensor { device, ndim, dtype, shape, .. } = *tensor.tensor();
    if ![DlDevice::CPU, DlDevice::CUDA_HOST].contains(&device.device_type) {
        let got = format!("device type {}, id {}", device.device_type, device.device_id);
        return Err(Error::invalid("DLPack device", got, "host memory: device type 1 or 3"));
    }
    if ndim < 0 || (ndim > 0 && shape.is_null()) {
        return Err(Error::invalid(
            "DLPack tensor",
            format!("{ndim} axes at {shape:p}"),
            "a shape for each of its axes",
        ));
    }
    let axis = |&n: &i64| {
        usize::try_from(n)
            .map_err(|_| Error::invalid("DLPack shape", format!("{:?}", tensor.shape()), "sizes of 0 or more"))
    };
    let shape: Shape = tensor.shape().iter().map(axis).collect::<Result<_>>()?;
    let dtype = DType::try_from(dtype)?;
    shape.checked_size_bytes(dtype)?;
    Ok((shape, dtype))
}

fn first_byte(tensor: &Dlpack) -> *mut u8 {
    let DlTensor { data, byte_offset, .. } = *tensor.tensor();
    data.cast::<u8>().wrapping_add(byte_offset as usize)
}

/// Whether the elements are in row-major order without gaps. The stride of an axis of size 1 has no effect, and neither has
/// any stride of a tensor without elements.
fn is_compact(shape: &Shape, strides: Option<&[i64]>) -> bool {
    let Some(strides) = strides else { return true };
    let wanted = shape.strides();
    let fits = |axis: usize| shape[axis] == 1 || usize::try_from(strides[axis]) == Ok(wanted[axis]);
    shape.n_elements() == 0 || (0..shape.ndim()).all(fits)
}
