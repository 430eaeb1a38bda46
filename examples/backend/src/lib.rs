//! A backend from outside mxrs, with one kernel: `relu` of float32, vectorized by the compiler and shared by the team.
//!
//! `Runtime::builder().backend(Arc::new(FastRelu::new(2, 0.9)))` adds it to a runtime. It then runs every `relu` for which no
//! other backend offers fewer seconds.
#![allow(unsafe_code)]
// Threads of the team write parts of one tensor, and the output may be in the memory of the input: slices cannot say that.

use mxrs::op::{Answer, Backend, Kernel, KernelArgs, Offer, OpCall, PlannedKernel, Speed, TensorDesc};
use mxrs::types::{DType, Layout, Result, WriteReq};
use std::sync::Arc;

/// The backend.
pub struct FastRelu {
    speed: Speed,
    times_library: f64,
}

impl FastRelu {
    /// For a team of `n_threads` threads. A call takes `times_library` times as long as in a well-tuned library: a figure to
    /// be measured, on which depends whether the kernel is chosen.
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

/// Elements of a part that one thread works on.
const PART: usize = 1 << 14;

/// A tensor that threads share: each uses elements of its own.
struct Elements(*mut f32);
// SAFETY: `run` gives every element to one thread.
unsafe impl Sync for Elements {}

impl Kernel for Relu {
    fn name(&self) -> &str {
        "fast-relu"
    }

    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let req = args.reqs[0];
        if req == WriteReq::Null {
            return Ok(());
        }
        let (from, to) = (Elements(args.inputs[0].as_ptr().cast()), Elements(args.outputs[0].as_ptr().cast()));
        let (from, to) = (&from, &to);
        args.team.run(self.n_elements.div_ceil(PART), &|part| {
            for i in part * PART..((part + 1) * PART).min(self.n_elements) {
                // SAFETY: both tensors have `n_elements` aligned elements, as the contract of kernels says, and parts do not
                // overlap. In place, element `i` is read before it is written.
                unsafe {
                    let x = *from.0.add(i);
                    // NaN is not below 0 and stays.
                    let y = if x < 0.0 { 0.0 } else { x };
                    *to.0.add(i) = if req == WriteReq::Add { *to.0.add(i) + y } else { y };
                }
            }
        });
        Ok(())
    }
}
