//! Primitives from one tensor, in the layout it arrives in, to one in the layout they choose. Hidden outputs behind it are
//! not made: the gradients do not ask for them.

use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{MemDesc, PrimDesc};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::sys;
use mxrs_op::OpCall;
use mxrs_types::{Layout, Result};
use std::sync::Arc;

/// Builds the primitive of `pd`, which reads `src`.
///
/// # Errors
/// What oneDNN reports.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>, pd: &PrimDesc, src: Arc<MemDesc>) -> Result<Prepared> {
    let dst = Arc::new(pd.required_md(sys::dnnl_query_dst_md, 0)?);
    let mut output_layouts = vec![library.registry.activation_layout(&call.outputs[0], MemDesc::copy_of(dst.0)?)?];
    output_layouts.resize(call.outputs.len(), Layout::RowMajor);
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(0), md: src },
        Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md: dst },
    ];
    let (kernel, scratch_bytes) = PrimitiveKernel::new(library, pd, arguments)?;
    Ok(Prepared {
        input_layouts: vec![call.inputs[0].layout.clone()],
        output_layouts,
        scratch_bytes,
        can_run_inplace: false,
        kernel,
    })
}
