//! Export of elementwise operators that cannot become a single ONNX node with the same inputs: scalars, bounds, sums of many
//! inputs, casts.
//!
//! A float may be too large for the integer type that it is cast to: mxrs saturates, and ONNX does not define the result.

use crate::export::call::{Answer, Call};
use crate::export::list::NUMBERS;
use crate::refusal::refuse;
use mxrs_ops::ScalarParams;
use mxrs_ops::elemwise::clip::ClipParams;
use mxrs_ops::nn::dropout::{DropoutMode, DropoutParams};
use mxrs_types::DType;

/// Exports an operator of data and a scalar as a node whose inputs are the data and the scalar; the scalar comes first
/// if `is_first` is set. Only calls with these dtypes can be written.
pub(crate) fn with_scalar(call: &mut Call<'_>, op_type: &str, dtypes: &[DType], is_first: bool) -> Answer {
    call.require_dtype(op_type, dtypes)?;
    let scalar = call.scalar("scalar", call.dtype(0), call.params::<ScalarParams>().scalar)?;
    let data = call.input(0);
    let inputs = if is_first { [scalar, data] } else { [data, scalar] };
    Ok(call.step(op_type, &inputs, Vec::new()))
}

/// Exports `clip`.
pub(crate) fn clip(call: &mut Call<'_>) -> Answer {
    call.require_dtype("Clip", NUMBERS)?;
    let (params, dtype) = (call.params::<ClipParams>(), call.dtype(0));
    let low = call.scalar("min", dtype, f64::from(params.a_min))?;
    let high = call.scalar("max", dtype, f64::from(params.a_max))?;
    let data = call.input(0);
    Ok(call.step("Clip", &[data, low, high], Vec::new()))
}

/// Exports `square`.
pub(crate) fn square(call: &mut Call<'_>) -> Answer {
    call.require_dtype("Mul", NUMBERS)?;
    let data = call.input(0);
    Ok(call.step("Mul", &[&data, &data], Vec::new()))
}

/// Exports `add_n` as `Sum`, or for integers, which `Sum` does not support, as a chain of `Add`.
pub(crate) fn add_n(call: &mut Call<'_>) -> Answer {
    call.require_dtype("Add", NUMBERS)?;
    let inputs = call.inputs();
    if call.dtype(0).is_float() {
        return Ok(call.step("Sum", &inputs, Vec::new()));
    }
    let mut inputs = inputs.into_iter();
    let first = inputs.next().unwrap_or_default();
    Ok(inputs.fold(first, |sum, next| call.step("Add", &[sum, next], Vec::new())))
}

/// Exports `Cast`.
pub(crate) fn cast(call: &mut Call<'_>) -> Answer {
    let data = call.input(0);
    Ok(call.cast(&data, call.out_dtype()))
}

/// Exports `Dropout`, which does nothing at inference.
pub(crate) fn dropout(call: &mut Call<'_>) -> Answer {
    match call.params::<DropoutParams>().mode {
        DropoutMode::Training => Ok(call.input(0)),
        DropoutMode::Always => refuse("it drops at inference too (`mode` always), with random numbers of its own"),
    }
}
