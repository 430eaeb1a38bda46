//! Export of reductions. If all axes are reduced, the result has one axis of size 1 in mxrs, but no axes in ONNX.

use crate::export::call::{Answer, Call};
use crate::export::list::{FLOATS, NUMBERS};
use mxrs_format::onnx::AttributeProto;
use mxrs_ops::ReduceParams;
use mxrs_ops::reduce::argmax::ArgmaxParams;
use mxrs_types::DType;

fn reduced(call: &mut Call<'_>, op_type: &str, dtypes: &[DType]) -> Answer {
    call.require_dtype(op_type, dtypes)?;
    let params = call.params::<ReduceParams>();
    let is_reduced = params.reduced(call.shape(0).ndim())?;
    let axes: Vec<i64> = (0..is_reduced.len()).filter(|axis| is_reduced[*axis]).map(|axis| axis as i64).collect();
    let data = call.input(0);
    if axes.is_empty() {
        return Ok(data);
    }
    let is_scalar = axes.len() == is_reduced.len() && !params.keepdims;
    let keepdims = AttributeProto::int("keepdims", i64::from(params.keepdims));
    let out = if op_type == "ReduceSum" {
        let axes = call.ints("axes", &axes)?;
        call.step(op_type, &[data, axes], vec![keepdims])
    } else {
        call.step(op_type, &[data], vec![AttributeProto::ints("axes", axes), keepdims])
    };
    if is_scalar { call.reshape_to_output(&out) } else { Ok(out) }
}

/// Exports `sum`.
pub(crate) fn sum(call: &mut Call<'_>) -> Answer {
    reduced(call, "ReduceSum", NUMBERS)
}

/// Exports `mean`.
pub(crate) fn mean(call: &mut Call<'_>) -> Answer {
    reduced(call, "ReduceMean", FLOATS)
}

/// Exports `max`.
pub(crate) fn max(call: &mut Call<'_>) -> Answer {
    reduced(call, "ReduceMax", NUMBERS)
}

/// Exports `argmax`; the index is cast to the dtype of the data.
pub(crate) fn argmax(call: &mut Call<'_>) -> Answer {
    call.require_dtype("ArgMax", NUMBERS)?;
    let params = call.params::<ArgmaxParams>();
    let mut data = call.input(0);
    let axis = match params.axis {
        Some(axis) => call.axis(i64::from(axis))?,
        None => {
            let flat = call.ints("flat", &[-1])?;
            data = call.step("Reshape", &[data, flat], Vec::new());
            0
        }
    };
    let ndim = if params.axis.is_some() { call.shape(0).ndim() } else { 1 };
    let attributes =
        vec![AttributeProto::int("axis", axis as i64), AttributeProto::int("keepdims", i64::from(params.keepdims))];
    let position = call.step("ArgMax", &[data], attributes);
    let position = call.cast(&position, call.out_dtype());
    let rank = if params.keepdims { ndim } else { ndim - 1 };
    if rank == call.out_shape().ndim() { Ok(position) } else { call.reshape_to_output(&position) }
}
