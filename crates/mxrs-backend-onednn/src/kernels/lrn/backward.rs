//! The gradient of LRN. Some implementations of oneDNN need a workspace that the forward primitive writes.

use super::super::arranged::{Arranged, arranged};
use super::super::workspace::Gradient;
use super::super::wrong_arity;
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{MemDesc, PrimDesc};
use crate::primitive::{Argument, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_ops::nn::lrn::LrnParams;
use mxrs_types::Result;
use std::sync::Arc;

/// Checks that this kernel supports the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    // oneDNN 3.14 crashes when it generates the code for `nsize` 1: `jit_avx512_common_lrn_kernel_bwd_nhwc_t::compute`.
    if call.params.get::<LrnParams>().nsize == 1 {
        return Err("nsize 1".into());
    }
    super::check(call)
}

fn backward(library: &Library, p: &LrnParams, md: &MemDesc, hint: &PrimDesc) -> Result<PrimDesc> {
    library.prim_desc(|out| {
        // SAFETY: the out pointer is valid, and the descriptors, hint and attributes are alive during the call.
        unsafe {
            result::lrn_backward_primitive_desc_create(
                out,
                library.engine(),
                sys::dnnl_lrn_across_channels,
                md.0,
                md.0,
                md.0,
                i64::from(p.nsize),
                p.alpha,
                p.beta,
                p.knorm,
                hint.0,
                library.attributes(),
            )
        }
    })
}

/// Prepares `_backward_LRN(ograd, data)`; all tensors have the layout of data.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let [_, data] = call.inputs else { return Err(wrong_arity(call)) };
    let p = call.params.get::<LrnParams>();
    let forward = |md: &MemDesc| super::forward(library, p, sys::dnnl_forward_training, md);
    let images = arranged(library, data, |md| backward(library, p, md, &forward(md)?))?;
    let Arranged { md, layout, pd } = images;
    let forward = forward(&md)?;
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_DIFF_DST, slot: Slot::Input(0), md: md.clone() },
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(1), md: md.clone() },
        Argument { arg: sys::DNNL_ARG_DIFF_SRC, slot: Slot::Output(0), md: md.clone() },
    ];
    let gradient = Gradient { backward: &pd, forward: &forward, data: md, arguments };
    gradient.prepare(library, vec![layout.clone(); 2], vec![layout])
}
