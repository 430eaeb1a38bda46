//! Operators that fill a tensor with one value, exported as `ConstantOfShape`.

use crate::export::call::{Answer, Call, scalar};
use mxrs_format::onnx::{AttributeProto, from_tensor};
use mxrs_ops::init::full::FullParams;
use mxrs_types::Shape;

fn filled(call: &mut Call<'_>, shape: String, value: f64) -> Answer {
    let one = from_tensor("", scalar(call.out_dtype(), Shape::from([1]), value)?)?;
    Ok(call.step("ConstantOfShape", &[shape], vec![AttributeProto::tensor("value", one)]))
}

fn of_parameters(call: &mut Call<'_>, value: f64) -> Answer {
    let shape = call.output_sizes()?;
    filled(call, shape, value)
}

fn like_data(call: &mut Call<'_>, value: f64) -> Answer {
    let shape = if call.has_fixed_output() {
        call.output_sizes()?
    } else {
        let data = call.input(0);
        call.step("Shape", &[data], Vec::new())
    };
    filled(call, shape, value)
}

/// Exports `_zeros`.
pub(crate) fn zeros(call: &mut Call<'_>) -> Answer {
    of_parameters(call, 0.0)
}

/// Exports `_ones`.
pub(crate) fn ones(call: &mut Call<'_>) -> Answer {
    of_parameters(call, 1.0)
}

/// Exports `_full`.
pub(crate) fn full(call: &mut Call<'_>) -> Answer {
    of_parameters(call, call.params::<FullParams>().value)
}

/// Exports `zeros_like`.
pub(crate) fn zeros_like(call: &mut Call<'_>) -> Answer {
    like_data(call, 0.0)
}

/// Exports `ones_like`.
pub(crate) fn ones_like(call: &mut Call<'_>) -> Answer {
    like_data(call, 1.0)
}
