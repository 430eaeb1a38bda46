//! Concat of quantized tensors: every input is copied to its part of the output, multiplied by the factor that converts
//! it to the common range of values.

use super::{like, numbers, range, write_ranges, written_ranges};
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{Attributes, MemDesc, shape_dims};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use crate::scratch::{FloatPart, ScratchPlan};
use crate::sequence::{Sequence, Step};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::Range;
use mxrs_ops::shape::concat::ConcatParams;
use mxrs_types::{Layout, Result};
use std::sync::Arc;

/// Checks that the backend takes the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    let p = call.params.get::<ConcatParams>();
    call.outputs[0].shape.axis(i64::from(p.dim)).map(|_| ()).map_err(|e| e.to_string())
}

/// The common range of all inputs, which includes 0.
fn joined(args: &KernelArgs<'_>, n: usize) -> Range {
    let all = (0..n).map(|i| range(args, n + 2 * i));
    all.fold(Range { min: 0.0, max: 0.0 }, |a, b| Range { min: a.min.min(b.min), max: a.max.max(b.max) })
}

/// Prepares a copy for each input.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let axis = call.outputs[0].shape.axis(i64::from(call.params.get::<ConcatParams>().dim))?;
    let n = call.inputs.len() / 3;
    let (data, out) = (&call.inputs[..n], &call.outputs[0]);
    let leader = data.iter().find(|t| !t.layout.is_row_major()).unwrap_or(&data[0]).layout.clone();
    let first = like(library, &data[0], &leader)?;
    // Inputs are copied to their parts of the output, so all have the arrangement of the output: row-major if the first
    // input is row-major, otherwise channels last.
    let (dst, layout) = match first.1.is_row_major() {
        true => (library.md(&out.with_layout(Layout::RowMajor))?, Layout::RowMajor),
        false => super::image(library, out)?,
    };
    let mut scratch = ScratchPlan::default();
    let parts: Vec<FloatPart> = data.iter().map(|_| FloatPart::new(&mut scratch, 1)).collect();
    let attributes = Attributes::user_scratchpad()?;
    // SAFETY: `attributes` owns the object, so it is alive. The other arguments are numbers.
    unsafe { result::primitive_attr_set_scales_mask(attributes.0, sys::DNNL_ARG_SRC, 0)? };
    let mut steps = Vec::new();
    let types: Vec<_> = data.iter().map(|t| t.dtype).collect();
    let (scales, dtype) = (parts.clone(), out.dtype);
    steps.push(Step::Code(Box::new(move |args| {
        let all = joined(args, n);
        for (i, part) in scales.iter().enumerate() {
            let scale = range(args, n + 2 * i).quantum(types[i]) * all.per_unit(dtype);
            // SAFETY: `prepare` planned the scratch memory with this part, no other slice of it exists, and the
            // primitives run only after these values are written.
            unsafe { part.of(args) }.fill(scale as f32);
        }
        write_ranges(args, std::iter::once(all));
        Ok(())
    })));
    let mut input_layouts = vec![Layout::RowMajor; call.inputs.len()];
    let mut offsets = vec![0i64; out.shape.ndim()];
    for (i, desc) in data.iter().enumerate() {
        let (src, src_layout) = match layout.is_row_major() {
            true => (library.md(&desc.with_layout(Layout::RowMajor))?, Layout::RowMajor),
            false => super::image(library, desc)?,
        };
        let part: MemDesc = dst.part(&shape_dims(&desc.shape), &offsets)?;
        offsets[axis] += desc.shape[axis] as i64;
        let pd = library.prim_desc(|out| {
            let engine = library.engine();
            // SAFETY: the out pointer is valid, and the descriptors and attributes are alive during the call.
            unsafe { result::reorder_primitive_desc_create(out, src.0, engine, part.0, engine, attributes.0) }
        })?;
        let arguments = vec![
            Argument { arg: sys::DNNL_ARG_FROM, slot: Slot::Input(i), md: src },
            Argument { arg: sys::DNNL_ARG_TO, slot: Slot::Output(0), md: Arc::new(part) },
            Argument {
                arg: sys::DNNL_ARG_ATTR_SCALES | sys::DNNL_ARG_SRC,
                slot: Slot::Scratch(parts[i].start),
                md: numbers(1)?,
            },
        ];
        steps.push(Step::Shared(PrimitiveKernel::in_scratch(library, &pd, arguments, &mut scratch)?));
        input_layouts[i] = src_layout;
    }
    let mut output_layouts = vec![Layout::RowMajor; call.outputs.len()];
    output_layouts[0] = layout;
    let mut written = written_ranges(call.outputs);
    written.push(crate::accumulate::Written::of(0, &dst)?);
    Ok(Prepared {
        input_layouts,
        output_layouts,
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: false,
        kernel: Arc::new(Sequence::new(steps, written)),
    })
}
