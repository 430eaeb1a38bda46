//! The gradient of the bias of products in bfloat16: the sum of the output's gradient over all pixels, for each channel.

use super::level::{Level, for_each_level};
use super::loops::{Shared, planned};
use super::number::Number;
use super::{Build, Context};
use crate::barrier::Phases;
use crate::convolve::part;
use crate::layouts::channels_last;
use half::bf16;
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_types::{DType, Layout, Result};

/// Number of parts into which the pixels are cut. The sums of the parts are added in their order, so the bits of the result
/// do not depend on the number of threads.
pub const PARTS: usize = 32;
/// Pixels whose sums are added up in float32 before they are added in float64.
const PARTIAL: usize = 128;

/// Pixels to add up.
struct Run<'a> {
    pixels: *const bf16,
    n: usize,
    sums: &'a mut [f64],
}

for_each_level! {
    fn added: unsafe fn(run: &mut Run<'_>) = add
}

/// # Safety
/// `run.pixels` must be readable for `run.n` pixels of `run.sums.len()` channels.
#[inline(always)]
unsafe fn add(run: &mut Run<'_>) {
    let channels = run.sums.len();
    let mut partial = vec![0.0f32; channels];
    for start in (0..run.n).step_by(PARTIAL) {
        partial.fill(0.0);
        for pixel in start..(start + PARTIAL).min(run.n) {
            // SAFETY: the caller promises the pixels.
            let values = unsafe { std::slice::from_raw_parts(run.pixels.add(pixel * channels), channels) };
            partial.iter_mut().zip(values).for_each(|(sum, x)| *sum += x.wide());
        }
        run.sums.iter_mut().zip(&partial).for_each(|(sum, x)| *sum += f64::from(*x));
    }
}

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if another
/// module handles the call.
pub fn look_at<'a>(call: &'a OpCall<'a>, context: &Context) -> Option<Result<Build<'a>, String>> {
    let is_image = match call.op.name {
        "_backward_Convolution_bias" => !call.params.get::<ConvolutionParams>().is_channels_last(),
        "_backward_FullyConnected_bias" => false,
        _ => return None,
    };
    let ([ograd, ..], [bias]) = (call.inputs, call.outputs) else { return None };
    if ograd.dtype != DType::BF16 || !matches!(bias.dtype, DType::BF16 | DType::F32) {
        return None;
    }
    let channels = bias.shape.n_elements();
    let layout = match (is_image, &ograd.shape[..]) {
        (true, [n, c, h, w]) => channels_last([*n, *c, *h, *w]),
        (false, shape) if shape.last() == Some(&channels) => Layout::RowMajor,
        _ => return None,
    };
    if ograd.shape.n_elements() == 0 {
        return None;
    }
    let (pixels, is_f32) = (ograd.shape.n_elements() / channels, bias.dtype == DType::F32);
    let (kernel, threads) = (added(Level::of(context.isa)), context.threads.max(1));
    Some(Ok(Box::new(move || {
        let body = move |args: &KernelArgs<'_>| {
            let mut sums = vec![0.0f64; PARTS * channels];
            let (to, from) = (Shared(sums.as_mut_ptr()), Shared(args.inputs[0].as_ptr().cast::<bf16>()));
            let phases = Phases::new(threads, [PARTS]);
            args.team.run(threads, &|thread| {
                phases.work(0, thread, |i| {
                    let pixels = part(pixels, PARTS, i);
                    // SAFETY: the part lies in the input, which nothing writes, and only this item uses its sums.
                    unsafe {
                        let sums = std::slice::from_raw_parts_mut(to.at(i * channels), channels);
                        let from = from.at(pixels.start * channels);
                        kernel(&mut Run { pixels: from, n: pixels.len(), sums });
                    }
                });
                phases.wait(0);
            });
            // SAFETY: this is an output of the running call, and no other slice of it exists.
            let out = unsafe { args.outputs[0].bytes_mut() };
            let total = |channel: usize| (0..PARTS).map(|i| sums[i * channels + channel]).sum::<f64>() as f32;
            match is_f32 {
                true => {
                    bytemuck::cast_slice_mut::<u8, f32>(out).iter_mut().enumerate().for_each(|(i, to)| *to = total(i))
                }
                false => {
                    let out = bytemuck::cast_slice_mut::<u8, bf16>(out);
                    out.iter_mut().enumerate().for_each(|(i, to)| *to = bf16::of(total(i)));
                }
            }
            Ok(())
        };
        Ok(planned(call, "bias_gradient_bf16", vec![layout], Layout::RowMajor, body))
    })))
}
