//! Recurrent layers (`RNN`) and their gradients, in float32: the modes `rnn_relu`, `rnn_tanh`, `lstm` and `gru`, with layers
//! and directions.
//!
//! The input's part of all gates of all steps is one product per gate. Each step then adds the product of the state with a
//! weight that is packed once per call, applies the gates' functions, and writes the new state. Threads share the hidden
//! units of a step: a thread computes all gates of its units, so the threads wait for each other once per step. If the steps
//! are small, each direction runs on a thread of its own.
//!
//! A row of gates has one part per gate, padded to whole blocks of 16 units ([`problem`]). A GRU has a fourth part: the state's
//! part of its new gate. Where the sums of gates have padding it is 0, and so it stays 0 in states and in gradients as long as
//! the numbers are finite. So the loops need no ends.
//!
//! `RNN` keeps nothing for its gradient. So the gradient first runs all layers forward and keeps gates and states, then goes
//! back over the steps. It writes the gradients of the gates over the gates. The gradients of weights are products over all
//! steps together.
//!
//! Calls with sequences of different lengths, a projection, or bounds of the cell state are refused, and so is dropout in
//! training.
//!
//! Read next: `layers.rs` for the forward pass, `gradient.rs` for the way back.

mod cells;
mod forward;
mod gradient;
mod layers;
mod places;
mod problem;
mod steps;

use crate::blocks::Build;
use crate::convolve::Operands;
use crate::epilogue::Bounds;
use crate::layouts::NAME;
use crate::low_precision::requests::Written;
use forward::Forward;
use gradient::Backward;
use mxrs_op::{Kernel, OpCall, PlannedKernel};
use mxrs_ops::recurrent::rnn::RnnMode;
use mxrs_processor::Isa;
use mxrs_types::Layout;
use problem::Problem;
use std::sync::Arc;

/// The operators.
const FORWARD: &str = "RNN";
const BACKWARD: &str = "_backward_RNN";

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if the
/// operator is not one of this module.
pub fn look_at<'a>(call: &'a OpCall<'a>, isa: Isa, threads: usize) -> Option<Result<Build<'a>, String>> {
    if ![FORWARD, BACKWARD].contains(&call.op.name) {
        return None;
    }
    let problem = Problem::of(call, call.op.name == BACKWARD, threads);
    Some(problem.map(|problem| -> Build<'a> { Box::new(move || planned(call, problem, isa)) }))
}

fn planned(call: &OpCall<'_>, problem: Problem, isa: Isa) -> PlannedKernel {
    let output_layouts = vec![Layout::RowMajor; call.outputs.len()];
    let written = Written::all(call.outputs, &output_layouts);
    let mode = match problem.mode {
        RnnMode::Relu => "rnn_relu",
        RnnMode::Tanh => "rnn_tanh",
        RnnMode::Lstm => "lstm",
        RnnMode::Gru => "gru",
    };
    let name = |what: &str| format!("{NAME}:{mode}{what}:{}:{}", isa.name(), problem.threads);
    let (scratch_bytes, kernel): (usize, Arc<dyn Kernel>) = if call.op.name == BACKWARD {
        let kernel = Backward::new(name("_gradient"), written, problem, isa);
        (kernel.scratch_bytes(), Arc::new(kernel))
    } else {
        let kernel = Forward::new(name(""), written, problem, isa);
        (kernel.scratch_bytes(), Arc::new(kernel))
    };
    PlannedKernel {
        input_layouts: vec![Layout::RowMajor; call.inputs.len()],
        output_layouts,
        scratch_bytes,
        can_run_inplace: false,
        kernel,
    }
}

/// The operands of a product of matrices.
fn operands([src, weights, bias]: [*const f32; 3], dst: *mut f32, scratch: *mut f32) -> Operands {
    let sum = std::ptr::null();
    Operands { src, weights, bias, sum, dst, dst_image_stride: None, scratch, bounds: Bounds::NONE }
}
