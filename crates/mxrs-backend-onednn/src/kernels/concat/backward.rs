//! The gradient of Concat: copies the range of each input from the gradient of the output.

use super::super::wrong_arity;
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{Dims, MemDesc, shape_dims};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use crate::scratch::ScratchPlan;
use crate::sequence::{Sequence, Step};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::{OpCall, TensorDesc};
use mxrs_ops::shape::concat::ConcatParams;
use mxrs_types::{Layout, Result};
use std::sync::Arc;

/// Checks that this kernel supports the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    if call.inputs.len() != call.outputs.len() + 1 {
        return Err(format!("{} inputs for {} outputs", call.inputs.len(), call.outputs.len()));
    }
    super::check(call)
}

/// Prepares `_backward_Concat(ograd, arg0, arg1, …)`. Only the shapes of the arguments are used; each gradient has the
/// layout of its argument.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let [ograd, arguments @ ..] = call.inputs else { return Err(wrong_arity(call)) };
    // A range that would begin or end inside a block of channels is copied from a row-major copy of the gradient instead.
    build(library, call, ograd, arguments)
        .or_else(|_| build(library, call, &ograd.with_layout(Layout::RowMajor), arguments))
}

fn build(library: &Arc<Library>, call: &OpCall<'_>, ograd: &TensorDesc, arguments: &[TensorDesc]) -> Result<Prepared> {
    let axis = ograd.shape.axis(i64::from(call.params.get::<ConcatParams>().dim))?;
    let whole = library.md(ograd)?;
    let mut offsets = Dims::from_elem(0, ograd.shape.ndim());
    let mut scratch = ScratchPlan::default();
    let mut steps = Vec::with_capacity(arguments.len());
    for (i, argument) in arguments.iter().enumerate() {
        let sizes = shape_dims(&argument.shape);
        let from = Arc::new(whole.part(&sizes, &offsets)?);
        offsets[axis] += sizes[axis];
        let to = library.md(argument)?;
        let primitive = copy(library, from, to, i, &mut scratch)?;
        steps.push(Step::Part(primitive));
    }
    let mut input_layouts = vec![ograd.layout.clone()];
    input_layouts.extend(arguments.iter().map(|t| t.layout.clone()));
    Ok(Prepared {
        input_layouts,
        output_layouts: arguments.iter().map(|t| t.layout.clone()).collect(),
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: false,
        kernel: Arc::new(Sequence::new(steps, Vec::new())),
    })
}

/// Prepares a copy of a part of input 0 to output `i`.
fn copy(
    library: &Arc<Library>,
    from: Arc<MemDesc>,
    to: Arc<MemDesc>,
    i: usize,
    scratch: &mut ScratchPlan,
) -> Result<PrimitiveKernel> {
    let engine = library.engine();
    let pd = library.prim_desc(|out| {
        // SAFETY: the out pointer is valid, and both descriptors and the attributes are alive during the call.
        unsafe { result::reorder_primitive_desc_create(out, from.0, engine, to.0, engine, library.attributes()) }
    })?;
    let arguments = vec![
        Argument { arg: sys::DNNL_ARG_FROM, slot: Slot::Input(0), md: from },
        Argument { arg: sys::DNNL_ARG_TO, slot: Slot::Output(i), md: to },
    ];
    PrimitiveKernel::in_scratch(library, &pd, arguments, scratch)
}
