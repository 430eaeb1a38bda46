//! The operators `softmax`, and `SoftmaxOutput` in the forward pass.

pub mod backward;

use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{MemDesc, PrimDesc};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_ops::nn::softmax::SoftmaxParams;
use mxrs_ops::nn::softmax_output::SoftmaxOutputParams;
use mxrs_types::{Error, Layout, Result};
use std::ffi::c_int;
use std::sync::Arc;

fn axis(call: &OpCall<'_>) -> std::result::Result<usize, String> {
    let shape = &call.inputs[0].shape;
    if matches!(call.op.name, "softmax" | "_backward_softmax") {
        let p = call.params.get::<SoftmaxParams>();
        if p.temperature.is_some_and(|t| t != 1.0) || p.use_length == Some(true) {
            return Err("no kernel for a temperature or lengths".into());
        }
        if call.inputs[0].dtype != call.outputs[0].dtype {
            return Err("the output has another dtype than the data".into());
        }
        return shape.axis(i64::from(p.axis)).map_err(|e| e.to_string());
    }
    let p = call.params.get::<SoftmaxOutputParams>();
    match (shape.ndim(), p.multi_output, p.preserve_shape) {
        (0 | 1, ..) => Err(format!("no kernel for data of shape {shape}")),
        (2, false, _) | (_, true, false) => Ok(1),
        (n, false, true) => Ok(n - 1),
        _ => Err("no kernel for data flattened to a matrix".into()),
    }
}

/// Checks that the backend takes the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    axis(call).map(|_| ())
}

fn forward(library: &Library, axis: usize, kind: sys::dnnl_prop_kind_t, md: &MemDesc) -> Result<PrimDesc> {
    library.prim_desc(|out| {
        // SAFETY: `md` and the attributes are alive during the call, and the out pointer is valid.
        unsafe {
            result::softmax_forward_primitive_desc_create(
                out,
                library.engine(),
                kind,
                sys::dnnl_softmax_accurate,
                md.0,
                md.0,
                axis as c_int,
                library.attributes(),
            )
        }
    })
}

/// Prepares the call.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let axis = axis(call).map_err(|reason| Error::not_built(call.op.name, reason))?;
    let md = library.md(&call.inputs[0])?;
    // Training uses the inference primitive too, because the loss only affects the gradient.
    let pd = forward(library, axis, sys::dnnl_forward_inference, &md)?;
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(0), md: md.clone() },
        Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md },
    ];
    let mut input_layouts = vec![Layout::RowMajor; call.inputs.len()];
    input_layouts[0] = call.inputs[0].layout.clone();
    let output_layouts = vec![call.inputs[0].layout.clone()];
    let prepared = PrimitiveKernel::prepare(library, &pd, arguments, input_layouts, output_layouts)?;
    Ok(Prepared { can_run_inplace: true, ..prepared })
}
