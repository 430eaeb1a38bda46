//! Batch normalization in training, with ReLU or without: forward, recomputation of its output, and backward.
//!
//! The statistics and the gradient of a channel are sums over all images. No output can be written before these sums are
//! complete. So a thread takes a block of 16 channels and visits its plane of every image twice: first to sum, then to
//! write. In the second visit much of the data is still in a cache. Sums are made per plane and added in the order of
//! the images, so results have the same bits on any number of threads.
//!
//! The gradient needs neither the output nor a mask: it derives from the data which values ReLU let through, by exactly
//! the operations of the forward pass.

mod backward;
mod factors;
mod forward;
mod recompute;
mod sums;
mod sweep;

pub use forward::put;

use super::Build;
use super::batch_norm::{Factors, Run, normalize};
use crate::epilogue::Bounds;
use crate::layouts::{BLOCK, LARGE_BYTES, NAME, blocked, image};
use mxrs_op::{Kernel, OpCall, PlannedKernel};
use mxrs_ops::fused::bn_relu_training::{BACKWARD, FORWARD, RECOMPUTE};
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_processor::Isa;
use mxrs_types::Layout;
use std::sync::Arc;

/// The operator without ReLU, and its gradient.
const PLAIN: &str = "BatchNorm";
const PLAIN_BACKWARD: &str = "_backward_BatchNorm";

/// Sizes of the tensor that is normalized, the settings, and the resources.
#[derive(Clone, Copy)]
struct Problem {
    n: usize,
    channels: usize,
    pixels: usize,
    eps: f64,
    momentum: f64,
    fix_gamma: bool,
    /// Whether ReLU follows.
    relu: bool,
    /// Whether the statistics are those of the batch, not the moving ones.
    uses_batch: bool,
    isa: Isa,
    threads: usize,
}

impl Problem {
    fn blocks(&self) -> usize {
        self.channels.div_ceil(BLOCK)
    }

    /// Number of values of one block of one image.
    fn plane(&self) -> usize {
        self.pixels * BLOCK
    }

    /// Whether the tensor does not fit into the caches, so that its next reader finds it only in memory.
    fn is_large(&self) -> bool {
        self.n * self.blocks() * self.plane() * size_of::<f32>() > LARGE_BYTES
    }

    /// Index of the first value of a block of image `n`.
    fn at(&self, n: usize, block: usize) -> usize {
        (n * self.blocks() + block) * self.plane()
    }

    /// Normalizes a plane of data and applies ReLU if it follows. The stores bypass the caches if these cannot hold the
    /// tensor.
    ///
    /// # Safety
    /// `src` and `dst` must point to whole planes of tensors of this problem. No other thread may use the plane at
    /// `dst`. The two planes must be the same or not overlap.
    unsafe fn normalize(&self, src: *const f32, dst: *mut f32, factors: &Factors) {
        let bounds = if self.relu { Bounds::RELU } else { Bounds::NONE };
        let past_caches = self.is_large() && !std::ptr::eq(src, dst);
        let run = Run { src, dst, len: self.plane(), factors, bounds, past_caches };
        // SAFETY: both planes have `self.plane()` values, as `Run::len` says. `past_caches` holds only if the planes
        // differ; tensors are aligned to 64 bytes and a plane is a multiple of 64 bytes, so a plane begins at a cache
        // line and fills whole cache lines.
        unsafe { normalize(self.isa)(&run) }
    }

    /// The first channel of a block, and how many of its channels are not padding.
    fn channels_of(&self, block: usize) -> (usize, usize) {
        let first = block * BLOCK;
        (first, (self.channels - first).min(BLOCK))
    }
}

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if the
/// operator is not in this module.
pub fn look_at<'a>(call: &'a OpCall<'a>, isa: Isa, threads: usize) -> Option<Result<Build<'a>, String>> {
    let data_at = match call.op.name {
        FORWARD | RECOMPUTE => 0,
        PLAIN if call.is_train => 0,
        BACKWARD | PLAIN_BACKWARD => 1,
        _ => return None,
    };
    let problem = problem(call, data_at, isa, threads);
    Some(problem.map(|problem| -> Build<'a> { Box::new(move || planned(call, problem)) }))
}

fn problem(call: &OpCall<'_>, data_at: usize, isa: Isa, threads: usize) -> Result<Problem, String> {
    let p = call.params.get::<BatchNormParams>();
    let data = call.inputs.get(data_at).ok_or("the call lacks data")?;
    let [n, channels, h, w] = image(data).ok_or_else(|| format!("no kernel for data of shape {}", data.shape))?;
    if data.shape.axis(i64::from(p.axis)) != Ok(1) {
        return Err(format!("no kernel for channels along axis {}", p.axis));
    }
    if channels < BLOCK {
        return Err(format!("{channels} channels are less than a block"));
    }
    let uses_batch = p.uses_batch(call.is_train);
    let (eps, momentum, fix_gamma) = (p.eps, f64::from(p.momentum), p.fix_gamma);
    let relu = ![PLAIN, PLAIN_BACKWARD].contains(&call.op.name);
    Ok(Problem { n, channels, pixels: h * w, eps, momentum, fix_gamma, relu, uses_batch, isa, threads })
}

fn planned(call: &OpCall<'_>, problem: Problem) -> PlannedKernel {
    let layouts = |tensors: &[mxrs_op::TensorDesc], with_data: usize| -> Vec<Layout> {
        let layout = |(i, desc)| {
            if i < with_data { image(desc).map_or(Layout::RowMajor, blocked) } else { Layout::RowMajor }
        };
        tensors.iter().enumerate().map(layout).collect()
    };
    let name = |what: &str| format!("{NAME}:{what}:{}:{}", problem.isa.name(), problem.threads);
    let (n_images, scratch_bytes, can_run_inplace, kernel): (_, _, _, Arc<dyn Kernel>) = match call.op.name {
        FORWARD | PLAIN => {
            let rewrites = (call.op.rewrites)(call.params, call.is_train);
            let name = name(if problem.relu { "bn_relu" } else { "batch_norm" });
            let kernel = forward::Forward { name, problem, rewrites };
            (1, sweep::scratch_bytes(&problem), false, Arc::new(kernel))
        }
        BACKWARD | PLAIN_BACKWARD => {
            let name = name(if problem.relu { "bn_relu_gradient" } else { "batch_norm_gradient" });
            let kernel = backward::Backward::new(name, problem);
            (2, sweep::scratch_bytes(&problem), true, Arc::new(kernel))
        }
        _ => (1, 0, false, Arc::new(recompute::kernel(name("bn_relu_again"), problem))),
    };
    PlannedKernel {
        input_layouts: layouts(call.inputs, n_images),
        output_layouts: layouts(call.outputs, 1),
        scratch_bytes,
        can_run_inplace,
        kernel,
    }
}
