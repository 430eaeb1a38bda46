//! Pooling: maximum and average, in the layout the data arrive in.

use super::convolution::spatial;
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{Dims, MemDesc, shape_dims};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_op::param::Choice;
use mxrs_ops::nn::pooling::{PoolType, PoolingParams};
use mxrs_types::{Layout, Result};
use std::sync::Arc;

struct Window {
    kernel: Dims,
    strides: Dims,
    before: Dims,
    /// Padding at the end: what the output size asks for, negative when the last cells are not reached.
    after: Dims,
    /// The end padding the attributes ask for.
    declared: Dims,
}

fn window(call: &OpCall<'_>) -> Window {
    let p = call.params.get::<PoolingParams>();
    let sizes = shape_dims(&call.inputs[0].shape);
    let outs = shape_dims(&call.outputs[0].shape);
    let n = sizes.len() - 2;
    let kernel = if p.global_pool { sizes[2..].iter().copied().collect() } else { spatial(&p.kernel, n, 1) };
    let strides = if p.global_pool { Dims::from_elem(1, n) } else { spatial(&p.stride, n, 1) };
    let before = if p.global_pool { Dims::from_elem(0, n) } else { spatial(&p.pad, n, 0) };
    let after = (0..n).map(|i| (outs[i + 2] - 1) * strides[i] + kernel[i] - sizes[i + 2] - before[i]).collect::<Dims>();
    Window { declared: before.clone(), kernel, strides, before, after }
}

/// Whether the call fits.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    let p = call.params.get::<PoolingParams>();
    if let Some(layout) = p.layout
        && !layout.to_word().starts_with("NC")
    {
        return Err(format!("layout {}", layout.to_word()));
    }
    if call.inputs[0].shape.ndim() < 3 {
        return Err(format!("data of shape {}", call.inputs[0].shape));
    }
    let w = window(call);
    match p.pool_type {
        PoolType::Max => {}
        PoolType::Avg => {
            // A window that sticks out over the declared padding is divided by its clipped size, which oneDNN does not.
            if p.count_include_pad.unwrap_or(true) && w.after.iter().zip(&w.declared).any(|(a, d)| a > d) {
                return Err("an average over a clipped window".into());
            }
        }
        other => return Err(format!("pool_type {}", other.to_word())),
    }
    // oneDNN refuses windows that lie in the padding alone.
    if w.kernel.iter().zip(w.before.iter().zip(&w.after)).any(|(k, (b, a))| b >= k || a >= k) {
        return Err("padding as large as the window".into());
    }
    Ok(())
}

/// Builds the primitive.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let p = call.params.get::<PoolingParams>();
    let w = window(call);
    let algorithm = match (p.pool_type, p.count_include_pad.unwrap_or(true)) {
        (PoolType::Max, _) => sys::dnnl_pooling_max,
        (_, true) => sys::dnnl_pooling_avg_include_padding,
        (_, false) => sys::dnnl_pooling_avg_exclude_padding,
    };
    let dilation = Dims::from_elem(0, w.kernel.len());
    let src = library.md(&call.inputs[0])?;
    let dst_any = MemDesc::any(&shape_dims(&call.outputs[0].shape), call.outputs[0].dtype)?;
    let pd = library.prim_desc(|out| {
        // SAFETY: every descriptor and array outlives the call.
        unsafe {
            result::pooling_forward_primitive_desc_create(
                out,
                library.engine(),
                sys::dnnl_forward_inference,
                algorithm,
                src.0,
                dst_any.0,
                w.strides.as_ptr(),
                w.kernel.as_ptr(),
                dilation.as_ptr(),
                w.before.as_ptr(),
                w.after.as_ptr(),
                library.attributes(),
            )
        }
    })?;
    let dst = Arc::new(pd.required_md(sys::dnnl_query_dst_md, 0)?);
    let mut output_layouts = vec![library.registry.activation_layout(&call.outputs[0], MemDesc::copy_of(dst.0)?)?];
    // The hidden second output of maximum pooling is training's workspace; nothing writes it here.
    output_layouts.resize(call.outputs.len(), Layout::RowMajor);
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(0), md: src },
        Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md: dst },
    ];
    let (kernel, scratch_bytes) = PrimitiveKernel::new(library, &pd, arguments)?;
    Ok(Prepared {
        input_layouts: vec![call.inputs[0].layout.clone()],
        output_layouts,
        scratch_bytes,
        can_run_inplace: false,
        kernel,
    })
}
