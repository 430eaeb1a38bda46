//! Concat: copies every input to its range of the output, in a layout that all inputs can have.

pub mod backward;

use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{MemDesc, shape_dims};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_ops::shape::concat::ConcatParams;
use mxrs_types::{Error, Result};
use std::ffi::c_int;
use std::sync::Arc;

/// Checks that the backend takes the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    let p = call.params.get::<ConcatParams>();
    call.inputs[0].shape.axis(i64::from(p.dim)).map(|_| ()).map_err(|e| e.to_string())
}

/// Prepares the call.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let p = call.params.get::<ConcatParams>();
    let axis = call.inputs[0].shape.axis(i64::from(p.dim))?;
    let sources: Vec<Arc<MemDesc>> = call.inputs.iter().map(|t| library.md(t)).collect::<Result<_>>()?;
    let raw: Vec<sys::const_dnnl_memory_desc_t> = sources.iter().map(|md| md.0.cast_const()).collect();
    let dst_any = MemDesc::any(&shape_dims(&call.outputs[0].shape), call.outputs[0].dtype)?;
    let n =
        c_int::try_from(raw.len()).map_err(|_| Error::invalid("Concat num_args", raw.len(), "at most 2147483647"))?;
    let pd = library.prim_desc(|out| {
        // SAFETY: the out pointer is valid, and the descriptors and the attributes are alive during the call; `raw` has
        // `n` items.
        unsafe {
            result::concat_primitive_desc_create(
                out,
                library.engine(),
                dst_any.0,
                n,
                axis as c_int,
                raw.as_ptr(),
                library.attributes(),
            )
        }
    })?;
    let dst = Arc::new(pd.required_md(sys::dnnl_query_dst_md, 0)?);
    let output_layouts = vec![library.registry.activation_layout(&call.outputs[0], MemDesc::copy_of(dst.0)?)?];
    let mut arguments: Vec<Argument> = sources
        .into_iter()
        .enumerate()
        .map(|(i, md)| Argument { arg: sys::DNNL_ARG_MULTIPLE_SRC + i as c_int, slot: Slot::Input(i), md })
        .collect();
    arguments.push(Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md: dst });
    let input_layouts = call.inputs.iter().map(|t| t.layout.clone()).collect();
    PrimitiveKernel::prepare(library, &pd, arguments, input_layouts, output_layouts)
}
