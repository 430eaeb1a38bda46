//! The gradient of LRN. Implementations that want a workspace get it from a second run of the forward primitive into
//! scratch memory.

use super::super::wrong_arity;
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::MemDesc;
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use crate::scratch::ScratchPlan;
use crate::sequence::{Sequence, Step};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_ops::nn::lrn::LrnParams;
use mxrs_types::Result;
use std::sync::Arc;

/// Whether the call fits.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    // oneDNN 3.14 crashes while it writes the code for it: `jit_avx512_common_lrn_kernel_bwd_nhwc_t::compute`.
    if call.params.get::<LrnParams>().nsize == 1 {
        return Err("nsize 1".into());
    }
    super::check(call)
}

/// Builds `_backward_LRN(ograd, data)`; everything follows the layout of data.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let [_, data] = call.inputs else { return Err(wrong_arity(call)) };
    let p = call.params.get::<LrnParams>();
    let md = library.md(data)?;
    let forward = super::forward(library, p, sys::dnnl_forward_training, &md)?;
    let pd = library.prim_desc(|out| {
        // SAFETY: the descriptors outlive the call.
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
                forward.0,
                library.attributes(),
            )
        }
    })?;
    let mut scratch = ScratchPlan::default();
    let mut steps = Vec::new();
    let mut back = vec![
        Argument { arg: sys::DNNL_ARG_DIFF_DST, slot: Slot::Input(0), md: md.clone() },
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(1), md: md.clone() },
        Argument { arg: sys::DNNL_ARG_DIFF_SRC, slot: Slot::Output(0), md: md.clone() },
    ];
    if let Some(workspace) = pd.md(sys::dnnl_query_workspace_md, 0)? {
        let workspace = Arc::new(workspace);
        let dst: Arc<MemDesc> = Arc::new(forward.required_md(sys::dnnl_query_dst_md, 0)?);
        let (out_at, workspace_at) = (scratch.add(dst.size_bytes()), scratch.add(workspace.size_bytes()));
        let again = vec![
            Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(1), md },
            Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Scratch(out_at), md: dst },
            Argument { arg: sys::DNNL_ARG_WORKSPACE, slot: Slot::Scratch(workspace_at), md: workspace.clone() },
        ];
        steps.push(Step::Primitive(PrimitiveKernel::in_scratch(library, &forward, again, &mut scratch)?));
        let slot = Slot::Scratch(workspace_at);
        back.push(Argument { arg: sys::DNNL_ARG_WORKSPACE, slot, md: workspace });
    }
    steps.push(Step::Primitive(PrimitiveKernel::in_scratch(library, &pd, back, &mut scratch)?));
    Ok(Prepared {
        input_layouts: vec![data.layout.clone(); 2],
        output_layouts: vec![data.layout.clone()],
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: false,
        kernel: Arc::new(Sequence::new(steps, Vec::new())),
    })
}
