//! Tasks on row-sparse values.

use super::buffers::Buffers;
use super::copy;
use crate::sum::{RowUnion, copy_rows, sum_rows};
use crate::{RowSparse, Value};
use mxrs_engine::Property;
use mxrs_ndarray::NdArray;
use mxrs_trace::operator;
use mxrs_types::{Device, Result, Shape};
use std::sync::Arc;

/// Number of elements of one row of an array.
fn width(shape: &Shape) -> usize {
    shape[1..].iter().product()
}

/// An array of `n_rows` rows that are shaped like those of `shape`.
fn rows_shape(shape: &Shape, n_rows: usize) -> Shape {
    let mut shape = shape.clone();
    shape.dims_mut()[0] = n_rows;
    shape
}

/// The sum of several row-sparse values; one value is its own sum.
pub(crate) fn sum_row_sparse(
    buffers: &mut Buffers,
    number: i64,
    values: &[RowSparse],
    priority: i32,
) -> Result<RowSparse> {
    if let [value] = values {
        return Ok(value.clone());
    }
    let union = RowUnion::new(&values.iter().map(RowSparse::ids).collect::<Vec<_>>());
    let (dtype, shape) = (values[0].rows().dtype(), rows_shape(values[0].rows().shape(), union.ids.len()));
    let out = NdArray::empty(&buffers.context, shape, dtype, Device::cpu(0), "kvstore")?;
    let ids: Arc<[i64]> = union.ids.as_slice().into();
    let mut staged = Vec::with_capacity(values.len());
    for (position, value) in values.iter().enumerate() {
        staged.push(buffers.on_host(value.rows(), (number, 0, position), priority)?.detach());
    }
    let (written, vars, width, threads) = (out.clone(), staged.clone(), width(out.shape()), buffers.threads.clone());
    let task = out.engine().task("kvstore_sum_rows").reads(vars.iter().map(NdArray::var)).write(out.var());
    task.device(Device::cpu(0)).priority(priority).property(Property::CpuPrioritized).push(move |_| {
        let _span = operator("KVStoreReduce", Device::cpu(0));
        threads.run_units(union.ids.len(), width, &|begin, end| {
            let inputs: Vec<*const u8> = staged.iter().map(|rows| rows.as_ptr().cast_const()).collect();
            // SAFETY: this task holds the variables of all values for reading and that of `written`, a new array, for
            // writing. All are in host memory and have `width` elements of a summed type per row: `written` has the rows of
            // the union. Calls of this function get ranges of rows that do not overlap.
            unsafe { sum_rows(dtype, &union, written.as_ptr(), &inputs, width, (begin, end)) };
        })
    })?;
    RowSparse::new(ids, out)
}

/// Overwrites `stored` with the rows of a value, and all other rows with zeros.
pub(crate) fn assign_rows(value: &RowSparse, stored: &NdArray, buffers: &mut Buffers, priority: i32) -> Result<()> {
    let target = match stored.device().is_host() {
        true => stored.clone(),
        false => NdArray::empty(&buffers.context, stored.shape().clone(), stored.dtype(), Device::cpu(0), "kvstore")?,
    };
    let rows = buffers.on_host(value.rows(), (-1, 0, 0), priority)?.detach();
    let (ids, written, read) = (value.shared_ids(), target.detach(), rows.clone());
    let row_bytes = width(stored.shape()) * stored.dtype().size_of();
    let task = target.engine().task("kvstore_assign_rows").read(read.var()).write(target.var());
    task.device(target.device()).priority(priority).property(Property::CpuPrioritized).push(move |_| {
        let _span = operator("CopyCPU2CPU", Device::cpu(0));
        // SAFETY: this task holds the variable of `rows` for reading and that of `written` for writing, and both are in
        // host memory. The numbers in `ids` are below the number of rows of `written`, and `rows` has one row for each.
        unsafe {
            std::ptr::write_bytes(written.as_ptr(), 0, written.size_bytes());
            copy_rows(rows.as_ptr().cast_const(), written.as_ptr(), &ids, row_bytes, true);
        }
        Ok(())
    })?;
    if stored.device().is_host() { Ok(()) } else { copy(&target, stored, priority) }
}

/// Copies the rows `ids`, which ascend and are in range, to a new array on each device.
pub(crate) fn gather_rows(
    stored: &NdArray,
    ids: &Arc<[i64]>,
    devices: &[Device],
    buffers: &mut Buffers,
    number: i64,
    priority: i32,
) -> Result<Vec<RowSparse>> {
    let host = buffers.on_host(stored, (number, 0, 0), priority)?.detach();
    let shape = rows_shape(stored.shape(), ids.len());
    let first = devices.first().copied().filter(|device| device.is_host()).unwrap_or(Device::cpu(0));
    let gathered = NdArray::empty(&buffers.context, shape.clone(), stored.dtype(), first, "kvstore")?;
    let row_bytes = width(stored.shape()) * stored.dtype().size_of();
    let (read, written, wanted) = (host.clone(), gathered.clone(), ids.clone());
    let task = gathered.engine().task("kvstore_gather_rows").read(read.var()).write(gathered.var());
    task.device(first).priority(priority).property(Property::Normal).push(move |_| {
        let _span = operator("KVStoreSparseRetain", Device::cpu(0));
        // SAFETY: this task holds the variable of `host` for reading and that of `written`, a new array, for writing, and
        // both are in host memory. The numbers in `wanted` are below the number of rows of `host`.
        unsafe { copy_rows(host.as_ptr().cast_const(), written.as_ptr(), &wanted, row_bytes, false) };
        Ok(())
    })?;
    let mut all = Vec::with_capacity(devices.len());
    for (i, &device) in devices.iter().enumerate() {
        let rows = if i == 0 && device == first {
            gathered.clone()
        } else {
            let rows = NdArray::empty(&buffers.context, shape.clone(), stored.dtype(), device, "kvstore")?;
            copy(&gathered, &rows, priority)?;
            rows
        };
        all.push(RowSparse::new(ids.clone(), rows)?);
    }
    Ok(all)
}

/// Access to the row-sparse case of a value.
impl Value {
    /// The row-sparse value, if it is one.
    pub fn as_row_sparse(&self) -> Option<&RowSparse> {
        match self {
            Self::RowSparse(rows) => Some(rows),
            Self::Dense(_) => None,
        }
    }
}
