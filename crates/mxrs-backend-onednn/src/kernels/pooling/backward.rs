//! Gradients of pooling.
//!
//! For max pooling, the forward primitive runs again into scratch memory to make the workspace with the position of
//! each maximum; among equal elements the first gets the gradient. For average pooling, only the gradient of the output
//! is needed.

use super::super::arranged::{Arranged, arranged};
use super::super::workspace::Gradient;
use super::super::wrong_arity;
use super::{Problem, check_window};
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{MemDesc, PrimDesc, shape_dims};
use crate::primitive::{Argument, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_ops::nn::pooling::PoolingParams;
use mxrs_types::Result;
use std::sync::Arc;

/// Checks that this kernel supports the call `(ograd, data, …) -> gradient of data`.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    let [ograd, data, ..] = call.inputs else { return Err("the call lacks inputs".into()) };
    check_window(call.params.get::<PoolingParams>(), &data.shape, &ograd.shape)
}

fn backward(
    library: &Library,
    problem: &Problem,
    data: &MemDesc,
    ograd: &MemDesc,
    hint: &PrimDesc,
) -> Result<PrimDesc> {
    library.prim_desc(|out| {
        // SAFETY: the out pointer is valid, and the descriptors, arrays, hint and attributes are alive during the call.
        unsafe {
            result::pooling_backward_primitive_desc_create(
                out,
                library.engine(),
                problem.algorithm,
                data.0,
                ograd.0,
                problem.window.strides.as_ptr(),
                problem.window.kernel.as_ptr(),
                problem.dilation.as_ptr(),
                problem.window.before.as_ptr(),
                problem.window.after.as_ptr(),
                hint.0,
                library.attributes(),
            )
        }
    })
}

/// Prepares the call; both gradients have the layout of data.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let [ograd, data, ..] = call.inputs else { return Err(wrong_arity(call)) };
    let p = call.params.get::<PoolingParams>();
    let problem = Problem::new(p, &data.shape, &ograd.shape);
    let dst_any = MemDesc::any(&shape_dims(&ograd.shape), ograd.dtype)?;
    let forward = |src: &MemDesc| problem.forward(library, sys::dnnl_forward_training, src, &dst_any);
    let Arranged { md: src, layout, pd } = arranged(library, data, |src| {
        let forward = forward(src)?;
        let dst = forward.required_md(sys::dnnl_query_dst_md, 0)?;
        backward(library, &problem, src, &dst, &forward)
    })?;
    let forward = forward(&src)?;
    let dst = Arc::new(forward.required_md(sys::dnnl_query_dst_md, 0)?);

    let mut input_layouts: Vec<_> = call.inputs.iter().map(|t| t.layout.clone()).collect();
    input_layouts[1] = layout.clone();
    input_layouts[0] = library.registry.activation_layout(ograd, MemDesc::copy_of(dst.0)?)?;
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_DIFF_DST, slot: Slot::Input(0), md: dst },
        Argument { arg: sys::DNNL_ARG_DIFF_SRC, slot: Slot::Output(0), md: src.clone() },
    ];
    let gradient = Gradient { backward: &pd, forward: &forward, data: src, arguments };
    gradient.prepare(library, input_layouts, vec![layout])
}
