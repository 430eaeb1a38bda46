//! Export of operators that move elements or change shapes.

use crate::export::call::{Answer, Call};
use mxrs_format::onnx::AttributeProto;
use mxrs_ops::shape::concat::ConcatParams;
use mxrs_ops::shape::expand_dims::ExpandDimsParams;
use mxrs_ops::shape::slice_axis::SliceAxisParams;
use mxrs_ops::shape::squeeze::SqueezeParams;
use mxrs_ops::shape::transpose::TransposeParams;

/// Exports `Concat`.
pub(crate) fn concat(call: &mut Call<'_>) -> Answer {
    let axis = call.axis(i64::from(call.params::<ConcatParams>().dim))?;
    let inputs = call.inputs();
    Ok(call.step("Concat", &inputs, vec![AttributeProto::int("axis", axis as i64)]))
}

/// Exports `Flatten`.
pub(crate) fn flatten(call: &mut Call<'_>) -> Answer {
    let data = call.input(0);
    Ok(call.step("Flatten", &[data], vec![AttributeProto::int("axis", 1)]))
}

/// Exports `Reshape` with the output's sizes instead of MXNet's shape codes.
pub(crate) fn reshape(call: &mut Call<'_>) -> Answer {
    let data = call.input(0);
    call.reshape_to_output(&data)
}

/// Exports `expand_dims`.
pub(crate) fn expand_dims(call: &mut Call<'_>) -> Answer {
    let axis = i64::from(call.params::<ExpandDimsParams>().axis);
    let axis = if axis < 0 { axis + call.out_shape().ndim() as i64 } else { axis };
    let (data, axes) = (call.input(0), call.ints("axes", &[axis])?);
    Ok(call.step("Unsqueeze", &[data, axes], Vec::new()))
}

/// Exports `squeeze`. If all axes are removed, mxrs keeps one axis of size 1, which ONNX can express only as a reshape.
pub(crate) fn squeeze(call: &mut Call<'_>) -> Answer {
    let shape = call.shape(0);
    let axes = match &call.params::<SqueezeParams>().axis {
        Some(axes) => axes.iter().map(|axis| call.axis(*axis)).collect::<Result<Vec<_>, _>>()?,
        None => (0..shape.ndim()).filter(|axis| shape[*axis] == 1).collect(),
    };
    let data = call.input(0);
    if axes.len() == shape.ndim() {
        return call.reshape_to_output(&data);
    }
    if axes.is_empty() {
        return Ok(data);
    }
    let axes = call.ints("axes", &axes.iter().map(|axis| *axis as i64).collect::<Vec<_>>())?;
    Ok(call.step("Squeeze", &[data, axes], Vec::new()))
}

/// Exports `transpose`.
pub(crate) fn transpose(call: &mut Call<'_>) -> Answer {
    let axes = &call.params::<TransposeParams>().axes;
    let axes = match axes.is_empty() {
        true => (0..call.shape(0).ndim()).rev().collect(),
        false => axes.iter().map(|axis| call.axis(*axis)).collect::<Result<Vec<_>, _>>()?,
    };
    let data = call.input(0);
    Ok(call.transposed(&data, &axes))
}

/// Exports `slice_axis`. In ONNX, as in MXNet, negative positions count from the end.
pub(crate) fn slice_axis(call: &mut Call<'_>) -> Answer {
    let params = call.params::<SliceAxisParams>();
    let axis = call.axis(i64::from(params.axis))?;
    let starts = call.ints("starts", &[i64::from(params.begin)])?;
    let ends = call.ints("ends", &[params.end.map_or(i64::MAX, i64::from)])?;
    let axes = call.ints("axes", &[axis as i64])?;
    let data = call.input(0);
    Ok(call.step("Slice", &[data, starts, ends, axes], Vec::new()))
}
