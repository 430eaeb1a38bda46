//! The operators between convolutions, on blocks of channels. Each one is a single pass over its data.
//!
//! A kernel is a [`Pass`]: pieces, such as rows of a plane or tiles of pixels, which threads share; each piece is
//! written by one thread. Row-major data stay row-major where that costs nothing: batch normalization of the network's
//! input, and the result of a global pooling window. In training, batch normalization takes two passes over a
//! block at a time ([`training`]). The gradients of pooling and of local response normalization are single passes too.

mod batch_norm;
mod concat;
mod lrn;
mod lrn_gradient;
mod pass;
mod pooling;
mod pooling_gradient;
mod scale;
mod training;

pub use pass::Pass;
pub use training::put;

use crate::layouts::NAME;
use mxrs_op::{OpCall, PlannedKernel};
use mxrs_processor::Isa;
use mxrs_types::{DType, Layout};
use pass::PassKernel;
use std::sync::Arc;

/// Estimated time of a call relative to a vendor library. It is above 1, so that a vendor library is preferred if it
/// also reads blocks of channels.
pub const TIMES_LIBRARY: f64 = 1.5;

/// A function that prepares a kernel.
pub type Build<'a> = Box<dyn FnOnce() -> PlannedKernel + 'a>;

/// A call that this module has a kernel for, with the layouts of the kernel.
struct Fit {
    /// A function that prepares the pass.
    pass: Box<dyn FnOnce() -> Box<dyn Pass>>,
    /// The operator's name in traces.
    what: &'static str,
    /// Layout of the input `data_input`, or of all inputs of [`concat`] and [`lrn_gradient`]; the others are row-major.
    data: Layout,
    /// Layouts of all inputs, if `data` alone does not determine them.
    inputs: Option<Vec<Layout>>,
    /// Layout of the first output. Hidden outputs are row-major.
    out: Layout,
    /// Position of the input that `data` describes.
    data_input: usize,
    can_run_inplace: bool,
}

impl Fit {
    /// Describes a call whose kernel runs the pass that `pass` prepares. No output may overwrite an input.
    fn new<P: Pass + 'static>(
        what: &'static str,
        [data, out]: [Layout; 2],
        pass: impl FnOnce() -> P + 'static,
    ) -> Self {
        Self {
            pass: Box::new(move || Box::new(pass())),
            what,
            data,
            inputs: None,
            out,
            data_input: 0,
            can_run_inplace: false,
        }
    }
}

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if the
/// operator is not in this module.
pub fn look_at<'a>(call: &'a OpCall<'a>, isa: Isa, threads: usize) -> Option<Result<Build<'a>, String>> {
    if let Some(build) = training::look_at(call, isa, threads) {
        return Some(check_tensors(call).and(build));
    }
    let fit = match call.op.name {
        "Pooling" => pooling::fit,
        "_backward_Pooling" | "_backward_Pooling_average" => pooling_gradient::fit,
        "BatchNorm" | "_sg_bn_relu" => batch_norm::fit,
        "LRN" => lrn::fit,
        "_backward_LRN" => lrn_gradient::fit,
        "Concat" => concat::fit,
        "broadcast_mul" => scale::fit,
        _ => return None,
    };
    let fit = check(call).and_then(|()| fit(call, isa));
    Some(fit.map(|fit| -> Build<'a> { Box::new(move || planned(call, fit, isa, threads)) }))
}

fn check(call: &OpCall<'_>) -> Result<(), String> {
    // Pooling and LRN compute the same in training as at inference, because they keep nothing for their gradients. The
    // gradient of pooling finds the largest pixel of each window itself, and that of LRN computes the sums of squares
    // again.
    let trains = ["Pooling", "LRN"].contains(&call.op.name) || call.op.name.starts_with("_backward_");
    if call.is_train && !trains {
        return Err("no kernel for training".into());
    }
    check_tensors(call)
}

fn check_tensors(call: &OpCall<'_>) -> Result<(), String> {
    if call.inputs.is_empty() || call.outputs.is_empty() {
        return Err("the call lacks data".into());
    }
    let mut tensors = call.inputs.iter().chain(call.outputs);
    if let Some(other) = tensors.clone().find(|t| t.dtype != DType::F32) {
        return Err(format!("no kernel for {}", other.dtype));
    }
    if tensors.any(|t| t.shape.n_elements() == 0) {
        return Err("no kernel for tensors without elements".into());
    }
    Ok(())
}

fn planned(call: &OpCall<'_>, fit: Fit, isa: Isa, threads: usize) -> PlannedKernel {
    let is_data = |i: usize| i == fit.data_input || ["Concat", "_backward_LRN"].contains(&call.op.name);
    let of_input = |i: usize| match &fit.data {
        // Each input is blocked by its own number of channels.
        Layout::Blocked { .. } if is_data(i) => {
            crate::layouts::image(&call.inputs[i]).map_or(Layout::RowMajor, crate::layouts::blocked)
        }
        _ => Layout::RowMajor,
    };
    let mut output_layouts = vec![Layout::RowMajor; call.outputs.len()];
    output_layouts[0] = fit.out;
    PlannedKernel {
        input_layouts: fit.inputs.unwrap_or_else(|| (0..call.inputs.len()).map(of_input).collect()),
        output_layouts,
        scratch_bytes: 0,
        can_run_inplace: fit.can_run_inplace,
        kernel: Arc::new(PassKernel {
            name: format!("{NAME}:{}:{}:{threads}", fit.what, isa.name()),
            pass: (fit.pass)(),
            threads,
        }),
    }
}
