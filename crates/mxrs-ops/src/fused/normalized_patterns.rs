//! The chains of calls that are fused if they begin with a batch normalization by moving statistics, or with a
//! dequantization before such a normalization.
//!
//! | first call | following calls, in this order |
//! |---|---|
//! | `BatchNorm` | relu (optional), `_contrib_quantize_v2` in a calibrated range (optional) |
//! | `_contrib_dequantize` with one range | `BatchNorm`, relu (optional), `_contrib_quantize_v2` in a calibrated range |

use super::patterns::{Fusions, is_relu};
use super::{bn_relu, bn_relu_quantize};
use crate::quant::quantize_v2::QuantizeParams;
use mxrs_op::{Member, NewCall, Operand, Pattern, Stage};
use mxrs_types::DType;

/// The patterns that begin with a normalization, or with a dequantization before it.
pub(super) fn patterns(fusions: &Fusions) -> Vec<Pattern> {
    let relu = || Stage { accepts: |_, call| is_relu(call), ..Stage::of("act", &["relu", "Activation"]) };
    let quantized = || Stage {
        accepts: |chain, call| {
            let is_real = chain.last().is_some_and(|last| last.outputs[0].dtype == DType::F32);
            is_real && matches!(call.params.get::<QuantizeParams>().calibrated(), Ok(Some(_)))
        },
        ..Stage::of("quantize", &["_contrib_quantize_v2"])
    };
    let normalized = Pattern {
        name: "BatchNorm",
        seed: Stage::of("bn", &["BatchNorm"]),
        then: std::iter::once(relu()).chain(fusions.requantize.then(quantized)).collect(),
        replace: fused,
    };
    let of_integers = Pattern {
        name: "_contrib_dequantize",
        seed: Stage {
            accepts: |_, call| call.inputs[1].shape.n_elements() == 1 && call.inputs[0].dtype != DType::I32,
            ..Stage::of("dequantize", &["_contrib_dequantize"])
        },
        then: vec![Stage::of("bn", &["BatchNorm"]), relu(), quantized()],
        replace: |chain| match chain.last()?.stage {
            "quantize" if chain[1].stage == "bn" => fused(chain),
            _ => None,
        },
    };
    let all = [(fusions.bn_relu, normalized), (fusions.bn_relu && fusions.requantize, of_integers)];
    all.into_iter().filter(|(is, _)| *is).map(|(_, pattern)| pattern).collect()
}

fn fused(chain: &[Member<'_>]) -> Option<Vec<NewCall>> {
    let bn = chain.iter().position(|call| call.stage == "bn")?;
    let input = |member, position| Operand::Input { member, position };
    let mut attrs = chain[bn].attrs.clone();
    let mut inputs: Vec<Operand> = (0..chain[bn].inputs.len()).map(|position| input(bn, position)).collect();
    let Some(quantized) = chain.iter().find(|call| call.stage == "quantize") else {
        return Some(vec![NewCall { op: bn_relu::NAME, suffix: "", attrs, inputs }]);
    };
    if bn > 0 {
        attrs.set("quantized_data", "True");
        inputs[0] = input(0, 0);
        // The inputs `min_data` and `max_data`, the ends of the range, follow gamma and beta.
        inputs.splice(3..3, [input(0, 1), input(0, 2)]);
    }
    if !chain.iter().any(|call| call.stage == "act") {
        attrs.set("with_relu", "False");
    }
    let range = quantized.params.get::<QuantizeParams>().calibrated().ok()??;
    attrs.set("out_type", quantized.outputs[0].dtype.name());
    attrs.set("min_calib_range", format!("{}", range.min));
    attrs.set("max_calib_range", format!("{}", range.max));
    Some(vec![NewCall { op: bn_relu_quantize::NAME, suffix: "", attrs, inputs }])
}
