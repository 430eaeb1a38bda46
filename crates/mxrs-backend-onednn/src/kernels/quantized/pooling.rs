//! Pooling of quantized tensors, in the layout of the data. The ranges of the inputs become the ranges of the output.

use super::{image, layouts, ranges, write_ranges, written_ranges};
use crate::cache::Prepared;
use crate::kernels::pooling;
use crate::library::Library;
use crate::objects::{MemDesc, shape_dims};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use crate::scratch::ScratchPlan;
use crate::sequence::{Sequence, Step};
use mxrs_onednn_sys::sys;
use mxrs_op::OpCall;
use mxrs_types::Result;
use std::sync::Arc;

/// Prepares the call.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let (data, out) = (&call.inputs[0], &call.outputs[0]);
    // The library's fast 8-bit kernels need channels last.
    let (src, src_layout) = match data.layout.is_row_major() {
        true => image(library, data)?,
        false => (library.md(data)?, data.layout.clone()),
    };
    let dst_any = MemDesc::any(&shape_dims(&out.shape), out.dtype)?;
    let pd = pooling::describe(library, call, &src, &dst_any)?;
    let dst = Arc::new(pd.required_md(sys::dnnl_query_dst_md, 0)?);
    let layout = library.registry.activation_layout(out, MemDesc::copy_of(dst.0)?)?;
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(0), md: src },
        Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md: dst },
    ];
    let mut scratch = ScratchPlan::default();
    let pool = PrimitiveKernel::in_scratch(library, &pd, arguments, &mut scratch)?;
    let pass = Step::Code(Box::new(|args| {
        let all: Vec<_> = ranges(args, 1).collect();
        write_ranges(args, all.into_iter());
        Ok(())
    }));
    Ok(Prepared {
        input_layouts: layouts(src_layout, call.inputs.len()),
        output_layouts: layouts(layout, call.outputs.len()),
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: false,
        kernel: Arc::new(Sequence::new(vec![Step::Primitive(pool), pass], written_ranges(call.outputs))),
    })
}
