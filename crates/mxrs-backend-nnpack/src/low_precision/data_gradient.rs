//! The gradient of the data of convolutions and fully-connected layers in bfloat16: products of the output's gradient with
//! flipped weights, one for each phase of a stride ([`super::flipped`]).

use super::finish::{Output, Rule};
use super::flipped::Flipped;
use super::geometry::Problem;
use super::layer::{Channels, planned};
use super::loops::{Shared, in_parts};
use super::problem::{dense, has_gradients, image_of};
use super::product::{Compute, Memory, Product};
use super::unit::Factors;
use super::{Build, Context};
use crate::epilogue::Bounds;
use crate::layouts::{NAME, channels_last};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_sync::Team;
use mxrs_types::{DType, Layout, Result};
use std::sync::Arc;

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if another
/// module handles the call.
pub fn look_at<'a>(call: &'a OpCall<'a>, context: &Context) -> Option<Result<Build<'a>, String>> {
    let is_image = match call.op.name {
        "_backward_Convolution_data" => true,
        "_backward_FullyConnected_data" => false,
        _ => return None,
    };
    let ([ograd, weight, ..], [data]) = (call.inputs, call.outputs) else { return None };
    if !context.trains() || [ograd, weight, data].iter().any(|desc| desc.dtype != DType::BF16) {
        return None;
    }
    let problem = match is_image {
        true => image_of(call.params.get::<ConvolutionParams>(), [data, weight, ograd]),
        false => dense(data, weight),
    };
    let context = context.clone();
    let problem = problem.and_then(|p| check(&p, call).map(|form| (p, form)));
    Some(problem.map(|(p, form)| Box::new(move || plan(call, &p, form, is_image, &context)) as Build<'a>))
}

/// The form of the weights for the gradient of the data of a problem.
///
/// # Errors
/// Returns the reason as text if there is no kernel for it.
pub fn form(p: &Problem, groups: u32) -> Result<Flipped, String> {
    has_gradients(p, groups)?;
    let form = Flipped::of_problem(p).filter(|form| form.phases(sizes(p)).is_some());
    form.ok_or_else(|| format!("no kernel for gradients with stride {:?} and padding {:?}", p.stride, p.pad))
}

fn check(p: &Problem, call: &OpCall<'_>) -> Result<Flipped, String> {
    let is_image = call.op.name == "_backward_Convolution_data";
    form(p, if is_image { call.params.get::<ConvolutionParams>().num_group } else { 1 })
}

fn sizes(p: &Problem) -> [usize; 4] {
    [p.k, p.c, p.window[0], p.window[1]]
}

/// The products of all phases.
struct Phases {
    /// The product of each phase, and the offset in bytes of its packed weights.
    products: Vec<(Product, usize)>,
    /// Whether some pixels are in no phase.
    leaves_pixels: bool,
    /// Distance between the pixels of a phase.
    step: usize,
    n_bytes: usize,
    threads: usize,
}

impl Compute for Phases {
    fn scratch_bytes(&self) -> usize {
        self.products.iter().map(|(product, _)| product.scratch_bytes()).max().unwrap_or(0)
    }

    unsafe fn run(&self, memory: &Memory<'_>, team: &Team) {
        let output = memory.output;
        let (dst, sum) = (Shared(output.dst), Shared(output.sum.cast_mut()));
        // No product writes the pixels that are in no phase. They become 0, or the pixels of the tensor that is added.
        if self.leaves_pixels && !std::ptr::eq(output.dst, output.sum) {
            in_parts(team, self.threads, self.n_bytes.div_ceil(PIECE), PIECE, &|part| {
                let first = part.start * PIECE;
                let n = (part.end * PIECE).min(self.n_bytes) - first.min(self.n_bytes);
                // SAFETY: both tensors have `n_bytes` bytes, and each thread writes its own.
                unsafe {
                    match sum.0.is_null() {
                        true => dst.at(first).write_bytes(0, n),
                        false => dst.at(first).copy_from_nonoverlapping(sum.at(first), n),
                    }
                }
            });
        }
        let output = Output { row_step: self.step * output.channels, ..*output };
        for (product, start) in &self.products {
            let weights = memory.weights.wrapping_add(*start);
            // SAFETY: the weights of the phase begin at `start`. Phases have different pixels. The caller promises the
            // other tensors.
            unsafe { product.run(&Memory { weights, output: &output, ..*memory }, team) }
        }
    }
}

/// Number of bytes of a piece of the output. Threads share the pieces.
const PIECE: usize = 1 << 14;

/// The [`Channels`] of a gradient: no bias, and factors of 1.
struct NoBias;

impl Channels for NoBias {
    fn fill(&self, _: &KernelArgs<'_>, scales: &mut [f32], _: &mut [f32]) -> f32 {
        scales.fill(1.0);
        1.0
    }

    fn write_others(&self, _: &KernelArgs<'_>) -> Result<()> {
        Ok(())
    }
}

fn plan(
    call: &OpCall<'_>,
    p: &Problem,
    form: Flipped,
    is_image: bool,
    context: &Context,
) -> Result<mxrs_op::PlannedKernel> {
    let (isa, threads) = (context.isa, context.threads);
    let unknown = || mxrs_types::Error::not_built(call.op.name, "no kernel stores sums of bfloat16");
    let mut products = Vec::new();
    let phases = form.phases(sizes(p)).unwrap_or_default();
    let mut covered = 0;
    for phase in &phases {
        let Some(geometry) = phase.geometry(p, threads) else { continue };
        covered += geometry.problem.pixels();
        let product = Product::new(geometry, Factors::Bf16, Rule::Bf16, isa, threads).ok_or_else(unknown)?;
        products.push((product, phase.start));
    }
    let pixels = p.n * p.input[0] * p.input[1];
    let image = |sizes| if is_image { channels_last(sizes) } else { Layout::RowMajor };
    let mut input_layouts = vec![image([p.n, p.k, p.output[0], p.output[1]]), form.layout(sizes(p))];
    // Only the shape of the last input is used, so it keeps its layout.
    input_layouts.extend(call.inputs.iter().skip(2).map(|desc| desc.layout.clone()));
    let output_layouts = vec![image([p.n, p.c, p.input[0], p.input[1]])];
    let phases =
        Phases { products, leaves_pixels: covered < pixels, step: p.stride[1], n_bytes: pixels * p.c * 2, threads };
    let name = format!("{NAME}:data_gradient_bf16:amx:{threads}");
    let epilogue = (None, Bounds::NONE);
    Ok(planned(call, name, Arc::new(phases), (NoBias, p.c), epilogue, true, [input_layouts, output_layouts]))
}
