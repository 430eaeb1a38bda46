//! Convolution in 1 to 3 dimensions, channels second, groups and dilation included.

use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{Dims, MemDesc, dims, shape_dims};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_op::param::{Choice, ShapeAttr};
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_types::{Layout, Result};
use std::sync::Arc;

/// `values`, or `default` on every one of `n` axes when none are given.
pub fn spatial(values: &ShapeAttr, n: usize, default: i64) -> Dims {
    if values.is_empty() { Dims::from_elem(default, n) } else { values.iter().copied().collect() }
}

/// Whether the call fits.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    let p = call.params.get::<ConvolutionParams>();
    if let Some(layout) = p.layout
        && !layout.to_word().starts_with("NC")
    {
        return Err(format!("layout {}", layout.to_word()));
    }
    Ok(())
}

/// Builds the primitive.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let p = call.params.get::<ConvolutionParams>();
    let n_spatial = call.inputs[0].shape.ndim() - 2;
    let strides = spatial(&p.stride, n_spatial, 1);
    let pads = spatial(&p.pad, n_spatial, 0);
    // oneDNN counts the holes, MXNet the step.
    let dilates: Dims = spatial(&p.dilate, n_spatial, 1).iter().map(|d| d - 1).collect();

    let source = &call.inputs[0];
    let groups = i64::from(p.num_group);
    let weights_shape = shape_dims(&call.inputs[1].shape);
    let weights_sizes: Dims = if groups == 1 {
        weights_shape
    } else {
        [groups, weights_shape[0] / groups].into_iter().chain(weights_shape[1..].iter().copied()).collect()
    };
    let has_bias = !p.no_bias;

    let src_any = MemDesc::any(&shape_dims(&source.shape), source.dtype)?;
    let weights_any = MemDesc::any(&weights_sizes, call.inputs[1].dtype)?;
    let bias = MemDesc::dense(&dims([call.outputs[0].shape[1]]), source.dtype)?;
    let dst_any = MemDesc::any(&shape_dims(&call.outputs[0].shape), source.dtype)?;
    let pd = library.prim_desc(|out| {
        // SAFETY: every descriptor and array outlives the call; a null bias means none.
        unsafe {
            result::convolution_forward_primitive_desc_create(
                out,
                library.engine(),
                sys::dnnl_forward_inference,
                sys::dnnl_convolution_auto,
                src_any.0,
                weights_any.0,
                if has_bias { bias.0 } else { std::ptr::null() },
                dst_any.0,
                strides.as_ptr(),
                dilates.as_ptr(),
                pads.as_ptr(),
                pads.as_ptr(),
                library.attributes(),
            )
        }
    })?;

    let src_md = Arc::new(pd.required_md(sys::dnnl_query_src_md, 0)?);
    let weights_md = Arc::new(pd.required_md(sys::dnnl_query_weights_md, 0)?);
    let dst_md = Arc::new(pd.required_md(sys::dnnl_query_dst_md, 0)?);
    let mut arguments = vec![
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(0), md: src_md.clone() },
        Argument { arg: sys::DNNL_ARG_WEIGHTS, slot: Slot::Input(1), md: weights_md.clone() },
        Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md: dst_md.clone() },
    ];
    let mut input_layouts = vec![
        library.registry.activation_layout(source, MemDesc::copy_of(src_md.0)?)?,
        library.registry.weights_layout(MemDesc::copy_of(weights_md.0)?, &weights_sizes)?,
    ];
    if has_bias {
        arguments.push(Argument { arg: sys::DNNL_ARG_BIAS, slot: Slot::Input(2), md: Arc::new(bias) });
        input_layouts.push(Layout::RowMajor);
    }
    let output_layouts = vec![library.registry.activation_layout(&call.outputs[0], MemDesc::copy_of(dst_md.0)?)?];
    let (kernel, scratch_bytes) = PrimitiveKernel::new(library, &pd, arguments)?;
    Ok(Prepared { input_layouts, output_layouts, scratch_bytes, can_run_inplace: false, kernel })
}
