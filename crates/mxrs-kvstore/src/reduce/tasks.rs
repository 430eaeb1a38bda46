//! The tasks that all ways of summing share: a copy, and a sum of dense arrays.

use super::buffers::{Buffers, Use};
use crate::sum::{Order, is_summed, sum_range};
use mxrs_engine::Property;
use mxrs_ndarray::NdArray;
use mxrs_trace::operator;
use mxrs_types::{Device, Result};

/// Copies an array to another of the same shape and type.
pub(crate) fn copy(from: &NdArray, to: &NdArray, priority: i32) -> Result<()> {
    if !from.device().is_host() || !to.device().is_host() || to.shares_storage(from) {
        return to.copy_with_priority(from, priority);
    }
    to.note_write()?;
    let n_bytes = to.size_bytes();
    let (source, target) = (from.detach(), to.detach());
    let task = to.engine().task("kvstore_copy").read(from.var()).write(to.var());
    task.device(to.device()).priority(priority).property(Property::Normal).push(move |_| {
        let _span = operator("CopyCPU2CPU", target.device());
        // SAFETY: this task holds the variable of `source` for reading and that of `target` for writing, so no other code
        // writes `source` or uses `target`. Both have `n_bytes` bytes of host memory, and they do not share storage.
        unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), target.as_ptr(), n_bytes) };
        Ok(())
    })
}

/// Copies an array to several others of the same shape and type. If all are in host memory, one task reads the array once.
pub(crate) fn copy_to_all(buffers: &Buffers, from: &NdArray, to: &[NdArray], priority: i32) -> Result<()> {
    // A sum of one array is a copy, whatever the order of additions is. The number and the slice are used only to find
    // buffers, which this sum does not need.
    let of = SumOf { number: 0, slice: 0, priority, order: Order::LeftToRight };
    if to.len() > 1 && is_summed(from.dtype()) && sum_to_all(buffers, of, to, std::slice::from_ref(from))? {
        return Ok(());
    }
    to.iter().try_for_each(|to| copy(from, to, priority))
}

/// Identifies a sum: the key and the slice, by which buffers are found, the priority of its tasks, and the order of
/// additions.
#[derive(Clone, Copy)]
pub(crate) struct SumOf {
    pub number: i64,
    pub slice: usize,
    pub priority: i32,
    pub order: Order,
}

/// Writes the sum of `inputs` to `out`. Arrays that the host cannot access are copied through host memory. `positions` are
/// the positions of the inputs' devices, by which buffers for these copies are found.
pub(crate) fn sum(
    buffers: &mut Buffers,
    of: SumOf,
    out: &NdArray,
    inputs: &[NdArray],
    positions: impl Iterator<Item = usize>,
) -> Result<()> {
    let mut staged = Vec::with_capacity(inputs.len());
    for (input, position) in inputs.iter().zip(positions) {
        staged.push(buffers.on_host(input, (of.number, of.slice, position), of.priority)?);
    }
    if out.device().is_host() {
        return sum_on_host(buffers, of, std::slice::from_ref(out), &staged);
    }
    let id = (Use::StagedSum, of.number, of.slice, 0);
    let (target, _) = buffers.get(id, out.shape(), out.dtype(), Device::cpu(0))?;
    sum_on_host(buffers, of, std::slice::from_ref(&target), &staged)?;
    copy(&target, out, of.priority)
}

/// Writes the sum of `inputs` to all of `outs` in one pass, if the arrays allow it: all are in host memory, and no output
/// overlaps another array except one at the same address. Returns whether the task was pushed.
pub(crate) fn sum_to_all(buffers: &Buffers, of: SumOf, outs: &[NdArray], inputs: &[NdArray]) -> Result<bool> {
    let overlaps = |a: &NdArray, b: &NdArray| a.shares_storage(b) && a.as_ptr() != b.as_ptr();
    let all = || outs.iter().chain(inputs);
    if !all().all(|array| array.device().is_host()) || outs.iter().any(|out| all().any(|other| overlaps(out, other))) {
        return Ok(false);
    }
    sum_on_host(buffers, of, outs, inputs)?;
    Ok(true)
}

fn sum_on_host(buffers: &Buffers, of: SumOf, outs: &[NdArray], inputs: &[NdArray]) -> Result<()> {
    let Some(first) = outs.first() else { return Ok(()) };
    outs.iter().try_for_each(NdArray::note_write)?;
    let (dtype, n_elements, order) = (first.dtype(), first.shape().n_elements(), of.order);
    let threads = buffers.threads.clone();
    let detach = |arrays: &[NdArray]| arrays.iter().map(NdArray::detach).collect::<Vec<_>>();
    let (written, read) = (detach(outs), detach(inputs));
    let name = if inputs.len() == 1 { "kvstore_copy" } else { "kvstore_sum" };
    let task = first.engine().task(name).reads(inputs.iter().map(NdArray::var));
    let task = task.writes(outs.iter().map(NdArray::var)).device(Device::cpu(0));
    task.priority(of.priority).property(Property::CpuPrioritized).push(move |_| {
        let _span = operator(if read.len() == 1 { "CopyCPU2CPU" } else { "KVStoreReduce" }, Device::cpu(0));
        let size = dtype.size_of();
        threads.run(n_elements, &|begin, end| {
            let at = |array: &NdArray| array.as_ptr().wrapping_add(begin * size);
            let inputs: Vec<*const u8> = read.iter().map(|array| at(array).cast_const()).collect();
            let outs: Vec<*mut u8> = written.iter().map(at).collect();
            // SAFETY: this task holds the variables of all inputs for reading and those of all outputs for writing. All are
            // in host memory and have `n_elements` elements of type `dtype`, which `check_dtype` accepted. Calls of this
            // function get ranges that do not overlap. Arrays that share storage with an output are at its address.
            unsafe { sum_range(dtype, order, &outs, &inputs, end - begin) };
        })
    })
}
