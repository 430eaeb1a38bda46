//! `FullyConnected`, exported as `Gemm` if the data have two axes, and as `MatMul` for more axes without `flatten`.

use crate::export::call::{Answer, Call};
use mxrs_format::onnx::AttributeProto;
use mxrs_ops::nn::fully_connected::FullyConnectedParams;
use mxrs_types::DType::{F16, F32, F64};

/// Exports `FullyConnected`.
pub(crate) fn fully_connected(call: &mut Call<'_>) -> Answer {
    call.require_dtype("Gemm", &[F16, F32, F64])?;
    let params = call.params::<FullyConnectedParams>();
    let ndim = call.shape(0).ndim();
    let mut inputs = call.inputs();
    if ndim != 2 && !params.flatten {
        let weight = call.transposed(&inputs[1], &[1, 0]);
        let product = call.step("MatMul", &[&inputs[0], &weight], Vec::new());
        return Ok(match inputs.get(2) {
            Some(bias) => call.step("Add", &[&product, bias], Vec::new()),
            None => product,
        });
    }
    if ndim != 2 {
        inputs[0] = call.step("Flatten", &inputs[..1], vec![AttributeProto::int("axis", 1)]);
    }
    Ok(call.step("Gemm", &inputs, vec![AttributeProto::int("transB", 1)]))
}
