//! Concatenation with channels last in bfloat16, and of quantized tensors, which are converted to a common range.

use super::affine::{Affine, Factors, Order};
use super::level::Level;
use super::loops::{Shared, in_parts, planned};
use super::ranges::{range, write_ranges};
use super::{Build, Context};
use crate::layouts::channels_last;
use mxrs_op::{KernelArgs, OpCall, TensorDesc};
use mxrs_ops::Range;
use mxrs_ops::shape::concat::ConcatParams;
use mxrs_sync::Team;
use mxrs_types::{DType, Layout, Result};

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if another
/// module handles the call.
pub fn look_at<'a>(call: &'a OpCall<'a>, context: &Context) -> Option<Result<Build<'a>, String>> {
    let is_image = |desc: &TensorDesc| desc.shape.ndim() == 4 && desc.layout == layout_of(desc);
    match call.op.name {
        "_contrib_quantized_concat" => Some(fit(call, call.inputs.len() / 3, context)),
        // Other backends concatenate tensors in other layouts, or along other axes.
        "Concat" if call.inputs.first()?.dtype == DType::BF16 && call.inputs.iter().any(is_image) => {
            Some(fit(call, call.inputs.len(), context))
        }
        _ => None,
    }
}

fn layout_of(desc: &TensorDesc) -> Layout {
    <[usize; 4]>::try_from(&desc.shape[..]).map_or(Layout::RowMajor, channels_last)
}

fn fit<'a>(call: &'a OpCall<'a>, n: usize, context: &Context) -> Result<Build<'a>, String> {
    let (data, out) = (&call.inputs[..n], &call.outputs[0]);
    let axis = out.shape.axis(i64::from(call.params.get::<ConcatParams>().dim)).map_err(|e| e.to_string())?;
    let is_images = axis == 1 && out.shape.ndim() == 4 && data.iter().any(|desc| !desc.layout.is_row_major());
    let is_quantized = call.op.name != "Concat";
    if !is_quantized && !is_images {
        return Err("no kernel for concatenation along another axis than channels".into());
    }
    if out.shape.n_elements() == 0 {
        return Err("no kernel for tensors without elements".into());
    }
    let layout = |desc: &TensorDesc| if is_images { layout_of(desc) } else { Layout::RowMajor };
    // Elements of each input that are contiguous in the output.
    let inner: usize = if is_images { 1 } else { out.shape[axis + 1..].iter().product() };
    let lens: Vec<usize> = data.iter().map(|desc| desc.shape[axis] * inner).collect();
    let rows = out.shape.n_elements() / lens.iter().sum::<usize>().max(1);
    let types: Vec<DType> = data.iter().map(|desc| desc.dtype).collect();
    let (dtype, level, threads) = (out.dtype, Level::of(context.isa), context.threads);
    // Conversions of one row. Threads share the rows.
    let converters: Option<Vec<Affine>> =
        lens.iter().zip(&types).map(|(len, from)| Affine::new(Order::One, *len, [*from, dtype], level, 1)).collect();
    let converters = converters.ok_or_else(|| format!("no kernel for {dtype}"))?;
    let (inputs, output) = (data.iter().map(layout).collect(), layout(out));
    Ok(Box::new(move || {
        let body = move |args: &KernelArgs<'_>| {
            let all = if is_quantized { joined(args, n) } else { Range { min: 0.0, max: 0.0 } };
            let scales: Vec<Option<Factors>> = types
                .iter()
                .enumerate()
                .map(|(i, from)| {
                    let scale = || range(args, n + 2 * i).quantum(*from) * all.per_unit(dtype);
                    // An input with the type and the scale of the output is copied without conversion.
                    (is_quantized && !(*from == dtype && scale() == 1.0)).then(|| Factors::scale(scale()))
                })
                .collect();
            let (bytes, len) = (dtype.size_of(), lens.iter().sum::<usize>());
            let dst = Shared(args.outputs[0].as_ptr());
            let sources: Vec<Shared<u8>> = (0..n).map(|i| Shared(args.inputs[i].as_ptr())).collect();
            in_parts(args.team, threads, rows, 2 * len * bytes, &|part| {
                let team = Team::serial();
                for row in part {
                    let mut start = row * len * bytes;
                    for (i, src) in sources.iter().enumerate() {
                        // SAFETY: row `row` of input `i` has `lens[i]` elements, and their place in the output is written by
                        // this thread only. All tensors have the planned layouts.
                        unsafe {
                            let (src, dst) = (src.at(row * lens[i] * types[i].size_of()), dst.at(start));
                            match &scales[i] {
                                None => dst.copy_from_nonoverlapping(src, lens[i] * bytes),
                                Some(factors) => converters[i].run(src, dst, factors, &team),
                            }
                        }
                        start += lens[i] * bytes;
                    }
                }
            });
            if is_quantized {
                write_ranges(args, std::iter::once(all));
            }
            Ok(())
        };
        Ok(planned(call, "concat", inputs, output, body))
    }))
}

/// The common range of all inputs, which includes 0.
fn joined(args: &KernelArgs<'_>, n: usize) -> Range {
    let all = (0..n).map(|i| range(args, n + 2 * i));
    all.fold(Range { min: 0.0, max: 0.0 }, |a, b| Range { min: a.min.min(b.min), max: a.max.max(b.max) })
}
