//! 16-bit floats for kernels that compute in `f32`: the inputs are widened to scratch memory, and the results are rounded
//! from there.

use crate::level::Level;
use crate::number::Element;
use crate::plan::{Planned, adds, kernel};
use crate::pointwise::{HalfFloat, narrow_at, widen_at};
use crate::split::in_element_ranges;
use crate::tensors::{Scratch, Sink, Source};
use half::{bf16, f16};
use mxrs_op::{KernelArgs, OpCall, PlannedKernel, TensorDesc};
use mxrs_types::{DType, Layout, Result, WriteReq};

/// Plans a call of 16-bit floats by planning the same call in `f32`.
///
/// # Errors
/// Returns the reason why the same call in `f32` cannot be planned.
pub fn plan(call: &OpCall<'_>, level: Level, plan_wide: impl Fn(&OpCall<'_>) -> Planned) -> Planned {
    let dtype = call.outputs[0].dtype;
    if call.inputs.iter().chain(call.outputs).any(|desc| desc.dtype != dtype) {
        return Err(format!("no kernel for {} with several dtypes", call.op.name));
    }
    let widen = |descs: &[TensorDesc]| -> Vec<TensorDesc> {
        descs.iter().map(|desc| TensorDesc::dense(desc.shape.clone(), DType::F32)).collect()
    };
    let (inputs, outputs) = (widen(call.inputs), widen(call.outputs));
    let build_wide = plan_wide(&OpCall { inputs: &inputs, outputs: &outputs, ..*call })?;
    let is_read = |i: &usize| call.op.unread_inputs(call.is_train).all(|unread| unread != *i);
    // Number of elements that each tensor has in scratch memory: 0 for an input that is not read.
    let kept = inputs.iter().enumerate().map(|(i, desc)| if is_read(&i) { desc.shape.n_elements() } else { 0 });
    let kept: Vec<usize> = kept.chain(outputs.iter().map(|desc| desc.shape.n_elements())).collect();
    let (op, n_inputs, n_outputs, adds) = (call.op.name, inputs.len(), outputs.len(), adds(call.outputs));
    Ok(Box::new(move || {
        let wide = build_wide();
        let mut places = Vec::with_capacity(kept.len());
        let mut scratch_bytes = wide.scratch_bytes.next_multiple_of(64);
        for n in kept {
            places.push((scratch_bytes, n));
            scratch_bytes += (n * size_of::<f32>()).next_multiple_of(64);
        }
        let around = Around { wide, places, n_inputs };
        let kernel = match dtype {
            DType::F16 => kernel(op, adds, move |args| around.run::<f16>(args, level, dtype)),
            _ => kernel(op, adds, move |args| around.run::<bf16>(args, level, dtype)),
        };
        PlannedKernel {
            input_layouts: vec![Layout::RowMajor; n_inputs],
            output_layouts: vec![Layout::RowMajor; n_outputs],
            scratch_bytes,
            can_run_inplace: true,
            kernel,
        }
    }))
}

/// The `f32` kernel of a call of 16-bit floats, and the places of its tensors in scratch memory. A place is a first
/// byte and a number of elements; the inputs come first, then the outputs.
struct Around {
    wide: PlannedKernel,
    places: Vec<(usize, usize)>,
    n_inputs: usize,
}

impl Around {
    fn run<H: HalfFloat + Element>(&self, args: &KernelArgs<'_>, level: Level, dtype: DType) -> Result<()> {
        let mut tensors = Vec::with_capacity(self.places.len());
        for (i, (start, n)) in self.places.iter().enumerate() {
            let place = Scratch::<f32>::of(args, *start, *n);
            if i < self.n_inputs {
                let from = Source::<H>::of(args, i);
                in_element_ranges(args.team, *n, &|range| {
                    // SAFETY: ranges are disjoint, in the input and in scratch memory, and nothing writes an input
                    // before the kernel has run.
                    unsafe { widen_at::<H>(level, from.slice(range.clone()), place.slice(range)) };
                });
            }
            // SAFETY: `plan` reserved this part of the scratch memory for this tensor alone, and the slices that
            // widened it are dropped.
            tensors.push(unsafe { place.as_raw() });
        }
        let (inputs, outputs) = tensors.split_at(self.n_inputs);
        let wide = KernelArgs {
            inputs,
            outputs,
            reqs: &vec![WriteReq::Write; outputs.len()],
            // SAFETY: `plan` reserved the first `wide.scratch_bytes` of the scratch memory for the `f32` kernel alone;
            // no slice of them exists.
            scratch: unsafe { Scratch::<u8>::of(args, 0, self.wide.scratch_bytes).as_raw() },
            ..*args
        };
        // SAFETY: the tensors are those of the `f32` call: `places` has the sizes of its inputs and outputs, each begins at
        // a multiple of 64 bytes of the scratch memory, and they do not overlap.
        unsafe { self.wide.kernel.run(&wide) }?;
        for (i, (start, n)) in self.places[self.n_inputs..].iter().enumerate() {
            let result = Scratch::<f32>::of(args, *start, *n).written();
            let out = Sink::<H>::of(args, i, dtype)?;
            in_element_ranges(args.team, *n, &|range| {
                // SAFETY: ranges are disjoint and each belongs to one thread; the result is in scratch memory, which the
                // output does not overlap.
                unsafe { out.write(range, |piece, to| narrow_at::<H>(level, result.slice(piece), to)) };
            });
        }
        Ok(())
    }
}
