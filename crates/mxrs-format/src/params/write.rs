//! Writing of parameter lists in the format of MXNet 1.9.1.

use super::{LIST_MAGIC, V2, V3};
use crate::byte_order::write_little;
use crate::{ArrayFile, Arrays, Tensor, fault};
use mxrs_types::{DType, Error, FormatErrorKind, Result, Shape, StorageType};
use std::io::Write;

/// Writes a list: dense arrays as V2, or all as V3 if the file has NumPy shape semantics or a scalar.
///
/// # Errors
/// Returns `Overflow` if the size of an axis is too large for its field in the file, and I/O errors.
pub fn write_list<W: Write + ?Sized>(sink: &mut W, file: &ArrayFile) -> Result<()> {
    let words = [LIST_MAGIC, 0, file.arrays.len() as u64];
    put(sink, &words.map(u64::to_le_bytes).concat())?;
    // A process of MXNet reads either V2 or V3, so all dense arrays of a file get the same version.
    let np_shape = file.np_shape || file.arrays.iter().any(|(_, tensor)| is_scalar(tensor));
    for (_, tensor) in file.arrays.iter() {
        write_array(sink, tensor, np_shape)?;
    }
    match &file.arrays {
        Arrays::Unnamed(_) => put(sink, &0u64.to_le_bytes()),
        Arrays::Named(map) => {
            put(sink, &(map.len() as u64).to_le_bytes())?;
            for name in map.keys() {
                put(sink, &(name.len() as u64).to_le_bytes())?;
                put(sink, name.as_bytes())?;
            }
            Ok(())
        }
    }
}

/// Writes one array record: V3 for dense arrays with `np_shape` and for scalars, else V2.
///
/// # Errors
/// Returns the errors of [`write_list`].
pub fn write_array<W: Write + ?Sized>(sink: &mut W, tensor: &Tensor, np_shape: bool) -> Result<()> {
    let stype = tensor.storage_type();
    let v3 = stype == StorageType::Dense && (np_shape || is_scalar(tensor));
    put(sink, &(if v3 { V3 } else { V2 }).to_le_bytes())?;
    put(sink, &stype.code().to_le_bytes())?;
    match tensor {
        Tensor::None => {
            let ndim: i32 = if v3 { -1 } else { 0 };
            put(sink, &ndim.to_le_bytes())
        }
        Tensor::Dense(dense) => {
            put_shape(sink, dense.shape())?;
            put_device_and_dtype(sink, dense.dtype())?;
            put_elements(sink, dense.dtype(), dense.bytes())
        }
        Tensor::RowSparse(array) => {
            put_shape(sink, &array.storage_shape())?;
            put_shape(sink, array.shape())?;
            put_device_and_dtype(sink, array.dtype())?;
            put_aux_header(sink, array.indices())?;
            put_elements(sink, array.dtype(), array.bytes())?;
            put_elements(sink, DType::I64, bytemuck::cast_slice(array.indices()))
        }
        Tensor::Csr(array) => {
            put_shape(sink, &[array.storage_len()].into())?;
            put_shape(sink, array.shape())?;
            put_device_and_dtype(sink, array.dtype())?;
            put_aux_header(sink, array.indptr())?;
            put_aux_header(sink, array.indices())?;
            put_elements(sink, array.dtype(), array.bytes())?;
            put_elements(sink, DType::I64, bytemuck::cast_slice(array.indptr()))?;
            put_elements(sink, DType::I64, bytemuck::cast_slice(array.indices()))
        }
    }
}

/// Whether the array is a scalar. V2 has no scalars: a shape without axes means a "none" array.
fn is_scalar(tensor: &Tensor) -> bool {
    tensor.shape().is_some_and(|shape| shape.ndim() == 0)
}

fn put<W: Write + ?Sized>(sink: &mut W, bytes: &[u8]) -> Result<()> {
    sink.write_all(bytes).map_err(|e| fault::io(&e))
}

fn put_elements<W: Write + ?Sized>(sink: &mut W, dtype: DType, bytes: &[u8]) -> Result<()> {
    write_little(sink, bytes, dtype.size_of()).map_err(|e| fault::io(&e))
}

fn put_shape<W: Write + ?Sized>(sink: &mut W, shape: &Shape) -> Result<()> {
    let too_large =
        || -> Error { fault::whole(FormatErrorKind::Overflow, format!("shape {shape} in a parameter list")) };
    let ndim = i32::try_from(shape.ndim()).map_err(|_| too_large())?;
    put(sink, &ndim.to_le_bytes())?;
    for &size in shape.iter() {
        put(sink, &i64::try_from(size).map_err(|_| too_large())?.to_le_bytes())?;
    }
    Ok(())
}

/// Writes the device `cpu(0)`, regardless of the array's device, and the element type.
fn put_device_and_dtype<W: Write + ?Sized>(sink: &mut W, dtype: DType) -> Result<()> {
    put(sink, &[1, 0, dtype.flag()].map(i32::to_le_bytes).concat())
}

fn put_aux_header<W: Write + ?Sized>(sink: &mut W, numbers: &[i64]) -> Result<()> {
    put(sink, &DType::I64.flag().to_le_bytes())?;
    put_shape(sink, &[numbers.len()].into())
}
