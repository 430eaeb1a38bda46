//! Batch normalization in training on bfloat16, with ReLU or without: forward, recomputation of its output, and backward.
//! Parameters and statistics are float32.
//!
//! Pixels with all their channels are contiguous: images have channels last. A fixed number of parts of the pixels is summed,
//! the sums are added in the order of the parts, and then every part is written. So results have the same bits on any number of
//! threads. The gradient derives from the data which values ReLU let through.

mod kernels;
mod loops;

use super::level::Level;
use super::{Build, Context};
use crate::layouts::channels_last;
use mxrs_op::OpCall;
use mxrs_ops::fused::bn_relu_training::{BACKWARD, FORWARD, RECOMPUTE};
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_types::{DType, Layout, Result};

/// The operator without ReLU, and its gradient.
const PLAIN: &str = "BatchNorm";
const PLAIN_BACKWARD: &str = "_backward_BatchNorm";

/// Sizes of the data, the settings, and the resources.
#[derive(Clone, Copy)]
struct Problem {
    pixels: usize,
    channels: usize,
    eps: f64,
    momentum: f64,
    fix_gamma: bool,
    /// Whether ReLU follows.
    relu: bool,
    /// Whether the statistics are those of the batch, not the moving ones.
    uses_batch: bool,
    level: Level,
    threads: usize,
}

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if another
/// module handles the call.
pub fn look_at<'a>(call: &'a OpCall<'a>, context: &Context) -> Option<Result<Build<'a>, String>> {
    let data_at = match call.op.name {
        FORWARD | RECOMPUTE => 0,
        PLAIN if call.is_train => 0,
        BACKWARD | PLAIN_BACKWARD => 1,
        _ => return None,
    };
    let data = call.inputs.get(data_at).filter(|data| data.dtype == DType::BF16)?;
    let p = call.params.get::<BatchNormParams>();
    let axis = data.shape.axis(i64::from(p.axis)).ok()?;
    let layout = match data.shape[..] {
        _ if axis + 1 == data.shape.ndim() => Layout::RowMajor,
        [n, c, h, w] if axis == 1 => channels_last([n, c, h, w]),
        _ => return Some(Err(format!("no kernel for channels of bfloat16 along axis {axis}"))),
    };
    if data.shape.n_elements() == 0 {
        return Some(Err("no kernel for tensors without elements".into()));
    }
    let channels = data.shape[axis];
    let problem = Problem {
        pixels: data.shape.n_elements() / channels,
        channels,
        eps: p.eps,
        momentum: f64::from(p.momentum),
        fix_gamma: p.fix_gamma,
        relu: ![PLAIN, PLAIN_BACKWARD].contains(&call.op.name),
        uses_batch: p.uses_batch(call.is_train),
        level: Level::of(context.isa),
        threads: context.threads.max(1),
    };
    Some(Ok(Box::new(move || Ok(kernels::plan(call, problem, &layout)))))
}
