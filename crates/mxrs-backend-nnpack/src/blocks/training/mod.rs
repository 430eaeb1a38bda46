//! Batch normalization with relu in training: forward, its output once more, and backward.
//!
//! Statistics and gradients of a channel take all images before any of them can be written. So a thread takes a block of 16
//! channels, goes through its plane of every image once to gather and once more to write: the second time much of it is
//! still in a cache. Sums are made plane by plane and added in the order of the images, whoever makes them: results are the
//! same bits on any number of threads.
//!
//! What the relu let through is computed anew from the data, by the very operations of the forward pass: the gradient needs
//! neither the output nor a mask.

mod again;
mod backward;
mod factors;
mod forward;
mod sums;
mod sweep;

use super::batch_norm::{Factors, Run, normalize};
use crate::Isa;
use crate::epilogue::Bounds;
use crate::layouts::{BLOCK, LARGE_BYTES, NAME, blocked, image};
use mxrs_op::{Kernel, OpCall, PlannedKernel};
use mxrs_ops::fused::bn_relu_training::{AGAIN, BACKWARD, FORWARD};
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_types::Layout;
use std::sync::Arc;

/// The tensor that is normalized, and how.
#[derive(Clone, Copy)]
struct Problem {
    n: usize,
    channels: usize,
    pixels: usize,
    eps: f64,
    momentum: f64,
    fix_gamma: bool,
    /// Whether statistics are those of the batch.
    uses_batch: bool,
    isa: Isa,
    threads: usize,
}

impl Problem {
    fn blocks(&self) -> usize {
        self.channels.div_ceil(BLOCK)
    }

    /// Numbers of one block of one image.
    fn plane(&self) -> usize {
        self.pixels * BLOCK
    }

    /// Whether the tensor does not fit into the caches, so that whoever reads it next finds it in memory only.
    fn is_large(&self) -> bool {
        self.n * self.blocks() * self.plane() * size_of::<f32>() > LARGE_BYTES
    }

    /// Where that begins.
    fn at(&self, n: usize, block: usize) -> usize {
        (n * self.blocks() + block) * self.plane()
    }

    /// A plane of data after normalization and relu, stored past the caches where they cannot hold the tensor.
    ///
    /// # Safety
    /// Both planes are of tensors of this problem, `dst` is the caller's, and is `src` or another tensor's.
    unsafe fn normalize(&self, src: *const f32, dst: *mut f32, factors: &Factors) {
        let past_caches = self.is_large() && !std::ptr::eq(src, dst);
        let run = Run { src, dst, len: self.plane(), factors, bounds: Bounds::RELU, past_caches };
        // SAFETY: the caller's promise; the code is for instructions that are there. Tensors and planes begin at cache lines.
        unsafe { normalize(self.isa)(&run) }
    }

    /// Channels of a block that exist: the first, and how many.
    fn channels_of(&self, block: usize) -> (usize, usize) {
        let first = block * BLOCK;
        (first, (self.channels - first).min(BLOCK))
    }
}

/// The kernel of a call, or why there is none; `None` where the operator is none of these.
pub fn plan(call: &OpCall<'_>, isa: Isa, threads: usize) -> Option<Result<PlannedKernel, String>> {
    let data_at = match call.op.name {
        FORWARD | AGAIN => 0,
        BACKWARD => 1,
        _ => return None,
    };
    Some(problem(call, data_at, isa, threads).map(|problem| planned(call, problem)))
}

fn problem(call: &OpCall<'_>, data_at: usize, isa: Isa, threads: usize) -> Result<Problem, String> {
    let p = call.params.get::<BatchNormParams>();
    let data = call.inputs.get(data_at).ok_or("a call without data")?;
    let [n, channels, h, w] = image(data).ok_or_else(|| format!("data of shape {}", data.shape))?;
    if data.shape.axis(i64::from(p.axis)) != Ok(1) {
        return Err(format!("channels along axis {}", p.axis));
    }
    if channels < BLOCK {
        return Err(format!("{channels} channels, less than a block"));
    }
    let uses_batch = p.uses_batch(call.is_train);
    let (eps, momentum, fix_gamma) = (p.eps, f64::from(p.momentum), p.fix_gamma);
    Ok(Problem { n, channels, pixels: h * w, eps, momentum, fix_gamma, uses_batch, isa, threads })
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
        FORWARD => {
            let rewrites = (call.op.rewrites)(call.params, call.is_train);
            let kernel = forward::Forward { name: name("bn_relu"), problem, rewrites };
            (1, sweep::scratch_bytes(&problem), false, Arc::new(kernel))
        }
        BACKWARD => {
            let kernel = backward::Backward::new(name("bn_relu_gradient"), problem);
            (2, sweep::scratch_bytes(&problem), true, Arc::new(kernel))
        }
        _ => (1, 0, false, Arc::new(again::kernel(name("bn_relu_again"), problem))),
    };
    PlannedKernel {
        input_layouts: layouts(call.inputs, n_images),
        output_layouts: layouts(call.outputs, 1),
        scratch_bytes,
        can_run_inplace,
        kernel,
    }
}
