//! Sums, differences, products and quotients of two tensors of one shape, in the layout of the tensor that is not
//! row-major.

use crate::cache::Prepared;
use crate::library::Library;
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::{OpCall, View};
use mxrs_types::{Layout, Result};
use std::sync::Arc;

/// Checks that the gradient of a Dropout can be computed as the output's gradient times the mask: the Dropout drops
/// elements, and no elements share an entry of the mask.
pub fn check_mask(call: &OpCall<'_>) -> std::result::Result<(), String> {
    match call.inputs {
        [ograd, mask] if ograd.shape == mask.shape && (call.op.view)(call.params, call.is_train) == View::No => Ok(()),
        _ => Err("no kernel without a mask, or with a mask that several elements share".into()),
    }
}

/// Prepares the call.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let algorithm = match call.op.name {
        "elemwise_sub" => sys::dnnl_binary_sub,
        "elemwise_mul" | "_backward_Dropout" => sys::dnnl_binary_mul,
        "elemwise_div" => sys::dnnl_binary_div,
        _ => sys::dnnl_binary_add,
    };
    // Both operands and the result have one layout. If the layouts of the operands differ, one operand is reordered.
    let leader = call.inputs.iter().find(|t| !t.layout.is_row_major()).unwrap_or(&call.inputs[0]);
    let md = library.md(leader)?;
    let pd = library.prim_desc(|out| {
        // SAFETY: `md` and the attributes are alive during the call, and the out pointer is valid.
        unsafe {
            result::binary_primitive_desc_create(
                out,
                library.engine(),
                algorithm,
                md.0,
                md.0,
                md.0,
                library.attributes(),
            )
        }
    })?;
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_SRC_0, slot: Slot::Input(0), md: md.clone() },
        Argument { arg: sys::DNNL_ARG_SRC_1, slot: Slot::Input(1), md: md.clone() },
        Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md },
    ];
    let layout = &leader.layout;
    let prepared = PrimitiveKernel::prepare(library, &pd, arguments, vec![layout.clone(); 2], vec![layout.clone()])?;
    // If the layout has padding, oneDNN may clear the output before it reads the second operand, so they must not be
    // the same memory.
    let can_run_inplace = leader.size_bytes() == leader.with_layout(Layout::RowMajor).size_bytes();
    Ok(Prepared { can_run_inplace, ..prepared })
}
