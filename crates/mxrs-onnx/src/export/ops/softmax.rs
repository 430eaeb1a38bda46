//! Export of `softmax` and `SoftmaxOutput`. The label of `SoftmaxOutput` is left out.

use crate::export::call::{Answer, Call};
use crate::export::list::FLOATS;
use crate::refusal::refuse;
use mxrs_format::onnx::AttributeProto;
use mxrs_ops::nn::softmax::SoftmaxParams;
use mxrs_ops::nn::softmax_output::SoftmaxOutputParams;

fn over_axis(call: &mut Call<'_>, value: &str, axis: usize) -> String {
    call.step("Softmax", &[value], vec![AttributeProto::int("axis", axis as i64)])
}

/// Exports `softmax`.
pub(crate) fn softmax(call: &mut Call<'_>) -> Answer {
    call.require_dtype("Softmax", FLOATS)?;
    let params = call.params::<SoftmaxParams>();
    if params.has_length() {
        return refuse("Softmax has no lengths of rows (`use_length`)");
    }
    let axis = call.axis(i64::from(params.axis))?;
    let mut value = call.input(0);
    if call.out_dtype() != call.dtype(0) {
        value = call.cast(&value, call.out_dtype());
    }
    if let Some(temperature) = params.temperature.filter(|temperature| *temperature != 1.0) {
        let divisor = call.scalar("temperature", call.out_dtype(), temperature)?;
        value = call.step("Div", &[value, divisor], Vec::new());
    }
    Ok(over_axis(call, &value, axis))
}

/// Exports `SoftmaxOutput`, which normalizes over axis 1, over the last axis, or over all axes except the first.
pub(crate) fn softmax_output(call: &mut Call<'_>) -> Answer {
    call.require_dtype("Softmax", FLOATS)?;
    let params = call.params::<SoftmaxOutputParams>();
    let ndim = call.shape(0).ndim();
    let value = call.input(0);
    if params.multi_output && ndim >= 2 {
        return Ok(over_axis(call, &value, 1));
    }
    if ndim == 2 || (params.preserve_shape && ndim > 0) {
        return Ok(over_axis(call, &value, ndim - 1));
    }
    let flat = call.step("Flatten", &[value], vec![AttributeProto::int("axis", 1)]);
    let out = over_axis(call, &flat, 1);
    call.reshape_to_output(&out)
}
