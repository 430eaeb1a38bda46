//! Gradients of convolutions, on blocks of channels: of the data, which is a convolution itself, of the weights, a sum over
//! all pixels, and of an offset to the data.
//!
//! All read what the forward convolution reads and writes, `nChw16c` (Winograd's in bfloat16: `nhwc`), so that a training graph stays in that layout from the first
//! convolution to the last gradient. Costs are relative to a vendor library's gradients, as measured in training steps of known
//! networks.

mod data;
pub mod joined;
mod offset;
mod outer;
pub mod phases;
mod pixels;
mod shares;
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
use mxrs_types::{DType, Layout};
use std::sync::Arc;

/// What gradients are planned with.
pub struct Means<'a> {
    /// The backend's settings.
    pub options: &'a NnpackOptions,
    /// Threads that a call uses.
    pub threads: usize,
    /// What things cost.
    pub rates: &'a Rates,
}

/// A gradient that fits.
pub struct Gradient {
    /// Time relative to a vendor library's.
    pub cost: f64,
    /// The kernel and its layouts.
    pub planned: PlannedKernel,
}

/// An algorithm for a gradient.
pub struct Prepared {
    algorithm: Box<dyn Convolve>,
    /// For traces.
    what: String,
    /// Layouts of the two inputs that count, and of the output.
    layouts: [Layout; 3],
    cost: f64,
}

/// The gradient of a call, or why there is none; `None` where the operator is none of these.
pub fn fit(call: &OpCall<'_>, means: &Means<'_>) -> Option<Result<Gradient, String>> {
    let prepared = match call.op.name {
        "_backward_Convolution_data" => problem(call, [2, 1, 0]).and_then(|p| match p.stride {
            (1, 1) => data::prepare(&p, means),
            _ if p.data == Data::ShortPixels => Err("gradients of data in bfloat16 with a stride".into()),
            _ if p.c < BLOCK => joined::prepare(&p, means),
            _ => strided::prepare(&p, means),
        }),
        "_backward_Convolution_weight" => problem(call, [1, 2, 0]).and_then(|p| weight::prepare(&p, means)),
        offset_op::NAME => problem(call, [2, 1, 0]).and_then(|p| match p.data {
            Data::ShortPixels => Err("gradients of offsets in bfloat16".into()),
            Data::Blocks => Ok(offset::prepare(&p, means.threads)),
        }),
        _ => return None,
    };
    Some(prepared.map(|prepared| planned(call, prepared, means)))
}

/// The convolution that a call makes a gradient of, whose data, weight and output's gradient are these inputs.
fn problem(call: &OpCall<'_>, order: [usize; 3]) -> Result<ConvProblem, String> {
    let params = call.params.get::<ConvolutionParams>();
    let tensor = |i: usize| call.inputs.get(i).ok_or("a gradient without an input");
    let [data, weight, ograd] = [tensor(order[0])?, tensor(order[1])?, tensor(order[2])?];
    // Sums of short products over all pixels are float32; all else is of one type.
    let factor = if ograd.dtype == DType::BF16 { DType::BF16 } else { DType::F32 };
    let sum = if order[1] == 2 { DType::F32 } else { factor };
    let fits = |t: &TensorDesc, wanted: DType| if t.dtype == wanted { Ok(()) } else { Err(t.dtype) };
    let types = [fits(ograd, factor), fits(data, factor), fits(weight, sum)];
    let types = types.into_iter().chain(call.outputs.iter().map(|t| fits(t, sum)));
    types.collect::<Result<(), DType>>().map_err(|other| format!("gradients of {other} numbers"))?;
    if params.num_group != 1 {
        return Err("gradients in groups".into());
    }
    ConvProblem::between(params, call, [data, weight, ograd])
}

fn planned(call: &OpCall<'_>, prepared: Prepared, means: &Means<'_>) -> Gradient {
    let Prepared { algorithm, what, layouts: [first, second, out], cost } = prepared;
    let mut input_layouts = vec![first, second];
    // Of the last input only the shape counts: it may lie as it does.
    input_layouts.extend(call.inputs.get(2).map(|desc| desc.layout.clone()));
    let name = format!("{NAME}:{what}:{}:{}", means.options.isa.name(), means.threads);
    let planned = PlannedKernel {
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
    };
    Gradient { cost, planned }
}
