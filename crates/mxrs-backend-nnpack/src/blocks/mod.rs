//! Operators between convolutions, on blocks of channels: each is one pass over its data.
//!
//! A kernel is a [`Pass`]: pieces (rows of a plane, tiles of pixels) that threads share, each written by one thread. What is
//! in row-major order and fits as it is stays so: batch normalization of the network's data, what a global window leaves. In
//! training, batch normalization with relu takes two passes over a block at a time ([`training`]).

mod batch_norm;
mod concat;
mod lrn;
mod pass;
mod pooling;
mod training;

pub use pass::Pass;

use crate::Isa;
use crate::layouts::NAME;
use mxrs_op::{OpCall, PlannedKernel};
use mxrs_types::{DType, Layout};
use pass::PassKernel;
use std::sync::Arc;

/// What a call costs: more than a vendor library's, which knows blocks of channels too, and less than any other's.
pub const COST: f64 = 1.5;

/// A pass with the layouts it wants.
struct Fit {
    pass: Box<dyn Pass>,
    /// For traces.
    what: &'static str,
    /// Layout of the first input (of all inputs of [`concat`]); others are row-major.
    data: Layout,
    /// Of the first output; hidden ones are row-major, and nobody writes them.
    out: Layout,
    can_run_inplace: bool,
}

/// The kernel of a call, or why there is none; `None` where the operator is none of these.
pub fn plan(call: &OpCall<'_>, isa: Isa, threads: usize) -> Option<Result<PlannedKernel, String>> {
    if let Some(planned) = training::plan(call, isa, threads) {
        return Some(check_tensors(call).and(planned));
    }
    let fit = match call.op.name {
        "Pooling" => pooling::fit,
        "BatchNorm" | "_sg_bn_relu" => batch_norm::fit,
        "LRN" => lrn::fit,
        "Concat" => concat::fit,
        _ => return None,
    };
    Some(check(call).and_then(|()| fit(call, isa)).map(|fit| planned(call, fit, isa, threads)))
}

fn check(call: &OpCall<'_>) -> Result<(), String> {
    // Pooling is the same in training: its gradient looks for the largest cells itself.
    if call.is_train && call.op.name != "Pooling" {
        return Err("training".into());
    }
    check_tensors(call)
}

fn check_tensors(call: &OpCall<'_>) -> Result<(), String> {
    if call.inputs.is_empty() || call.outputs.is_empty() {
        return Err("a call without data".into());
    }
    let mut tensors = call.inputs.iter().chain(call.outputs);
    if let Some(other) = tensors.clone().find(|t| t.dtype != DType::F32) {
        return Err(format!("{} numbers", other.dtype));
    }
    if tensors.any(|t| t.shape.n_elements() == 0) {
        return Err("a tensor without elements".into());
    }
    Ok(())
}

fn planned(call: &OpCall<'_>, fit: Fit, isa: Isa, threads: usize) -> PlannedKernel {
    let is_data = |i: usize| i == 0 || call.op.name == "Concat";
    let of_input = |i: usize| match &fit.data {
        // Each part of a concatenation has blocks of its own.
        Layout::Blocked { .. } if is_data(i) => {
            crate::layouts::image(&call.inputs[i]).map_or(Layout::RowMajor, crate::layouts::blocked)
        }
        _ => Layout::RowMajor,
    };
    let mut output_layouts = vec![Layout::RowMajor; call.outputs.len()];
    output_layouts[0] = fit.out;
    PlannedKernel {
        input_layouts: (0..call.inputs.len()).map(of_input).collect(),
        output_layouts,
        scratch_bytes: 0,
        can_run_inplace: fit.can_run_inplace,
        kernel: Arc::new(PassKernel {
            name: format!("{NAME}:{}:{}:{threads}", fit.what, isa.name()),
            pass: fit.pass,
            threads,
        }),
    }
}
