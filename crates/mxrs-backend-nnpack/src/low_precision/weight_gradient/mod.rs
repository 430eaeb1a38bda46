//! The gradient of the weights of convolutions and fully-connected layers in bfloat16, on matrix units.
//!
//! The sums are over pixels, but in memory the channels of one pixel are neighbors, not the pixels of one channel. So a
//! strip of pixels is packed into the second-level cache: one operand transposed, the other with pairs of pixels next to
//! each other. All taps of a window read the same packed data at different offsets ([`lines`]). An item of work keeps its
//! sums in the cache while it processes all strips. If there are few weights and many pixels, the pixels are cut into
//! parts, whose sums are added in their order.
//!
//! The transposed operand is the output's gradient, because the data need a copy for each phase of a stride. For windows of
//! one pixel it is the operand with fewer channels. Data of few channels are row-major: each tap of each channel is a row
//! of the left operand, which is copied from a plane ([`planes`]).

mod lines;
mod multiply;
mod packing;
mod planes;
mod sizes;
mod store;
mod sums;

use super::geometry::Problem;
use super::problem::{dense, has_gradients, image_of};
use super::requests::{Written, meet};
use super::{Build, Context};
use crate::layouts::{NAME, channels_last};
use mxrs_op::{Kernel, KernelArgs, OpCall, PlannedKernel};
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_types::{DType, Layout, Result};
use std::sync::Arc;
use sums::WeightSums;

/// Data with fewer channels than this are read plane by plane.
const FEW_CHANNELS: usize = 16;

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if another
/// module handles the call.
pub fn look_at<'a>(call: &'a OpCall<'a>, context: &Context) -> Option<Result<Build<'a>, String>> {
    let is_image = match call.op.name {
        "_backward_Convolution_weight" => true,
        "_backward_FullyConnected_weight" => false,
        _ => return None,
    };
    let ([ograd, data, ..], [weight]) = (call.inputs, call.outputs) else { return None };
    let is_sum = matches!(weight.dtype, DType::BF16 | DType::F32);
    if !context.trains() || !is_sum || [ograd, data].iter().any(|desc| desc.dtype != DType::BF16) {
        return None;
    }
    let problem = match is_image {
        true => {
            let params = call.params.get::<ConvolutionParams>();
            image_of(params, [data, weight, ograd]).and_then(|p| has_gradients(&p, params.num_group).map(|()| p))
        }
        false => dense(data, weight),
    };
    let context = context.clone();
    Some(problem.map(|p| Box::new(move || Ok(plan(call, &p, is_image, &context))) as Build<'a>))
}

struct WeightGradient {
    name: String,
    sums: WeightSums,
    written: Vec<Written>,
}

fn plan(call: &OpCall<'_>, p: &Problem, is_image: bool, context: &Context) -> PlannedKernel {
    let is_planes = is_image && p.c < FEW_CHANNELS;
    let image = |sizes| if is_image { channels_last(sizes) } else { Layout::RowMajor };
    let data = if is_planes { Layout::RowMajor } else { image([p.n, p.c, p.input[0], p.input[1]]) };
    let mut input_layouts = vec![image([p.n, p.k, p.output[0], p.output[1]]), data];
    // Only the shape of the last input is used, so it keeps its layout.
    input_layouts.extend(call.inputs.iter().skip(2).map(|desc| desc.layout.clone()));
    let output_layouts = vec![Layout::RowMajor];
    let sums = WeightSums::new(*p, is_planes, call.outputs[0].dtype, context.threads);
    PlannedKernel {
        scratch_bytes: sums.scratch_bytes(),
        can_run_inplace: false,
        kernel: Arc::new(WeightGradient {
            name: format!("{NAME}:weight_gradient_bf16:amx:{}", context.threads),
            written: Written::all(call.outputs, &output_layouts),
            sums,
        }),
        input_layouts,
        output_layouts,
    }
}

impl Kernel for WeightGradient {
    fn name(&self) -> &str {
        &self.name
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        meet(args, &self.written, |args| {
            let memory = sums::Memory {
                ograd: args.inputs[0].as_ptr().cast_const().cast(),
                data: args.inputs[1].as_ptr().cast_const().cast(),
                weights: args.outputs[0].as_ptr(),
                scratch: args.scratch.as_ptr(),
            };
            // SAFETY: the tensors belong to the running call and have the planned layouts, so nothing else writes them. The
            // scratch memory has the planned size.
            unsafe { self.sums.run(&memory, args.team) }
            Ok(())
        })
    }
}
