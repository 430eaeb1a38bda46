//! FullyConnected as an inner product: `[N, K] x [O, K]ᵀ + [O]`.

use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{MemDesc, dims};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_ops::nn::fully_connected::FullyConnectedParams;
use mxrs_types::{Layout, Result};
use std::sync::Arc;

/// Whether the call fits.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    if call.inputs[0].shape.ndim() < 1 || call.inputs[1].shape.ndim() != 2 {
        return Err(format!("data of shape {}", call.inputs[0].shape));
    }
    Ok(())
}

/// Builds the primitive.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let p = call.params.get::<FullyConnectedParams>();
    let (source, weights) = (&call.inputs[0], &call.inputs[1]);
    // Rows are everything but what the weights contract; data arrive row-major and are seen as a matrix.
    let (n_out, k) = (weights.shape[0], weights.shape[1]);
    let n = source.shape.n_elements() / k;
    let has_bias = !p.no_bias;

    let src = Arc::new(MemDesc::dense(&dims([n, k]), source.dtype)?);
    let weights_any = MemDesc::any(&dims([n_out, k]), weights.dtype)?;
    let bias = MemDesc::dense(&dims([n_out]), source.dtype)?;
    let dst = Arc::new(MemDesc::dense(&dims([n, n_out]), source.dtype)?);
    let pd = library.prim_desc(|out| {
        // SAFETY: every descriptor outlives the call; a null bias means none.
        unsafe {
            result::inner_product_forward_primitive_desc_create(
                out,
                library.engine(),
                sys::dnnl_forward_inference,
                src.0,
                weights_any.0,
                if has_bias { bias.0 } else { std::ptr::null() },
                dst.0,
                library.attributes(),
            )
        }
    })?;
    let weights_md = Arc::new(pd.required_md(sys::dnnl_query_weights_md, 0)?);
    let mut arguments = vec![
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(0), md: src },
        Argument { arg: sys::DNNL_ARG_WEIGHTS, slot: Slot::Input(1), md: weights_md.clone() },
        Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md: dst },
    ];
    let packed = library.registry.weights_layout(MemDesc::copy_of(weights_md.0)?, &dims([n_out, k]))?;
    let mut input_layouts = vec![Layout::RowMajor, packed];
    if has_bias {
        arguments.push(Argument { arg: sys::DNNL_ARG_BIAS, slot: Slot::Input(2), md: Arc::new(bias) });
        input_layouts.push(Layout::RowMajor);
    }
    let (kernel, scratch_bytes) = PrimitiveKernel::new(library, &pd, arguments)?;
    Ok(Prepared {
        input_layouts,
        output_layouts: vec![Layout::RowMajor],
        scratch_bytes,
        can_run_inplace: false,
        kernel,
    })
}
