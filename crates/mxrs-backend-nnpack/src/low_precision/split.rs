//! The gradient of concatenation along channels in bfloat16: each input gets its channels of every pixel.

use super::loops::{Shared, in_parts, planned_all};
use super::{Build, Context};
use crate::layouts::channels_last;
use mxrs_op::{KernelArgs, OpCall, TensorDesc};
use mxrs_ops::shape::concat::ConcatParams;
use mxrs_types::{DType, Layout, Result, WriteReq};

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if another
/// module handles the call.
pub fn look_at<'a>(call: &'a OpCall<'a>, context: &Context) -> Option<Result<Build<'a>, String>> {
    if call.op.name != "_backward_Concat" {
        return None;
    }
    let ograd = call.inputs.first()?;
    let sizes = <[usize; 4]>::try_from(&ograd.shape[..]).ok()?;
    let axis = i64::from(call.params.get::<ConcatParams>().dim);
    let fits = ograd.dtype == DType::BF16 && ograd.shape.axis(axis) == Ok(1);
    // A row-major gradient is copied by other backends, because its parts stay row-major.
    if !fits || sizes.contains(&0) || ograd.layout.is_row_major() {
        return None;
    }
    let layout = |desc: &TensorDesc| <[usize; 4]>::try_from(&desc.shape[..]).map_or(Layout::RowMajor, channels_last);
    let outputs: Vec<Layout> = call.outputs.iter().map(layout).collect();
    let lens: Vec<usize> = call.outputs.iter().map(|desc| desc.shape[1]).collect();
    let (pixels, channels, threads) = (sizes[0] * sizes[2] * sizes[3], sizes[1], context.threads);
    let mut inputs = vec![channels_last(sizes)];
    // Only the shapes of the other inputs are used, so they keep their layouts.
    inputs.extend(call.inputs.iter().skip(1).map(|desc| desc.layout.clone()));
    Some(Ok(Box::new(move || {
        let body = move |args: &KernelArgs<'_>| {
            let from = Shared(args.inputs[0].as_ptr().cast::<u16>());
            let to: Vec<Shared<u16>> = args.outputs.iter().map(|out| Shared(out.as_ptr().cast())).collect();
            in_parts(args.team, threads, pixels, 4 * channels, &|part| {
                for pixel in part {
                    let mut first = 0;
                    for ((to, len), req) in to.iter().zip(&lens).zip(args.reqs) {
                        if *req != WriteReq::Null {
                            // SAFETY: all tensors have the planned layouts, in which this pixel has these channels. Only this
                            // thread writes the pixel.
                            unsafe {
                                let from = from.at(pixel * channels + first);
                                to.at(pixel * len).copy_from_nonoverlapping(from, *len);
                            }
                        }
                        first += len;
                    }
                }
            });
            Ok(())
        };
        Ok(planned_all(call, "split_bf16", inputs, outputs, body))
    })))
}
