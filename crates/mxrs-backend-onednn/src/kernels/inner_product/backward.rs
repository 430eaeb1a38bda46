//! Gradients of FullyConnected for data and weights.
//!
//! Each of the two operators has three inputs: the gradient of the output; the weights (for the gradient of data) or
//! the data (for the gradient of weights); and the tensor whose gradient is computed, of which only the shape is used.

use super::Problem;
use crate::cache::Prepared;
use crate::library::Library;
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::{OpCall, TensorDesc};
use mxrs_types::{Layout, Result};
use std::sync::Arc;

/// Checks that these kernels support the call; `weights` is the position of the weights among the inputs.
pub fn check(call: &OpCall<'_>, weights: usize) -> std::result::Result<(), String> {
    match call.inputs.get(weights) {
        Some(weights) if weights.shape.ndim() == 2 => Ok(()),
        _ => Err("the weights are not a matrix".into()),
    }
}

/// Prepares `_backward_FullyConnected_data(ograd, weight, data)`.
pub fn prepare_data(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let [_, weights, data] = call.inputs else { return Err(super::super::wrong_arity(call)) };
    let problem = Problem::new(library, data, weights)?;
    let hint = problem.forward(library, sys::dnnl_forward_training, None, library.attributes())?;
    let pd = library.prim_desc(|out| {
        // SAFETY: the out pointer is valid, and the descriptors, hint and attributes are alive during the call.
        unsafe {
            result::inner_product_backward_data_primitive_desc_create(
                out,
                library.engine(),
                problem.src.0,
                problem.weights.0,
                problem.dst.0,
                hint.0,
                library.attributes(),
            )
        }
    })?;
    let weights_md = Arc::new(pd.required_md(sys::dnnl_query_weights_md, 0)?);
    let input_layouts = vec![Layout::RowMajor, problem.weights_layout(library, &weights_md)?, data.layout.clone()];
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_DIFF_DST, slot: Slot::Input(0), md: Arc::new(problem.dst) },
        Argument { arg: sys::DNNL_ARG_WEIGHTS, slot: Slot::Input(1), md: weights_md },
        Argument { arg: sys::DNNL_ARG_DIFF_SRC, slot: Slot::Output(0), md: Arc::new(problem.src) },
    ];
    PrimitiveKernel::prepare(library, &pd, arguments, input_layouts, vec![Layout::RowMajor])
}

/// Prepares `_backward_FullyConnected_weight(ograd, data, weight)`.
pub fn prepare_weight(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let [_, data, weights] = call.inputs else { return Err(super::super::wrong_arity(call)) };
    // The gradient of the weights may be float32 even if data and gradient of the output are 16-bit. The weights of the
    // forward call have the dtype of the data.
    let short = TensorDesc { dtype: data.dtype, ..weights.clone() };
    let mut problem = Problem::new(library, data, &short)?;
    let hint = problem.forward(library, sys::dnnl_forward_training, None, library.attributes())?;
    problem.weights = library.layer_weights(problem.n_out, problem.k, weights.dtype)?;
    let pd = library.prim_desc(|out| {
        // SAFETY: the out pointer is valid, and the descriptors, hint and attributes are alive during the call; a null
        // bias means that there is none.
        unsafe {
            result::inner_product_backward_weights_primitive_desc_create(
                out,
                library.engine(),
                problem.src.0,
                problem.weights.0,
                std::ptr::null(),
                problem.dst.0,
                hint.0,
                library.attributes(),
            )
        }
    })?;
    let out_md = Arc::new(pd.required_md(sys::dnnl_query_diff_weights_md, 0)?);
    // The gradient has the layout that the primitive writes. A consumer that needs it in row-major layout copies it.
    let output_layouts = vec![problem.weights_layout(library, &out_md)?];
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_DIFF_DST, slot: Slot::Input(0), md: Arc::new(problem.dst) },
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(1), md: Arc::new(problem.src) },
        Argument { arg: sys::DNNL_ARG_DIFF_WEIGHTS, slot: Slot::Output(0), md: out_md },
    ];
    let input_layouts = vec![Layout::RowMajor, Layout::RowMajor, weights.layout.clone()];
    PrimitiveKernel::prepare(library, &pd, arguments, input_layouts, output_layouts)
}
