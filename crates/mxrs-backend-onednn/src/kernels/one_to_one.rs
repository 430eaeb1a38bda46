//! Primitives with one input and one output. The input keeps its layout, or is first copied to another layout. The output is
//! in the layout that the primitive chooses. The hidden outputs that follow it are not computed, because this backend's
//! gradients do not use them.

use super::arranged::Arranged;
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::MemDesc;
use crate::primitive::{Argument, PrimitiveKernel, Redescribe, Slot};
use crate::scratch::ScratchPlan;
use mxrs_onednn_sys::sys;
use mxrs_op::OpCall;
use mxrs_types::{Layout, Result};
use std::sync::Arc;

/// Prepares the primitive for data in this arrangement. `redescribe` describes the primitive for an output in another
/// arrangement.
///
/// # Errors
/// The error that oneDNN reports.
pub fn prepare(
    library: &Arc<Library>,
    call: &OpCall<'_>,
    data: Arranged,
    redescribe: Option<Arc<Redescribe>>,
) -> Result<Prepared> {
    let Arranged { md: src, layout, pd } = data;
    let dst = Arc::new(pd.required_md(sys::dnnl_query_dst_md, 0)?);
    let mut output_layouts = vec![library.registry.activation_layout(&call.outputs[0], MemDesc::copy_of(dst.0)?)?];
    output_layouts.resize(call.outputs.len(), Layout::RowMajor);
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(0), md: src },
        Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md: dst },
    ];
    let mut scratch = ScratchPlan::default();
    let mut kernel = PrimitiveKernel::in_scratch(library, &pd, arguments, &mut scratch)?;
    if let Some(redescribe) = redescribe {
        kernel = kernel.redescribed_by(redescribe);
    }
    Ok(Prepared {
        input_layouts: vec![layout],
        output_layouts,
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: false,
        kernel: Arc::new(kernel),
    })
}
