//! BatchNorm in any layout. At inference, here: scale and shift per channel from the running statistics.

pub mod backward;
pub mod training;

use super::Prepare;
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{MemDesc, dims};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::{OpCall, TensorDesc};
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_types::{DType, Layout, Result};
use std::sync::Arc;

/// Who prepares the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<Prepare, String> {
    let p = call.params.get::<BatchNormParams>();
    check_axis(p, &call.inputs[0])?;
    if call.inputs[1..].iter().any(|t| t.dtype != DType::F32) {
        return Err("statistics that are not float32".into());
    }
    // Without training nobody reads the statistics unless they are visible.
    if call.is_train || p.output_mean_var { Ok(training::prepare) } else { Ok(prepare) }
}

/// Whether the channels are where oneDNN has them.
fn check_axis(p: &BatchNormParams, data: &TensorDesc) -> std::result::Result<(), String> {
    if p.axis != 1 || data.shape.ndim() < 2 {
        return Err(format!("axis {} of data of shape {}", p.axis, data.shape));
    }
    Ok(())
}

/// Builds the primitive.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let p = call.params.get::<BatchNormParams>();
    let channels = dims([call.inputs[0].shape[1]]);
    let src = library.md(&call.inputs[0])?;
    // With fix_gamma the stored gamma is kept in the file and ignored here.
    let scale = if p.fix_gamma { 0 } else { sys::dnnl_use_scale };
    let flags = sys::dnnl_use_global_stats | sys::dnnl_use_shift | scale;
    let pd = library.prim_desc(|out| {
        // SAFETY: the descriptors outlive the call.
        unsafe {
            result::batch_normalization_forward_primitive_desc_create(
                out,
                library.engine(),
                sys::dnnl_forward_inference,
                src.0,
                src.0,
                p.eps as f32,
                flags,
                library.attributes(),
            )
        }
    })?;
    let channel = || MemDesc::dense(&channels, DType::F32).map(Arc::new);
    let mut arguments = vec![
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(0), md: src.clone() },
        Argument { arg: sys::DNNL_ARG_SHIFT, slot: Slot::Input(2), md: channel()? },
        Argument { arg: sys::DNNL_ARG_MEAN, slot: Slot::Input(3), md: channel()? },
        Argument { arg: sys::DNNL_ARG_VARIANCE, slot: Slot::Input(4), md: channel()? },
        Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md: src },
    ];
    if !p.fix_gamma {
        arguments.push(Argument { arg: sys::DNNL_ARG_SCALE, slot: Slot::Input(1), md: channel()? });
    }
    let mut input_layouts = vec![Layout::RowMajor; call.inputs.len()];
    input_layouts[0] = call.inputs[0].layout.clone();
    let mut output_layouts = vec![Layout::RowMajor; call.outputs.len()];
    output_layouts[0] = call.inputs[0].layout.clone();
    let (kernel, scratch_bytes) = PrimitiveKernel::new(library, &pd, arguments)?;
    Ok(Prepared { input_layouts, output_layouts, scratch_bytes, can_run_inplace: true, kernel })
}
