//! Conversions between real numbers and 8-bit or 32-bit integers: copies with a scale.

use super::{image, layouts, like, numbers, range, write_ranges, written_ranges};
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{Attributes, MemDesc};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use crate::scratch::{FloatPart, ScratchPlan};
use crate::sequence::{Sequence, Step};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::Range;
use mxrs_ops::quant::quantize_v2::QuantizeParams;
use mxrs_types::{DType, Error, Layout, Result};
use std::sync::Arc;

/// Checks that a `_contrib_quantize_v2` has float32 data and a calibrated range.
pub fn check_quantize(call: &OpCall<'_>) -> std::result::Result<(), String> {
    match calibrated(call) {
        Ok(Some(_)) if call.inputs[0].dtype == DType::F32 => Ok(()),
        Ok(Some(_)) => Err("the data are already quantized".into()),
        _ => Err("the range is not calibrated".into()),
    }
}

/// Checks that a `_contrib_requantize` has a calibrated range for the output, and a single range for the sums that it
/// converts.
pub fn check_requantize(call: &OpCall<'_>) -> std::result::Result<(), String> {
    match calibrated(call) {
        Ok(Some(_)) => check_dequantize(call),
        _ => Err("the range is not calibrated".into()),
    }
}

/// Checks that a `_contrib_dequantize` has a single range for all its data.
pub fn check_dequantize(call: &OpCall<'_>) -> std::result::Result<(), String> {
    match call.inputs[1].shape.n_elements() {
        1 => Ok(()),
        n => Err(format!("{n} ranges")),
    }
}

fn calibrated(call: &OpCall<'_>) -> Result<Option<Range>> {
    call.params.get::<QuantizeParams>().calibrated()
}

/// Prepares a copy between these arrangements that multiplies the elements by the scale that `scale` computes in each
/// run.
fn build(
    library: &Arc<Library>,
    call: &OpCall<'_>,
    [src, dst]: [(Arc<MemDesc>, Layout); 2],
    scale: impl Fn(&KernelArgs<'_>) -> f64 + Send + Sync + 'static,
    out_range: Option<Range>,
) -> Result<Prepared> {
    let attributes = Attributes::user_scratchpad()?;
    // SAFETY: `attributes` owns the object, so it is alive. The other arguments are numbers.
    unsafe { result::primitive_attr_set_scales_mask(attributes.0, sys::DNNL_ARG_SRC, 0)? };
    let pd = library.prim_desc(|out| {
        let engine = library.engine();
        // SAFETY: the out pointer is valid, and the descriptors and attributes are alive during the call.
        unsafe { result::reorder_primitive_desc_create(out, src.0.0, engine, dst.0.0, engine, attributes.0) }
    })?;
    let mut scratch = ScratchPlan::default();
    let part = FloatPart::new(&mut scratch, 1);
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_FROM, slot: Slot::Input(0), md: src.0 },
        Argument { arg: sys::DNNL_ARG_TO, slot: Slot::Output(0), md: dst.0 },
        Argument {
            arg: sys::DNNL_ARG_ATTR_SCALES | sys::DNNL_ARG_SRC,
            slot: Slot::Scratch(part.start),
            md: numbers(1)?,
        },
    ];
    let copy = PrimitiveKernel::in_scratch(library, &pd, arguments, &mut scratch)?;
    let fill = Step::Code(Box::new(move |args| {
        // SAFETY: the scratch memory is planned above with this part, no other slice of it exists, and the primitive
        // runs only after these values are written.
        unsafe { part.of(args) }.fill(scale(args) as f32);
        write_ranges(args, out_range.into_iter());
        Ok(())
    }));
    Ok(Prepared {
        input_layouts: layouts(src.1, call.inputs.len()),
        output_layouts: layouts(dst.1, call.outputs.len()),
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: false,
        kernel: Arc::new(Sequence::new(vec![fill, Step::Primitive(copy)], written_ranges(call.outputs))),
    })
}

/// Prepares a `_contrib_quantize_v2`.
pub fn prepare_quantize(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let range = calibrated(call)?.ok_or_else(|| Error::not_built(call.op.name, "no calibrated range"))?;
    let (data, out) = (&call.inputs[0], &call.outputs[0]);
    let ends = [(library.md(data)?, data.layout.clone()), image(library, out)?];
    let per_unit = range.per_unit(out.dtype);
    build(library, call, ends, move |_| per_unit, Some(range.reported(out.dtype)))
}

/// Prepares a `_contrib_dequantize`.
pub fn prepare_dequantize(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let (data, out) = (&call.inputs[0], &call.outputs[0]);
    // The output, real numbers, gets the arrangement of the integers.
    let dst = library.md(&out.with_layout(data.layout.clone())).map(|md| (md, data.layout.clone()));
    let row_major = || Ok((library.md(&out.with_layout(Layout::RowMajor))?, Layout::RowMajor));
    let ends = [(library.md(data)?, data.layout.clone()), dst.or_else(|_: Error| row_major())?];
    let dtype = data.dtype;
    build(library, call, ends, move |args| range(args, 1).quantum(dtype), None)
}

/// Prepares a `_contrib_requantize`.
pub fn prepare_requantize(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let out_range = calibrated(call)?.ok_or_else(|| Error::not_built(call.op.name, "no calibrated range"))?;
    let (data, out) = (&call.inputs[0], &call.outputs[0]);
    let ends = [(library.md(data)?, data.layout.clone()), like(library, out, &data.layout)?];
    let per_unit = out_range.per_unit(out.dtype);
    let reported = mxrs_ops::quant::requantize::reported(out_range, out.dtype);
    build(library, call, ends, move |args| range(args, 1).quantum(DType::I32) * per_unit, Some(reported))
}
