//! The kernel of `RNN`.

use super::layers::{Layers, Memory};
use super::problem::Problem;
use crate::low_precision::requests::{Written, meet};
use mxrs_op::{Kernel, KernelArgs};
use mxrs_processor::Isa;
use mxrs_types::Result;

/// A planned call.
pub struct Forward {
    name: String,
    written: Vec<Written>,
    layers: Layers,
}

impl Forward {
    /// Prepares the kernel, which has the name `name` in traces.
    pub fn new(name: String, written: Vec<Written>, problem: Problem, isa: Isa) -> Self {
        Self { name, written, layers: Layers::new(problem, false, isa, 0) }
    }

    /// Bytes of scratch memory.
    pub fn scratch_bytes(&self) -> usize {
        self.layers.scratch_bytes()
    }
}

impl Kernel for Forward {
    fn name(&self) -> &str {
        &self.name
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        meet(args, &self.written, |args| {
            let p = &self.layers.p;
            let input = |i: usize| args.inputs[i].as_ptr().cast_const().cast::<f32>();
            let output = |i: usize| args.outputs[i].as_ptr().cast::<f32>();
            let visible = |i: usize| if i < p.n_visible { output(i) } else { std::ptr::null_mut() };
            let memory = Memory {
                data: input(0),
                parameters: input(1),
                first: [input(2), if p.is_lstm() { input(3) } else { std::ptr::null() }],
                out: output(0),
                last: [visible(1), visible(2)],
                scratch: args.scratch.as_ptr().cast(),
            };
            // SAFETY: the tensors and the scratch memory are those of the running call, which was planned for this problem.
            unsafe { self.layers.run(&memory, args.team) };
            if p.has_factors {
                // At inference nothing is dropped, so all factors are 1.
                // SAFETY: this is an output of the running call, and no other slice of its memory exists.
                let factors = unsafe { args.outputs[p.n_visible].bytes_mut() };
                bytemuck::cast_slice_mut::<u8, f32>(factors).fill(1.0);
            }
            Ok(())
        })
    }
}
