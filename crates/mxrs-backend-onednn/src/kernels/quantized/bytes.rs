//! ReLU and flattening of quantized tensors: loops over bytes. The ranges of the inputs become the ranges of the
//! output.

use super::{layouts, ranges, write_ranges, written_ranges};
use crate::accumulate::{self, Written};
use crate::cache::Prepared;
use crate::kernels::loops::{MapLoop, Shared, in_ranges, wide};
use crate::library::Library;
use mxrs_op::{Kernel, KernelArgs, OpCall};
use mxrs_types::{DType, Layout, Result};
use std::sync::Arc;

struct Bytes {
    /// Whether negative numbers become 0.
    is_relu: bool,
    n_bytes: usize,
    written: Vec<Written>,
}

impl Kernel for Bytes {
    fn name(&self) -> &str {
        if self.is_relu { "relu of bytes" } else { "copy of bytes" }
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        accumulate::run(args, &self.written, |args| {
            let (from, to) = (Shared(args.inputs[0].as_ptr()), Shared(args.outputs[0].as_ptr()));
            let is_relu = self.is_relu;
            in_ranges(args.team, self.n_bytes, 1, &|part| {
                let (from, to) = (from.at(part.start), to.at(part.start));
                let n = part.len();
                // SAFETY: both tensors have the planned layout, which takes `n_bytes` bytes. By the contract of
                // `RawTensor` they are the same memory or do not overlap. `in_ranges` gives each thread its own range
                // of `0..n_bytes`.
                unsafe {
                    match is_relu {
                        true => wide(MapLoop::new(from.cast::<i8>(), to.cast::<i8>(), n, &|x| x.max(0))),
                        false => wide(MapLoop::new(from, to, n, &|x| x)),
                    }
                }
            });
            let all: Vec<_> = ranges(args, 1).collect();
            write_ranges(args, all.into_iter());
            Ok(())
        })
    }
}

fn prepare(call: &OpCall<'_>, is_relu: bool, layout: Layout) -> Result<Prepared> {
    let desc = call.inputs[0].with_layout(layout.clone());
    let n_bytes = desc.size_bytes();
    let mut written = written_ranges(call.outputs);
    written.push(Written { output: 0, dtype: desc.dtype, n_bytes });
    Ok(Prepared {
        input_layouts: layouts(layout.clone(), call.inputs.len()),
        output_layouts: layouts(layout, call.outputs.len()),
        scratch_bytes: 0,
        can_run_inplace: true,
        kernel: Arc::new(Bytes { is_relu, n_bytes, written }),
    })
}

/// Prepares a `_contrib_quantized_act`.
pub fn prepare_relu(_: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    prepare(call, call.inputs[0].dtype == DType::I8, call.inputs[0].layout.clone())
}

/// Prepares a `_contrib_quantized_flatten`.
pub fn prepare_flatten(_: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    prepare(call, false, Layout::RowMajor)
}
