//! The tasks that all ways of summing share: a copy, and a sum of dense arrays.

use super::buffers::{Buffers, Use};
use crate::sum::{Order, sum_range};
use mxrs_engine::Property;
use mxrs_ndarray::NdArray;
use mxrs_types::{Device, Result};

/// Copies an array to another of the same shape and type.
pub(crate) fn copy(from: &NdArray, to: &NdArray, priority: i32) -> Result<()> {
    if !from.device().is_host() || !to.device().is_host() || to.shares_storage(from) {
        return to.copy_from_array(from);
    }
    to.note_write()?;
    let n_bytes = to.size_bytes();
    let (source, target) = (from.detach(), to.detach());
    let task = to.engine().task("kvstore_copy").read(from.var()).write(to.var());
    task.device(to.device()).priority(priority).property(Property::Normal).push(move |_| {
        // SAFETY: this task holds the variable of `source` for reading and that of `target` for writing, so no other code
        // writes `source` or uses `target`. Both have `n_bytes` bytes of host memory, and they do not share storage.
        unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), target.as_ptr(), n_bytes) };
        Ok(())
    })
}

/// What is summed, for the buffers of a sum.
#[derive(Clone, Copy)]
pub(crate) struct SumOf {
    pub number: i64,
    pub slice: usize,
    pub priority: i32,
    pub order: Order,
}

/// Writes the sum of `inputs` to `out`. Arrays that the host cannot access are copied through host memory. `positions` are
/// the positions of the inputs' devices.
pub(crate) fn sum(
    buffers: &mut Buffers,
    of: SumOf,
    out: &NdArray,
    inputs: &[NdArray],
    positions: impl Iterator<Item = usize>,
) -> Result<()> {
    let SumOf { number, slice, priority, order } = of;
    let mut staged = Vec::with_capacity(inputs.len());
    for (input, position) in inputs.iter().zip(positions) {
        staged.push(buffers.on_host(input, number, slice, position)?.detach());
    }
    let target = match out.device().is_host() {
        true => out.clone(),
        false => buffers.get((Use::StagedSum, number, slice, 0), out.shape(), out.dtype(), Device::cpu(0))?.0,
    };
    let (dtype, n_elements) = (out.dtype(), out.shape().n_elements());
    let threads = buffers.threads.clone();
    let (written, vars) = (target.detach(), staged.clone());
    let task = out.engine().task("kvstore_sum").reads(vars.iter().map(NdArray::var)).write(target.var());
    task.device(Device::cpu(0)).priority(priority).property(Property::CpuPrioritized).push(move |_| {
        let size = dtype.size_of();
        threads.run(n_elements, &|begin, end| {
            let at = |array: &NdArray| array.as_ptr().wrapping_add(begin * size);
            let inputs: Vec<*const u8> = staged.iter().map(|array| at(array).cast_const()).collect();
            // SAFETY: this task holds the variables of all inputs for reading and that of `written` for writing. All are
            // in host memory and have `n_elements` elements of type `dtype`, which `check_dtype` accepted. Calls of this
            // function get ranges that do not overlap. An input that shares storage with `written` is all of it.
            unsafe { sum_range(dtype, order, at(&written), &inputs, end - begin) };
        })
    })?;
    if out.device().is_host() { Ok(()) } else { out.copy_from_array(&target) }
}
