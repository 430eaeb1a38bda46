//! Copies between layouts, and between floating-point types.

use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{Dims, MemDesc};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::{Kernel, OpCall, TensorDesc};
use mxrs_types::{DType, Layout, Result};
use std::sync::Arc;

/// Returns the descriptors of source and destination. If one of them is packed weights with groups, it has an axis for the
/// groups in addition to the tensor's axes. Then the other one is also viewed with that axis.
fn ends(library: &Arc<Library>, from: &TensorDesc, to: &TensorDesc) -> Result<(Arc<MemDesc>, Arc<MemDesc>)> {
    let (a, b) = (library.md(from)?, library.md(to)?);
    let sizes = |md: &MemDesc| -> Result<Dims> {
        let n = md.number(sys::dnnl_query_ndims_s32)? as usize;
        md.sizes(sys::dnnl_query_dims, n)
    };
    let (from_sizes, to_sizes) = (sizes(&a)?, sizes(&b)?);
    if from_sizes == to_sizes {
        return Ok((a, b));
    }
    match (&from.layout, &to.layout) {
        (Layout::RowMajor, _) => Ok((Arc::new(MemDesc::dense(&to_sizes, from.dtype)?), b)),
        (_, Layout::RowMajor) => Ok((a, Arc::new(MemDesc::dense(&from_sizes, to.dtype)?))),
        _ => Ok((Arc::new(a.reshape(&to_sizes)?), b)),
    }
}

fn build(library: &Arc<Library>, from: &TensorDesc, to: &TensorDesc) -> Result<Arc<PrimitiveKernel>> {
    let (src, dst) = ends(library, from, to)?;
    let pd = library.prim_desc(|out| {
        // SAFETY: the out pointer is valid, and both descriptors are alive during the call.
        unsafe {
            // The memory plan has no scratch memory for reorders, so oneDNN allocates what they need.
            let (engine, attributes) = (library.engine(), std::ptr::null());
            result::reorder_primitive_desc_create(out, src.0, engine, dst.0, engine, attributes)
        }
    })?;
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_FROM, slot: Slot::Input(0), md: src },
        Argument { arg: sys::DNNL_ARG_TO, slot: Slot::Output(0), md: dst },
    ];
    PrimitiveKernel::without_scratch(library, &pd, arguments).map(Arc::new)
}

/// Prepares a kernel that copies between layouts.
pub fn prepare(library: &Arc<Library>, from: &TensorDesc, to: &TensorDesc) -> Result<Arc<dyn Kernel>> {
    Ok(build(library, from, to)?)
}

/// Checks that both types of a Cast are floating-point types. Between these, oneDNN rounds to nearest, as MXNet does.
pub fn check_cast(call: &OpCall<'_>) -> std::result::Result<(), String> {
    let is_ours = |t: &TensorDesc| matches!(t.dtype, DType::F32 | DType::F16 | DType::BF16);
    if is_ours(&call.inputs[0]) && is_ours(&call.outputs[0]) {
        return Ok(());
    }
    Err(format!("Cast from {} to {}", call.inputs[0].dtype, call.outputs[0].dtype))
}

/// Prepares `_backward_cast(ograd, data)`. Only the dtype of data is used.
pub fn prepare_cast_back(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let mut prepared = prepare_cast(library, call)?;
    prepared.input_layouts.extend(call.inputs[1..].iter().map(|t| t.layout.clone()));
    Ok(prepared)
}

/// Prepares a Cast.
pub fn prepare_cast(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let kernel = build(library, &call.inputs[0].with_layout(Layout::RowMajor), &call.outputs[0])?;
    Ok(Prepared {
        input_layouts: vec![Layout::RowMajor],
        output_layouts: vec![Layout::RowMajor],
        scratch_bytes: 0,
        can_run_inplace: false,
        kernel,
    })
}
