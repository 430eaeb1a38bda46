//! 16-bit floats for kernels that compute in `f32`: the inputs are widened to scratch memory, and the result is rounded from
//! there.

use crate::number::Element;
use crate::plan::{Planned, row_major};
use crate::pointwise::Short;
use crate::split::in_element_ranges;
use crate::tensors::{Scratch, Sink, Source};
use half::{bf16, f16};
use mxrs_op::{KernelArgs, OpCall, PlannedKernel, TensorDesc};
use mxrs_types::{DType, Result, WriteReq};

/// Plans a call of 16-bit floats by planning the same call of `f32`.
///
/// # Errors
/// Why that cannot be planned.
pub fn plan(call: &OpCall<'_>, plan_wide: impl Fn(&OpCall<'_>) -> Planned) -> Planned {
    let dtype = call.outputs[0].dtype;
    if call.outputs.len() != 1 || call.inputs.iter().any(|desc| desc.dtype != dtype) {
        return Err(format!("{} of several types or outputs", call.op.name));
    }
    let widen = |descs: &[TensorDesc]| -> Vec<TensorDesc> {
        descs.iter().map(|desc| TensorDesc::dense(desc.shape.clone(), DType::F32)).collect()
    };
    let (inputs, outputs) = (widen(call.inputs), widen(call.outputs));
    let wide = plan_wide(&OpCall { inputs: &inputs, outputs: &outputs, ..*call })?;
    let is_read = |i: &usize| call.op.unread_inputs(call.is_train).all(|unread| unread != *i);
    let mut places = Vec::new();
    let mut scratch_bytes = wide.scratch_bytes.next_multiple_of(64);
    let tensors = (0..inputs.len()).map(|i| (is_read(&i), &inputs[i])).chain([(true, &outputs[0])]);
    for (is_needed, desc) in tensors {
        let n = if is_needed { desc.shape.n_elements() } else { 0 };
        places.push((scratch_bytes, n));
        scratch_bytes += (n * size_of::<f32>()).next_multiple_of(64);
    }
    let around = Around { wide, places };
    Ok(match dtype {
        DType::F16 => row_major(call, scratch_bytes, move |args| around.run::<f16>(args, dtype)),
        _ => row_major(call, scratch_bytes, move |args| around.run::<bf16>(args, dtype)),
    })
}

/// The kernel of `f32`, and where its tensors are in scratch memory: first byte and elements of the inputs, then of the
/// output.
struct Around {
    wide: PlannedKernel,
    places: Vec<(usize, usize)>,
}

impl Around {
    fn run<H: Short + Element>(&self, args: &KernelArgs<'_>, dtype: DType) -> Result<()> {
        let mut tensors = Vec::with_capacity(self.places.len());
        for (i, (start, n)) in self.places.iter().enumerate() {
            let place = Scratch::<f32>::of(args, *start, *n);
            if i + 1 < self.places.len() {
                let from = Source::<H>::of(args, i);
                in_element_ranges(args.team, *n, &|range| {
                    // SAFETY: ranges are disjoint, and nobody writes an input now.
                    unsafe { H::widen(from.slice(range.clone()), place.slice(range)) };
                });
            }
            // SAFETY: a part of the scratch memory, which nobody else has; no slice of it lives.
            tensors.push(unsafe { place.as_raw() });
        }
        let [inputs @ .., output] = &tensors[..] else { return Ok(()) };
        self.wide.kernel.run(&KernelArgs {
            inputs,
            outputs: std::slice::from_ref(output),
            reqs: &[WriteReq::Write],
            // SAFETY: its own part of the scratch memory.
            scratch: unsafe { Scratch::<u8>::of(args, 0, self.wide.scratch_bytes).as_raw() },
            ..*args
        })?;
        let (start, n) = self.places[self.places.len() - 1];
        let result = Scratch::<f32>::of(args, start, n).written();
        let out = Sink::<H>::of(args, 0, dtype)?;
        in_element_ranges(args.team, n, &|range| {
            // SAFETY: ranges are disjoint, and the result is in scratch memory.
            unsafe { out.write(range, |piece, to| H::narrow(result.slice(piece), to)) };
        });
        Ok(())
    }
}
