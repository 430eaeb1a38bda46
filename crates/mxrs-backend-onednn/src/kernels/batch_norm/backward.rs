//! Gradients of BatchNorm for data, gamma and beta, from the statistics that are outputs of the forward call.
//!
//! The forward call returns the inverse standard deviation, but oneDNN reads a variance. This kernel computes the variance
//! from the deviation, and passes it with an epsilon of 0.

use super::super::wrong_arity;
use crate::accumulate::Written;
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{MemDesc, dims};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use crate::scratch::{FloatPart, ScratchPlan};
use crate::sequence::{Sequence, Step};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_types::{DType, Layout, Result};
use std::sync::Arc;

/// Checks that this kernel supports the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    let [_, data, per_channel @ ..] = call.inputs else { return Err("the call lacks inputs".into()) };
    super::check_axis(call.params.get::<BatchNormParams>(), data)?;
    if per_channel.iter().any(|t| t.dtype != DType::F32) {
        return Err("the statistics are not float32".into());
    }
    Ok(())
}

/// Computes variances from the inverse standard deviations in input 4.
fn write_variances(args: &KernelArgs<'_>, variance: FloatPart) {
    // SAFETY: this is an input of the running call. It is not one of the inputs that an output may share memory with,
    // and scratch memory does not overlap it.
    let inverse: &[f32] = bytemuck::cast_slice(unsafe { args.inputs[4].bytes() });
    // SAFETY: `prepare` planned the scratch memory with this part, no other slice of it exists, and the primitive runs
    // only after these values are written.
    for (v, i) in unsafe { variance.of(args) }.iter_mut().zip(inverse) {
        *v = f64::from(*i).powi(-2) as f32;
    }
}

/// Prepares `_backward_BatchNorm(ograd, data, gamma, mean, inverse deviation) -> data, gamma, beta`.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let p = call.params.get::<BatchNormParams>();
    let ([ograd, data, _, _, _, ..], [_, _, _]) = (call.inputs, call.outputs) else { return Err(wrong_arity(call)) };
    let channels = data.shape[1];
    // Data, its gradient and the gradient of the output must have the same layout. An input in another layout is copied.
    let leader = if data.layout.is_row_major() { ograd } else { data };
    let layout = leader.layout.clone();
    let md = library.md(leader)?;
    let global = if p.uses_batch(call.is_train) { 0 } else { sys::dnnl_use_global_stats };
    let scale = if p.fix_gamma { 0 } else { sys::dnnl_use_scale };
    let flags = global | scale | sys::dnnl_use_shift;
    let hint = library.prim_desc(|out| {
        // SAFETY: `md` and the attributes are alive during the call, and the out pointer is valid.
        unsafe {
            result::batch_normalization_forward_primitive_desc_create(
                out,
                library.engine(),
                sys::dnnl_forward_training,
                md.0,
                md.0,
                0.0,
                flags,
                library.attributes(),
            )
        }
    })?;
    let pd = library.prim_desc(|out| {
        // SAFETY: the out pointer is valid, and the descriptors, the hint and the attributes are alive during the call.
        unsafe {
            result::batch_normalization_backward_primitive_desc_create(
                out,
                library.engine(),
                sys::dnnl_backward,
                md.0,
                md.0,
                md.0,
                0.0,
                flags,
                hint.0,
                library.attributes(),
            )
        }
    })?;
    let mut scratch = ScratchPlan::default();
    let variance = FloatPart::new(&mut scratch, channels);
    let channel = Arc::new(MemDesc::dense(&dims([channels]), DType::F32)?);
    let mut arguments = vec![
        Argument { arg: sys::DNNL_ARG_DIFF_DST, slot: Slot::Input(0), md: md.clone() },
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(1), md: md.clone() },
        Argument { arg: sys::DNNL_ARG_MEAN, slot: Slot::Input(3), md: channel.clone() },
        Argument { arg: sys::DNNL_ARG_VARIANCE, slot: Slot::Scratch(variance.start), md: channel.clone() },
        Argument { arg: sys::DNNL_ARG_DIFF_SRC, slot: Slot::Output(0), md },
        Argument { arg: sys::DNNL_ARG_DIFF_SHIFT, slot: Slot::Output(2), md: channel.clone() },
    ];
    let mut written = Vec::new();
    if p.fix_gamma {
        written.push(Written::of(1, &channel)?);
    } else {
        arguments.push(Argument { arg: sys::DNNL_ARG_SCALE, slot: Slot::Input(2), md: channel.clone() });
        arguments.push(Argument { arg: sys::DNNL_ARG_DIFF_SCALE, slot: Slot::Output(1), md: channel });
    }
    let fix_gamma = p.fix_gamma;
    let before = move |args: &KernelArgs<'_>| {
        write_variances(args, variance);
        if fix_gamma {
            // SAFETY: this is an output of the running call, and no other slice of it exists. If gamma is fixed, the
            // primitive does not write it.
            unsafe { args.outputs[1].bytes_mut() }.fill(0);
        }
        Ok(())
    };
    let primitive = PrimitiveKernel::in_scratch(library, &pd, arguments, &mut scratch)?;
    let steps = vec![Step::Code(Box::new(before)), Step::Primitive(primitive)];
    let mut input_layouts: Vec<Layout> = call.inputs.iter().map(|t| t.layout.clone()).collect();
    input_layouts[..2].fill(layout.clone());
    input_layouts[2..5].fill(Layout::RowMajor);
    Ok(Prepared {
        input_layouts,
        output_layouts: vec![layout, Layout::RowMajor, Layout::RowMajor],
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: true,
        kernel: Arc::new(Sequence::new(steps, written)),
    })
}
