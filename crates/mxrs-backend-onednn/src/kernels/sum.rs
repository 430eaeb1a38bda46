//! Sums of any number of tensors, in the layout of the first tensor that is not row-major.

use crate::cache::Prepared;
use crate::library::Library;
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_types::{Error, Result};
use std::ffi::c_int;
use std::sync::Arc;

/// Prepares the call.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let leader = call.inputs.iter().find(|t| !t.layout.is_row_major()).unwrap_or(&call.inputs[0]);
    let md = library.md(leader)?;
    let sources = vec![md.0.cast_const(); call.inputs.len()];
    let scales = vec![1.0f32; sources.len()];
    let n = c_int::try_from(sources.len())
        .map_err(|_| Error::invalid("add_n num_args", sources.len(), "at most 2147483647"))?;
    let pd = library.prim_desc(|out| {
        // SAFETY: the out pointer is valid, and the descriptors and attributes are alive during the call; both arrays
        // have `n` items.
        unsafe {
            result::sum_primitive_desc_create(
                out,
                library.engine(),
                md.0,
                n,
                scales.as_ptr(),
                sources.as_ptr(),
                library.attributes(),
            )
        }
    })?;
    let mut arguments: Vec<Argument> = (0..n)
        .map(|i| Argument { arg: sys::DNNL_ARG_MULTIPLE_SRC + i, slot: Slot::Input(i as usize), md: md.clone() })
        .collect();
    arguments.push(Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md });
    let input_layouts = vec![leader.layout.clone(); call.inputs.len()];
    // The sum does not run in place: an implementation might read an input after writing the output, and oneDNN does
    // not document which ones do.
    PrimitiveKernel::prepare(library, &pd, arguments, input_layouts, vec![leader.layout.clone()])
}
