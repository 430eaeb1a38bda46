//! LRN (local response normalization) across channels.

pub mod backward;

use super::arranged::arranged;
use super::one_to_one;
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{MemDesc, PrimDesc};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_ops::nn::lrn::LrnParams;
use mxrs_types::Result;
use std::sync::Arc;

/// Checks that the backend takes the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    if call.inputs[0].shape.ndim() != 4 {
        return Err(format!("no kernel for data of shape {}", call.inputs[0].shape));
    }
    if call.params.get::<LrnParams>().nsize.is_multiple_of(2) {
        return Err("no kernel for an even nsize".into());
    }
    Ok(())
}

fn forward(library: &Library, p: &LrnParams, kind: sys::dnnl_prop_kind_t, md: &MemDesc) -> Result<PrimDesc> {
    library.prim_desc(|out| {
        // SAFETY: `md` and the attributes are alive during the call, and the out pointer is valid.
        unsafe {
            result::lrn_forward_primitive_desc_create(
                out,
                library.engine(),
                kind,
                sys::dnnl_lrn_across_channels,
                md.0,
                md.0,
                i64::from(p.nsize),
                p.alpha,
                p.beta,
                p.knorm,
                library.attributes(),
            )
        }
    })
}

/// Prepares the call.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let p = call.params.get::<LrnParams>();
    let data = arranged(library, &call.inputs[0], |md| forward(library, p, sys::dnnl_forward_inference, md))?;
    one_to_one::prepare(library, call, data, None)
}
