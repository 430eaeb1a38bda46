//! Sums of compressed values: each device encodes its value, and the sum is that of the decoded values.

use super::buffers::{Buffers, Use};
use super::{Job, copy};
use crate::Compression;
use mxrs_engine::Property;
use mxrs_ndarray::NdArray;
use mxrs_trace::operator;
use mxrs_types::{DType, Device, Result, Shape};

/// Number of elements that are decoded at a time. It is a multiple of the number of elements in 4 bytes of code, so that a
/// block begins with a whole byte.
const BLOCK: usize = 1024;

/// Compresses each value with the residual of its device, and writes the sum of what the codes mean to `out`.
pub(crate) fn sum_compressed(
    buffers: &mut Buffers,
    compression: Compression,
    job: &Job<'_>,
    out: &NdArray,
) -> Result<()> {
    let mut codes = Vec::with_capacity(job.values.len());
    for (position, value) in job.values.iter().enumerate() {
        codes.push(encode(buffers, compression, job, position, value)?);
    }
    let target = match out.device().is_host() {
        true => out.clone(),
        false => buffers.get((Use::StagedSum, job.number, 0, 0), out.shape(), out.dtype(), Device::cpu(0))?.0,
    };
    let threads = buffers.threads.clone();
    let (written, vars, n_elements) = (target.detach(), codes.clone(), out.shape().n_elements());
    let task = out.engine().task("kvstore_decode").reads(vars.iter().map(NdArray::var)).write(target.var());
    task.device(Device::cpu(0)).priority(job.priority).property(Property::CpuPrioritized).push(move |_| {
        let _span = operator("DequantizeCPU", Device::cpu(0));
        // The range of a thread begins at a multiple of a block, so that it begins with a whole byte of code.
        threads.run_units(n_elements.div_ceil(BLOCK), BLOCK, &|begin, end| {
            let mut value = [0.0f32; BLOCK];
            for first in (begin * BLOCK..(end * BLOCK).min(n_elements)).step_by(BLOCK) {
                let len = BLOCK.min(n_elements - first);
                // SAFETY: this task holds the variable of `written` for writing. It is host memory of `n_elements` float32
                // elements, and calls of this function get ranges that do not overlap.
                let sums = unsafe { std::slice::from_raw_parts_mut(written.as_ptr().cast::<f32>().add(first), len) };
                for (i, codes) in codes.iter().enumerate() {
                    let (skipped, n_bytes) = (first / compression.per_byte(), len.div_ceil(compression.per_byte()));
                    // SAFETY: this task holds the variable of `codes` for reading, and the codes of `first + len` elements
                    // are within `code_bytes(n_elements)`.
                    let code = unsafe { std::slice::from_raw_parts(codes.as_ptr().add(skipped), n_bytes) };
                    if i == 0 {
                        compression.decode(code, sums);
                    } else {
                        compression.decode(code, &mut value[..len]);
                        sums.iter_mut().zip(&value).for_each(|(sum, value)| *sum += value);
                    }
                }
            }
        })
    })?;
    if out.device().is_host() { Ok(()) } else { copy(&target, out, job.priority) }
}

/// Pushes the task that encodes one value together with the residual of its device (`position`). Returns the array of the
/// codes.
pub(crate) fn encode(
    buffers: &mut Buffers,
    compression: Compression,
    job: &Job<'_>,
    position: usize,
    value: &NdArray,
) -> Result<NdArray> {
    let n_elements = value.shape().n_elements();
    let host = Device::cpu(0);
    let value = buffers.on_host(value, (job.number, 0, position), job.priority)?.detach();
    let (residual, is_new) =
        buffers.get((Use::Residual, job.number, 0, position), &Shape::from([n_elements]), DType::F32, host)?;
    if is_new {
        // A separate task sets the residuals to zero, so that they are zero even if the computation of the first value
        // fails.
        residual.write_later(|bytes| {
            bytes.fill(0);
            Ok(())
        })?;
    }
    let code_shape = Shape::from([compression.code_bytes(n_elements)]);
    let (codes, _) = buffers.get((Use::Codes, job.number, 0, position), &code_shape, DType::U8, host)?;
    let (kept, made, read) = (residual.clone(), codes.clone(), value.clone());
    let task = codes.engine().task("kvstore_encode").read(read.var()).write(residual.var()).write(codes.var());
    task.device(value.device()).priority(job.priority).property(Property::CpuPrioritized).push(move |_| {
        let _span = operator("QuantizeCPU", host);
        // SAFETY: this task holds the variable of `value` for reading and those of `kept` and `made` for writing. All are
        // in host memory: `value` and `kept` with `n_elements` float32 elements, `made` with the bytes of their codes.
        let (gradient, residual, codes) = unsafe {
            (
                std::slice::from_raw_parts(value.as_ptr().cast::<f32>(), n_elements),
                std::slice::from_raw_parts_mut(kept.as_ptr().cast::<f32>(), n_elements),
                std::slice::from_raw_parts_mut(made.as_ptr(), made.size_bytes()),
            )
        };
        compression.encode(gradient, residual, codes);
        Ok(())
    })?;
    Ok(codes)
}
