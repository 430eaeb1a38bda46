//! ReLU: computes `max(x, 0)` and keeps NaN, over the raw elements of any layout.
//!
//! ReLU is elementwise and keeps zeros, so padding stays zero and the arrangement does not matter.

use super::loops::{MapLoop, Shared, in_ranges, wide};
use crate::accumulate::{self, Written};
use crate::cache::Prepared;
use crate::library::Library;
use half::{bf16, f16};
use mxrs_op::{Kernel, KernelArgs, OpCall};
use mxrs_types::{DType, Result};
use std::sync::Arc;

struct Relu {
    dtype: DType,
    n_elements: usize,
}

fn run_typed<T: Copy + Send + Sync>(args: &KernelArgs<'_>, n: usize, f: impl Fn(T) -> T + Sync) {
    let (input, output) = (Shared(args.inputs[0].as_ptr().cast::<T>()), Shared(args.outputs[0].as_ptr().cast::<T>()));
    in_ranges(args.team, n, 1, &|range| {
        // SAFETY: the range is within `n`, the size of both tensors, and `in_ranges` gives it to one thread. By the
        // contract of `RawTensor`, input and output are the same memory or do not overlap.
        wide(unsafe { MapLoop::new(input.at(range.start), output.at(range.start), range.len(), &f) });
    });
}

impl Kernel for Relu {
    fn name(&self) -> &str {
        "relu"
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let written = Written { output: 0, dtype: self.dtype, n_bytes: self.n_elements * self.dtype.size_of() };
        accumulate::run(args, &[written], |args| {
            match self.dtype {
                // Adding 0 changes no number, but lets the compiler vectorize the loop; see `map`.
                DType::F32 => run_typed::<f32>(args, self.n_elements, |x| if x < 0.0 { 0.0 } else { x + 0.0 }),
                DType::F16 => run_typed::<f16>(args, self.n_elements, |x| if x < f16::ZERO { f16::ZERO } else { x }),
                _ => run_typed::<bf16>(args, self.n_elements, |x| if x < bf16::ZERO { bf16::ZERO } else { x }),
            }
            Ok(())
        })
    }
}

/// Prepares the call.
pub fn prepare(_library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let desc = &call.inputs[0];
    Ok(Prepared {
        input_layouts: vec![desc.layout.clone()],
        output_layouts: vec![desc.layout.clone()],
        scratch_bytes: 0,
        can_run_inplace: true,
        kernel: Arc::new(Relu { dtype: desc.dtype, n_elements: desc.size_bytes() / desc.dtype.size_of() }),
    })
}
