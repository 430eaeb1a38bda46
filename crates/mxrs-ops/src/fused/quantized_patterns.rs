//! The chains of quantized calls that a fused call replaces.
//!
//! A chain begins with `_contrib_quantized_conv` or `_contrib_quantized_fully_connected`. Any of these calls may follow,
//! in this order:
//!
//! 1. `_contrib_requantize` with a calibrated range;
//! 2. `_contrib_quantized_elemwise_add` with a calibrated range, or without one and then `_contrib_requantize`;
//! 3. `_contrib_quantized_act`;
//! 4. `_contrib_dequantize`;
//! 5. `elemwise_add` of float32 tensors;
//! 6. relu of a float32 tensor.
//!
//! No addition may follow an unsigned result, because such a result has lost the values below 0. An addition of float32
//! tensors may follow only if there was no other addition before, and if no call has removed the values below 0. Each
//! call reads the output of the call before it and the range of that output.

use super::patterns::{Fusions, is_relu};
use crate::families::fused_quantized as quantized;
use crate::quant::quantize_v2::QuantizeParams;
use crate::quant::quantized_elemwise_add::{self, QuantizedAddParams};
use crate::quant::{quantized_conv, quantized_fully_connected, requantize};
use mxrs_op::{Member, NewCall, Operand, Pattern, Stage};
use mxrs_types::DType;

/// The patterns of quantized products.
pub(super) fn patterns(fusions: &Fusions) -> Vec<Pattern> {
    let stages = || {
        let requantized = Stage {
            accepts: |_, call| is_calibrated(call) && reads_ranges(call, 0),
            ..Stage::of("requantize", REQUANTIZE)
        };
        let sum = Stage {
            enters_by: &[0, 1],
            accepts: |chain, call| {
                let is_signed = chain.last().is_some_and(|last| last.outputs[0].dtype == DType::I8);
                is_signed && reads_ranges(call, call.entered_by)
            },
            ..Stage::of("sum", &[quantized_elemwise_add::NAME])
        };
        let requantized_sum = Stage {
            accepts: |chain, call| {
                let is_of_32_bits =
                    chain.last().is_some_and(|last| last.stage == "sum" && last.outputs[0].dtype == DType::I32);
                is_of_32_bits && is_calibrated(call) && reads_ranges(call, 0)
            },
            ..Stage::of("requantized_sum", REQUANTIZE)
        };
        let act = Stage { accepts: |_, call| reads_ranges(call, 0), ..Stage::of("act", &["_contrib_quantized_act"]) };
        let dequantized =
            Stage { accepts: |_, call| reads_ranges(call, 0), ..Stage::of("dequantize", &["_contrib_dequantize"]) };
        let real_sum = Stage {
            enters_by: &[0, 1],
            accepts: |chain, _| {
                let is_before = chain.last().is_some_and(|last| last.stage == "dequantize");
                is_before && !chain.iter().any(|call| matches!(call.stage, "sum" | "act") || makes_unsigned(call))
            },
            ..Stage::of("real_sum", &["elemwise_add"])
        };
        let real_act = Stage {
            accepts: |chain, call| {
                let is_real = chain.last().is_some_and(|last| matches!(last.stage, "dequantize" | "real_sum"));
                is_real && is_relu(call)
            },
            ..Stage::of("real_act", &["relu", "Activation"])
        };
        let all = [
            (fusions.requantize, requantized),
            (fusions.requantize, sum),
            (fusions.requantize, requantized_sum),
            (fusions.requantize, act),
            (fusions.dequantize, dequantized),
            (fusions.dequantize, real_sum),
            (fusions.dequantize, real_act),
        ];
        all.into_iter().filter(|(is, _)| *is).map(|(_, stage)| stage).collect()
    };
    vec![
        Pattern {
            name: "quantized_conv",
            seed: Stage::of("product", &[quantized_conv::NAME]),
            then: stages(),
            replace: |chain| fused(chain, quantized::CONV),
        },
        Pattern {
            name: "quantized_fully_connected",
            seed: Stage::of("product", &[quantized_fully_connected::NAME]),
            then: stages(),
            replace: |chain| fused(chain, quantized::FULLY_CONNECTED),
        },
    ]
}

const REQUANTIZE: &[&str] = &["_contrib_requantize"];

/// Whether the ranges that the call reads for its input `side` are outputs of the call before it.
fn reads_ranges(call: &Member<'_>, side: usize) -> bool {
    let first = if call.op.name == quantized_elemwise_add::NAME { 2 + 2 * side } else { 1 };
    call.reads == [(side, 0), (first, 1), (first + 1, 2)]
}

/// Whether the call removes values below 0, because its output is unsigned.
fn makes_unsigned(call: &Member<'_>) -> bool {
    call.outputs[0].dtype == DType::U8
}

fn is_calibrated(call: &Member<'_>) -> bool {
    matches!(call.params.get::<QuantizeParams>().calibrated(), Ok(Some(_)))
}

fn fused(chain: &[Member<'_>], op: &'static str) -> Option<Vec<NewCall>> {
    let seed = chain.first()?;
    let input = |member, position| Operand::Input { member, position };
    let mut attrs = seed.attrs.clone();
    // The inputs are data, weight and, if there is one, bias; then the two ends of the range of each of these.
    let n_factors = seed.inputs.len() / 3;
    let mut inputs: Vec<Operand> = (0..n_factors).map(|i| input(0, i)).collect();
    let mut ranges: Vec<Operand> = (n_factors..seed.inputs.len()).map(|i| input(0, i)).collect();
    let (mut range, mut out) = (None, DType::I32);
    for (i, member) in chain.iter().enumerate().skip(1) {
        out = member.outputs[0].dtype;
        match member.stage {
            "requantize" => range = member.params.get::<QuantizeParams>().calibrated().ok()?,
            // Requantization to int8 reports a symmetric range. A quantized sum reports the calibrated range unchanged.
            "requantized_sum" => {
                let calibrated = member.params.get::<QuantizeParams>().calibrated().ok()??;
                range = Some(requantize::reported(calibrated, out));
            }
            "sum" if range.is_some() => {
                range = member.params.get::<QuantizedAddParams>().calibrated().ok()?;
                let other = 1 - member.entered_by;
                attrs.set("with_sum", "True");
                inputs.push(input(i, other));
                ranges.extend([input(i, 2 + 2 * other), input(i, 3 + 2 * other)]);
            }
            "act" | "real_act" => {
                attrs.set("act", "relu");
            }
            "dequantize" => {
                // If a call of the chain made an unsigned tensor, values below 0 were removed. The fused call then
                // needs relu to remove them from a float32 result.
                if chain.iter().any(makes_unsigned) {
                    attrs.set("act", "relu");
                }
            }
            "real_sum" => {
                attrs.set("real_sum", "True");
                inputs.push(input(i, 1 - member.entered_by));
            }
            _ => return None,
        }
    }
    attrs.set("out_type", out.name());
    match (out, range) {
        (DType::I8 | DType::U8, Some(range)) => {
            attrs.set("min_calib_range", format!("{}", range.min));
            attrs.set("max_calib_range", format!("{}", range.max));
        }
        (DType::F32, _) => {}
        _ => return None,
    }
    inputs.extend(ranges);
    Some(vec![NewCall { op, suffix: "", attrs, inputs }])
}
