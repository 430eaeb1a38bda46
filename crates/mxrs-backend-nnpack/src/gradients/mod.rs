//! Gradients of convolutions, on blocks of channels. The gradient of the data is itself a convolution. The gradient of
//! the weights is a sum over all pixels. There is also the gradient of an offset that is added to the data.
//!
//! The gradients read the layouts of the forward convolution, `nChw16c` (`nhwc` for Winograd's algorithms in bfloat16),
//! so a training graph keeps one layout from the first convolution to the last gradient. Costs are relative to the
//! gradients of a vendor library, as measured in training steps of known networks.

mod data;
mod depthwise;
mod folded;
mod gather;
pub mod merged_phases;
mod offset;
mod outer;
mod patches;
pub mod phases;
mod pixels;
pub mod shares;
mod strided;
mod tiles;
mod weight;

use crate::NnpackOptions;
use crate::convolve::Convolve;
use crate::epilogue::Epilogue;
use crate::kernel::ConvKernel;
use crate::layouts::{BLOCK, NAME};
use crate::problem::ConvProblem;
use crate::rates::Rates;
use crate::winograd::Data;
use mxrs_op::{OpCall, PlannedKernel, TensorDesc};
use mxrs_ops::nn::convolution::{ConvolutionParams, offset as offset_op};
use mxrs_processor::Isa;
use mxrs_types::{DType, Layout};
use std::sync::Arc;

/// What planning a gradient depends on.
pub struct GradientContext<'a> {
    /// The backend's settings.
    pub options: &'a NnpackOptions,
    /// Number of threads that a call uses.
    pub threads: usize,
    /// Costs on this processor.
    pub rates: &'a Rates,
}

/// A gradient for which this backend has an algorithm.
pub struct Gradient<'a> {
    /// Estimated time relative to a vendor library.
    pub cost: f64,
    /// A function that prepares the kernel.
    pub build: Box<dyn FnOnce() -> mxrs_types::Result<PlannedKernel> + 'a>,
}

/// A function that prepares an algorithm.
type BuildAlgorithm = Box<dyn FnOnce() -> mxrs_types::Result<Box<dyn Convolve>>>;

/// A chosen algorithm for a gradient.
pub struct Chosen {
    algorithm: BuildAlgorithm,
    /// The name in traces.
    what: String,
    /// Layouts of the first two inputs and of the output.
    layouts: [Layout; 3],
    cost: f64,
}

/// Chooses the gradient of a call, or returns the reason why there is none. Returns `None` if this module does not
/// handle the operator.
pub fn fit<'a>(call: &'a OpCall<'a>, context: &GradientContext<'_>) -> Option<Result<Gradient<'a>, String>> {
    let chosen = match call.op.name {
        "_backward_Convolution_data" => problem(call, [2, 1, 0]).and_then(|(p, groups)| match p.stride {
            _ if is_depthwise(&p, groups) => Ok(depthwise::data(&p, context)),
            (1, 1) if p.data == Data::Bf16Pixels => data::choose(&p, context),
            _ if p.data == Data::Bf16Pixels => Err("no kernel for the gradient of bfloat16 data with a stride".into()),
            _ if groups != 1 => strided::choose(&p, groups, context),
            (1, 1) => data::choose(&p, context).or_else(|_| strided::choose(&p, 1, context)),
            _ if p.c < BLOCK => merged_phases::choose(&p, context).or_else(|_| strided::choose(&p, 1, context)),
            _ => strided::choose(&p, 1, context),
        }),
        "_backward_Convolution_weight" => problem(call, [1, 2, 0]).and_then(|(p, groups)| match groups {
            _ if is_depthwise(&p, groups) => Ok(depthwise::weight(&p, context)),
            1 => weight::choose(&p, context),
            _ => Ok(weight::grouped(&p, groups, context)),
        }),
        offset_op::NAME => problem(call, [2, 1, 0]).and_then(|(p, groups)| match p.data {
            _ if groups != 1 => Err("no kernel for the gradient of an offset of grouped data".into()),
            Data::Bf16Pixels => Err("no kernel for the gradient of a bfloat16 offset".into()),
            Data::Blocks => Ok(offset::choose(&p, context.threads)),
        }),
        _ => return None,
    };
    let (isa, threads) = (context.options.isa, context.threads);
    Some(
        chosen
            .map(|chosen| Gradient { cost: chosen.cost, build: Box::new(move || planned(call, chosen, isa, threads)) }),
    )
}

/// The convolution that a call computes a gradient of, and its number of groups. `order` gives the positions of data,
/// weight and output's gradient among the inputs.
fn problem(call: &OpCall<'_>, order: [usize; 3]) -> Result<(ConvProblem, usize), String> {
    let params = call.params.get::<ConvolutionParams>();
    let tensor = |i: usize| call.inputs.get(i).ok_or("the call lacks an input");
    let [data, weight, ograd] = [tensor(order[0])?, tensor(order[1])?, tensor(order[2])?];
    // In bfloat16, the gradient of the weights is still a float32 sum. All other tensors of the call have the dtype of
    // the output's gradient.
    let factor = if ograd.dtype == DType::BF16 { DType::BF16 } else { DType::F32 };
    let sum = if order[1] == 2 { DType::F32 } else { factor };
    let fits = |t: &TensorDesc, wanted: DType| if t.dtype == wanted { Ok(()) } else { Err(t.dtype) };
    let types = [fits(ograd, factor), fits(data, factor), fits(weight, sum)];
    let types = types.into_iter().chain(call.outputs.iter().map(|t| fits(t, sum)));
    types.collect::<Result<(), DType>>().map_err(|other| format!("no kernel for gradients of {other}"))?;
    let problem = ConvProblem::between(params, call, [data, weight, ograd])?;
    Ok((problem, params.num_group as usize))
}

/// Whether each channel is a group of its own.
fn is_depthwise(p: &ConvProblem, groups: usize) -> bool {
    groups != 1 && [groups; 2] == [p.c, p.k]
}

fn planned(call: &OpCall<'_>, chosen: Chosen, isa: Isa, threads: usize) -> mxrs_types::Result<PlannedKernel> {
    let Chosen { algorithm, what, layouts: [first, second, out], .. } = chosen;
    let algorithm = algorithm()?;
    let mut input_layouts = vec![first, second];
    // Only the shape of the last input is used, so it keeps its layout.
    input_layouts.extend(call.inputs.get(2).map(|desc| desc.layout.clone()));
    let name = format!("{NAME}:{what}:{}:{threads}", isa.name());
    Ok(PlannedKernel {
        input_layouts,
        output_layouts: vec![out],
        scratch_bytes: algorithm.scratch_bytes(),
        can_run_inplace: false,
        kernel: Arc::new(ConvKernel {
            name,
            algorithm: algorithm.into(),
            epilogue: Epilogue::plain(true),
            dtype: call.outputs[0].dtype,
        }),
    })
}
