//! A backend from outside mxrs with one kernel: `relu` of float32, vectorized by the compiler and run by the threads of the
//! team.
//!
//! `Runtime::builder().backend(Arc::new(FastRelu::new(2, 0.9)))` adds the backend to a runtime. It then runs every `relu`
//! for which no other backend offers a shorter time.
#![allow(unsafe_code)]
// Unsafe code is needed because the threads of the team write parts of one tensor, and the output may share the memory of
// the input; slices cannot express that.

use mxrs::op::{Answer, Backend, Kernel, KernelArgs, Offer, OpCall, PlannedKernel, Speed, TensorDesc};
use mxrs::types::{DType, Layout, Result, WriteReq};
use std::sync::Arc;

/// A backend with a kernel for `relu`.
pub struct FastRelu {
    speed: Speed,
    times_library: f64,
}

impl FastRelu {
    /// A backend for a team of `n_threads` threads. A call is estimated to take `times_library` times as long as in a
    /// well-tuned library. This factor should be measured; it decides whether the kernel is chosen.
    pub fn new(n_threads: usize, times_library: f64) -> Self {
        Self { speed: Speed::here(n_threads), times_library }
    }
}

impl Backend for FastRelu {
    fn name(&self) -> &'static str {
        "fast-relu"
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        if call.op.name != "relu" {
            return Err(format!("no kernel for {}", call.op.name));
        }
        if call.inputs[0].dtype != DType::F32 {
            return Err(format!("{} numbers", call.inputs[0].dtype));
        }
        let n_elements = call.inputs[0].shape.n_elements();
        let seconds = self.speed.times_library(call, self.times_library);
        let planned = move || PlannedKernel {
            input_layouts: vec![Layout::RowMajor],
            output_layouts: vec![Layout::RowMajor],
            scratch_bytes: 0,
            can_run_inplace: true,
            kernel: Arc::new(Relu { n_elements }),
        };
        Ok(Offer::new(seconds, move || Ok(planned())))
    }

    fn reorder(&self, _: &TensorDesc, _: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok(None)
    }
}

struct Relu {
    n_elements: usize,
}

/// Number of elements that one thread processes at a time.
const PART: usize = 1 << 14;

/// The elements of a tensor that several threads access, each thread its own elements.
struct Elements(*mut f32);
// SAFETY: `run` divides the elements into parts that do not overlap, and each part is processed by one thread, so no two
// threads access the same element.
unsafe impl Sync for Elements {}

impl Kernel for Relu {
    fn name(&self) -> &str {
        "fast-relu"
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let req = args.reqs[0];
        if req == WriteReq::Null {
            return Ok(());
        }
        let (from, to) = (Elements(args.inputs[0].as_ptr().cast()), Elements(args.outputs[0].as_ptr().cast()));
        let (from, to) = (&from, &to);
        args.team.run(self.n_elements.div_ceil(PART), &|part| {
            for i in part * PART..((part + 1) * PART).min(self.n_elements) {
                // SAFETY: `i < n_elements` by the loop. The caller of `run` guarantees that both tensors are those of the
                // planned call: they have `n_elements` aligned float32 elements in row-major order. Parts do not overlap. In
                // place, element `i` is read before it is written.
                unsafe {
                    let x = *from.0.add(i);
                    // NaN is not below 0, so it is kept.
                    let y = if x < 0.0 { 0.0 } else { x };
                    *to.0.add(i) = if req == WriteReq::Add { *to.0.add(i) + y } else { y };
                }
            }
        });
        Ok(())
    }
}
