//! Gradients of Convolution for data and weights. Data and the gradient of the output keep the layout in which a primitive
//! produced them, if the library has an implementation for that layout. oneDNN often prefers another layout than that of the
//! forward call, but copying every activation to it costs more than it gains.
//!
//! Each of the two operators has three inputs: the gradient of the output; the weights (for the gradient of data) or
//! the data (for the gradient of weights); and the tensor whose gradient is computed, of which only the shape is used.

use super::Problem;
use crate::cache::Prepared;
use crate::kernels::arranged::expect_code;
use crate::library::Library;
use crate::objects::{MemDesc, PrimDesc};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::{OpCall, TensorDesc};
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_types::Result;
use std::sync::Arc;

/// Describes the convolution whose gradient is computed, and its forward primitive as a hint. If `follows` is true, data and
/// the gradient of the output keep their layouts.
fn describe(
    library: &Library,
    call: &OpCall<'_>,
    [ograd, weights, data]: [&TensorDesc; 3],
    follows: bool,
) -> Result<(Problem, PrimDesc)> {
    let mut problem = Problem::new(call.params.get::<ConvolutionParams>(), data, weights, ograd)?;
    if follows {
        problem.follow(library, data, ograd)?;
    }
    let hint = problem.forward(library, sys::dnnl_forward_training, None, library.attributes())?;
    Ok((problem, hint))
}

/// Prepares `_backward_Convolution_data(ograd, weight, data)`.
pub fn prepare_data(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    build_data(library, call, true).or_else(|_| build_data(library, call, false))
}

fn build_data(library: &Arc<Library>, call: &OpCall<'_>, follows: bool) -> Result<Prepared> {
    let [ograd, weights, data] = call.inputs else { return Err(super::super::wrong_arity(call)) };
    let (problem, hint) = describe(library, call, [ograd, weights, data], follows)?;
    let pd = library.prim_desc(|out| {
        // SAFETY: the out pointer is valid, and the descriptors, arrays, hint and attributes are alive during the call.
        unsafe {
            result::convolution_backward_data_primitive_desc_create(
                out,
                library.engine(),
                sys::dnnl_convolution_direct,
                problem.src.0,
                problem.weights.0,
                problem.dst.0,
                problem.strides.as_ptr(),
                problem.dilates.as_ptr(),
                problem.pads.as_ptr(),
                problem.pads.as_ptr(),
                hint.0,
                library.attributes(),
            )
        }
    })?;
    if follows {
        expect_code(&pd)?;
    }
    let ograd_md = Arc::new(pd.required_md(sys::dnnl_query_diff_dst_md, 0)?);
    let weights_md = Arc::new(pd.required_md(sys::dnnl_query_weights_md, 0)?);
    let out_md = Arc::new(pd.required_md(sys::dnnl_query_diff_src_md, 0)?);
    let input_layouts = vec![
        library.registry.activation_layout(ograd, MemDesc::copy_of(ograd_md.0)?)?,
        library.registry.weights_layout(MemDesc::copy_of(weights_md.0)?, &problem.weights_sizes)?,
        data.layout.clone(),
    ];
    let output_layouts = vec![library.registry.activation_layout(&call.outputs[0], MemDesc::copy_of(out_md.0)?)?];
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_DIFF_DST, slot: Slot::Input(0), md: ograd_md },
        Argument { arg: sys::DNNL_ARG_WEIGHTS, slot: Slot::Input(1), md: weights_md },
        Argument { arg: sys::DNNL_ARG_DIFF_SRC, slot: Slot::Output(0), md: out_md },
    ];
    PrimitiveKernel::prepare(library, &pd, arguments, input_layouts, output_layouts)
}

/// Prepares `_backward_Convolution_weight(ograd, data, weight)`.
pub fn prepare_weight(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    build_weight(library, call, true).or_else(|_| build_weight(library, call, false))
}

fn build_weight(library: &Arc<Library>, call: &OpCall<'_>, follows: bool) -> Result<Prepared> {
    let [ograd, data, weights] = call.inputs else { return Err(super::super::wrong_arity(call)) };
    // The gradient of the weights may be float32 even if data and gradient of the output are 16-bit. The weights of the
    // forward call have the dtype of the data.
    let short = TensorDesc { dtype: data.dtype, ..weights.clone() };
    let (mut problem, hint) = describe(library, call, [ograd, &short, data], follows)?;
    problem.weights = MemDesc::any(&problem.weights_sizes, weights.dtype)?;
    let pd = library.prim_desc(|out| {
        // SAFETY: the out pointer is valid, and the descriptors, arrays, hint and attributes are alive during the call;
        // a null bias means that there is none.
        unsafe {
            result::convolution_backward_weights_primitive_desc_create(
                out,
                library.engine(),
                sys::dnnl_convolution_direct,
                problem.src.0,
                problem.weights.0,
                std::ptr::null(),
                problem.dst.0,
                problem.strides.as_ptr(),
                problem.dilates.as_ptr(),
                problem.pads.as_ptr(),
                problem.pads.as_ptr(),
                hint.0,
                library.attributes(),
            )
        }
    })?;
    if follows {
        expect_code(&pd)?;
    }
    let ograd_md = Arc::new(pd.required_md(sys::dnnl_query_diff_dst_md, 0)?);
    let data_md = Arc::new(pd.required_md(sys::dnnl_query_src_md, 0)?);
    let out_md = Arc::new(pd.required_md(sys::dnnl_query_diff_weights_md, 0)?);
    let input_layouts = vec![
        library.registry.activation_layout(ograd, MemDesc::copy_of(ograd_md.0)?)?,
        library.registry.activation_layout(data, MemDesc::copy_of(data_md.0)?)?,
        weights.layout.clone(),
    ];
    // The gradient has the layout that the primitive writes, which needs no copy here. A consumer that needs the gradient in
    // row-major layout copies it.
    let output_layouts = vec![library.registry.weights_layout(MemDesc::copy_of(out_md.0)?, &problem.weights_sizes)?];
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_DIFF_DST, slot: Slot::Input(0), md: ograd_md },
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(1), md: data_md },
        Argument { arg: sys::DNNL_ARG_DIFF_WEIGHTS, slot: Slot::Output(0), md: out_md },
    ];
    PrimitiveKernel::prepare(library, &pd, arguments, input_layouts, output_layouts)
}
