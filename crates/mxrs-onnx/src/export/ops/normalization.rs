//! Export of `BatchNorm` and `LRN`.
//!
//! If gamma is fixed, a constant of ones is exported instead of the gamma parameter, which has no effect. 16-bit data is
//! normalized in float32, because version 13 of ONNX's operators requires the same dtype for data and statistics.

use crate::export::call::{Answer, Call, scalar};
use crate::refusal::refuse;
use mxrs_format::onnx::AttributeProto;
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_ops::nn::lrn::LrnParams;
use mxrs_types::DType::{BF16, F16, F32};
use mxrs_types::Shape;

/// Exports `BatchNorm`.
pub(crate) fn batch_norm(call: &mut Call<'_>) -> Answer {
    let params = call.params::<BatchNormParams>();
    let shape = call.shape(0);
    let axis = call.axis(i64::from(params.axis))?;
    if shape.ndim() < 2 {
        return refuse("BatchNormalization has no form for data of one axis");
    }
    let mut inputs = call.inputs();
    // This permutation exchanges the axis of the channels with axis 1. It is its own inverse.
    let mut exchange: Vec<usize> = (0..shape.ndim()).collect();
    exchange.swap(1, axis);
    if axis != 1 {
        inputs[0] = call.transposed(&inputs[0], &exchange);
    }
    let is_16_bit = matches!(call.dtype(0), F16 | BF16);
    if is_16_bit {
        inputs[0] = call.cast(&inputs[0], F32);
    }
    if params.fix_gamma {
        let ones = scalar(call.dtype(1), Shape::from([shape[axis]]), 1.0)?;
        inputs[1] = call.constant("fixed_gamma", ones)?;
    }
    let attributes =
        vec![AttributeProto::float("epsilon", params.eps as f32), AttributeProto::float("momentum", params.momentum)];
    let mut out = call.step("BatchNormalization", &inputs, attributes);
    if is_16_bit {
        out = call.cast(&out, call.out_dtype());
    }
    Ok(if axis == 1 { out } else { call.transposed(&out, &exchange) })
}

/// Exports `LRN`; ONNX uses the same formula.
pub(crate) fn lrn(call: &mut Call<'_>) -> Answer {
    call.require_dtype("LRN", &[F16, F32])?;
    let params = call.params::<LrnParams>();
    let data = call.input(0);
    let attributes = vec![
        AttributeProto::float("alpha", params.alpha),
        AttributeProto::float("beta", params.beta),
        AttributeProto::float("bias", params.knorm),
        AttributeProto::int("size", i64::from(params.nsize)),
    ];
    Ok(call.step("LRN", &[data], attributes))
}
