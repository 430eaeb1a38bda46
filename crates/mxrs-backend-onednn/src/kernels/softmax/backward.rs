//! The gradient of softmax, from the output and its gradient.

use super::super::wrong_arity;
use crate::cache::Prepared;
use crate::library::Library;
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_types::{Error, Result};
use std::ffi::c_int;
use std::sync::Arc;

/// Prepares `_backward_softmax(ograd, output, data)`. Only the shape of data is used; all tensors have the layout of
/// the output.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let [_, output, data] = call.inputs else { return Err(wrong_arity(call)) };
    let axis = super::axis(call).map_err(|reason| Error::not_built(call.op.name, reason))?;
    let md = library.md(output)?;
    let hint = super::forward(library, axis, sys::dnnl_forward_training, &md)?;
    let pd = library.prim_desc(|out| {
        // SAFETY: the out pointer is valid, and the descriptors, hint and attributes are alive during the call.
        unsafe {
            result::softmax_backward_primitive_desc_create(
                out,
                library.engine(),
                sys::dnnl_softmax_accurate,
                md.0,
                md.0,
                md.0,
                axis as c_int,
                hint.0,
                library.attributes(),
            )
        }
    })?;
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_DIFF_DST, slot: Slot::Input(0), md: md.clone() },
        Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Input(1), md: md.clone() },
        Argument { arg: sys::DNNL_ARG_DIFF_SRC, slot: Slot::Output(0), md },
    ];
    let layout = output.layout.clone();
    let input_layouts = vec![layout.clone(), layout.clone(), data.layout.clone()];
    let prepared = PrimitiveKernel::prepare(library, &pd, arguments, input_layouts, vec![layout])?;
    // For tensors in blocks of channels, the library's plain loop gives wrong zeros if it runs in place.
    Ok(Prepared { can_run_inplace: !pd.is_plain_loop(), ..prepared })
}
