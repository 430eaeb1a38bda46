//! Convolutions and fully-connected layers in bfloat16, forward. Products are exact and summed in float32; bias, sum and
//! bounds are applied in float32, and the result is rounded once.

use super::data_gradient;
use super::finish::Rule;
use super::geometry::Problem;
use super::layer::{Channels, Layer, plan};
use super::problem::{dense_of, image, in_groups, is_depthwise};
use super::unit::{Factors, Unit};
use super::{Build, Context};
use crate::choose::Algorithm;
use crate::epilogue::Epilogue;
use crate::problem::ConvProblem;
use half::bf16;
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::fused::convolution::SgConvParams;
use mxrs_ops::fused::fully_connected::SgFullyConnectedParams;
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_ops::nn::fully_connected::FullyConnectedParams;
use mxrs_types::bfloat16::widen;
use mxrs_types::{DType, Result};

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if another
/// module handles the call.
pub fn look_at<'a>(call: &'a OpCall<'a>, context: &Context) -> Option<Result<Build<'a>, String>> {
    if call.inputs.first().is_none_or(|data| data.dtype != DType::BF16) || call.is_train && !context.trains() {
        return None;
    }
    let unit = Unit::of(Factors::Bf16, context.isa);
    if !unit.beats_float32() {
        return None;
    }
    let mut groups = 1;
    let (product, epilogue): (Result<Problem, String>, _) = match call.op.name {
        "Convolution" | "_sg_conv" => {
            let (p, epilogue) = match call.op.name {
                "Convolution" => {
                    let p = call.params.get::<ConvolutionParams>();
                    (p, Ok(Epilogue::plain(p.no_bias)))
                }
                _ => {
                    let SgConvParams { product, epilogue } = call.params.get();
                    (product, Epilogue::fused(product.no_bias, epilogue, call))
                }
            };
            // Without matrix units, Winograd's algorithms in float32 are faster.
            let in_tiles =
                || ConvProblem::of(p, call).is_ok_and(|p| !Algorithm::allowed(&p, &context.options).is_empty());
            if !unit.is_matrix() && in_tiles() {
                return None;
            }
            groups = p.num_group;
            (image(p, call), epilogue)
        }
        "FullyConnected" => (dense_of(call), Ok(Epilogue::plain(call.params.get::<FullyConnectedParams>().no_bias))),
        "_sg_fully_connected" => {
            let SgFullyConnectedParams { product, epilogue } = call.params.get();
            (dense_of(call), Epilogue::fused(product.no_bias, epilogue, call))
        }
        _ => return None,
    };
    if epilogue.as_ref().is_ok_and(|epilogue| epilogue.function.is_some()) {
        return None;
    }
    let tensors = || call.inputs.iter().chain(call.outputs);
    if let Some(other) = tensors().find(|t| t.dtype != DType::BF16) {
        return Some(Err(format!("no kernel for {} together with bfloat16", other.dtype)));
    }
    let is_image = matches!(call.op.name, "Convolution" | "_sg_conv");
    if call.is_train {
        // A network trains in bfloat16 only if the gradients of its convolutions have kernels too.
        let form = product.as_ref().map_err(Clone::clone).and_then(|p| data_gradient::form(p, groups));
        if form.is_err() {
            return None;
        }
    }
    let context = context.clone();
    Some(product.and_then(|problem| epilogue.map(|epilogue| (problem, epilogue))).map(|(problem, epilogue)| {
        let layer = Layer {
            problem: in_groups(problem, groups),
            factors: Factors::Bf16,
            rule: Rule::Bf16,
            sum: epilogue.sum,
            bounds: epilogue.bounds,
            is_image,
            is_depthwise: is_depthwise(&problem, groups),
            groups,
        };
        Box::new(move || plan(call, &layer, Bias(epilogue.bias), &context)) as Build<'a>
    }))
}

/// The position of a bias in bfloat16.
struct Bias(Option<usize>);

impl Channels for Bias {
    fn fill(&self, args: &KernelArgs<'_>, scales: &mut [f32], bias: &mut [f32]) -> f32 {
        scales.fill(1.0);
        if let Some(input) = self.0 {
            // SAFETY: this is an input of the running call that no output may share memory with, so nothing writes it during
            // the call.
            let values = bytemuck::cast_slice::<u8, bf16>(unsafe { args.inputs[input].bytes() });
            bias.iter_mut().zip(values).for_each(|(to, x)| *to = widen(*x));
        }
        1.0
    }

    fn write_others(&self, _: &KernelArgs<'_>) -> Result<()> {
        Ok(())
    }
}
