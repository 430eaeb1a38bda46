//! The sum of two quantized tensors, each i8 or u8.

use super::{layouts, like, numbers, range, write_ranges, written_ranges};
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::Attributes;
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use crate::scratch::{FloatPart, ScratchPlan};
use crate::sequence::{Sequence, Step};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_ops::quant::quantized_elemwise_add::QuantizedAddParams;
use mxrs_types::{Error, Result};
use std::sync::Arc;

/// Checks that the range of the output is calibrated.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    match call.params.get::<QuantizedAddParams>().calibrated() {
        Ok(Some(_)) => Ok(()),
        _ => Err("the range is not calibrated".into()),
    }
}

/// Prepares the call.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let calibrated = call.params.get::<QuantizedAddParams>().calibrated()?;
    let out_range = calibrated.ok_or_else(|| Error::not_built(call.op.name, "no calibrated range"))?;
    let (sides, out) = (&call.inputs[..2], &call.outputs[0]);
    let leader = sides.iter().find(|t| !t.layout.is_row_major()).unwrap_or(&sides[0]).layout.clone();
    let (dst, layout) = like(library, out, &leader)?;
    let [a, b] = [like(library, &sides[0], &layout)?.0, like(library, &sides[1], &layout)?.0];
    let attributes = Attributes::user_scratchpad()?;
    for arg in [sys::DNNL_ARG_SRC_0, sys::DNNL_ARG_SRC_1] {
        // SAFETY: `attributes` owns the object, so it is alive. The other arguments are numbers.
        unsafe { result::primitive_attr_set_scales_mask(attributes.0, arg, 0)? };
    }
    let pd = library.prim_desc(|out| {
        let (engine, add) = (library.engine(), sys::dnnl_binary_add);
        // SAFETY: the out pointer is valid, and the descriptors and attributes are alive during the call.
        unsafe { result::binary_primitive_desc_create(out, engine, add, a.0, b.0, dst.0, attributes.0) }
    })?;
    let mut scratch = ScratchPlan::default();
    let parts = [FloatPart::new(&mut scratch, 1), FloatPart::new(&mut scratch, 1)];
    let scale = |arg, part: FloatPart| -> Result<Argument> {
        Ok(Argument { arg: sys::DNNL_ARG_ATTR_SCALES | arg, slot: Slot::Scratch(part.start), md: numbers(1)? })
    };
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_SRC_0, slot: Slot::Input(0), md: a },
        Argument { arg: sys::DNNL_ARG_SRC_1, slot: Slot::Input(1), md: b },
        Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md: dst },
        scale(sys::DNNL_ARG_SRC_0, parts[0])?,
        scale(sys::DNNL_ARG_SRC_1, parts[1])?,
    ];
    let sum = PrimitiveKernel::in_scratch(library, &pd, arguments, &mut scratch)?;
    let (types, per_unit) = ([sides[0].dtype, sides[1].dtype], out_range.per_unit(out.dtype));
    let fill = Step::Code(Box::new(move |args| {
        for (i, part) in parts.iter().enumerate() {
            let quantum = range(args, 2 + 2 * i).quantum(types[i]);
            // SAFETY: `prepare` planned the scratch memory with this part, no other slice of it exists, and the
            // primitive runs only after these values are written.
            unsafe { part.of(args) }.fill((quantum * per_unit) as f32);
        }
        write_ranges(args, std::iter::once(out_range));
        Ok(())
    }));
    let mut input_layouts = layouts(layout.clone(), call.inputs.len());
    input_layouts[1] = layout.clone();
    Ok(Prepared {
        input_layouts,
        output_layouts: layouts(layout, call.outputs.len()),
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: false,
        kernel: Arc::new(Sequence::new(vec![fill, Step::Primitive(sum)], written_ranges(call.outputs))),
    })
}
