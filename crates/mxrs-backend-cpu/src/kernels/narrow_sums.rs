//! Softmax and log_softmax of 16-bit floats that add up in 16 bits, as MXNet does with `MXNET_SAFE_ACCUMULATION=0`.
//!
//! The sum of `e^(x - largest)` is rounded after every addition. So it stops growing once a term is less than half a
//! unit in the last place of the sum: from 2048 on for float16, and from 256 on for bfloat16. Every other kernel adds
//! up in a wider type.

use super::softmax::{Rows, axis_rows};
use crate::number::Element;
use crate::plan::{Planned, row_major};
use crate::tensors::{Sink, Source};
use half::{bf16, f16};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::nn::softmax::SoftmaxParams;
use mxrs_types::{DType, Float, Result};

/// Plans `softmax` and `log_softmax` of one 16-bit type; `None` for all other calls.
pub fn plan(call: &OpCall<'_>) -> Option<Planned> {
    let dtype = call.outputs.first()?.dtype;
    let is_log = match call.op.name {
        "softmax" => false,
        "log_softmax" => true,
        _ => return None,
    };
    if call.inputs.iter().any(|desc| desc.dtype != dtype) {
        return None;
    }
    if call.params.get::<SoftmaxParams>().has_length() {
        return None;
    }
    let (rows, temperature) = axis_rows(call).ok()?;
    let temperature = temperature as f32;
    match dtype {
        DType::F16 => Some(Ok(row_major(call, 0, move |args| run(args, f16::from_f32, rows, temperature, is_log)))),
        DType::BF16 => Some(Ok(row_major(call, 0, move |args| run(args, bf16::from_f32, rows, temperature, is_log)))),
        _ => None,
    }
}

fn run<H: Element + Float + Into<f32>>(
    args: &KernelArgs<'_>,
    narrow: fn(f32) -> H,
    rows: Rows,
    temperature: f32,
    is_log: bool,
) -> Result<()> {
    let (data, out) = (Source::<H>::of(args, 0), Sink::<H>::of(args, 0, H::DTYPE)?);
    rows.in_pieces(args, &|outer, first, width| {
        for column in first..first + width {
            let at = |k: usize| (outer * rows.size + k) * rows.inner + column;
            // SAFETY: `in_pieces` gives each column to one thread. If the data is in the output's memory, each element
            // is read before it is written, and not after that.
            let value = |k: usize| -> f32 { unsafe { data.at(at(k)) }.into() };
            let round = |value: f32| -> f32 { narrow(value).into() };
            let largest =
                (0..rows.size).map(value).fold(f32::NEG_INFINITY, |a, b| if a > b || a.is_nan() { a } else { b });
            let centered = |k: usize| round(round(value(k) - largest) / temperature);
            let sum = (0..rows.size).fold(0.0, |sum, k| round(sum + centered(k).exp()));
            for k in 0..rows.size {
                let result = if is_log { centered(k) - sum.ln() } else { centered(k).exp() / sum };
                // SAFETY: `in_pieces` gives this column to this thread alone, and `result` is computed before the
                // write.
                unsafe {
                    out.write(at(k)..at(k) + 1, |_: std::ops::Range<usize>, to: &mut [H]| to[0] = narrow(result))
                };
            }
        }
    });
    Ok(())
}
