//! Import of operators that make arrays of constants. Their sizes must be known.

use super::elementwise::value_of;
use crate::import::node::{Answer, Reading, tuple};
use crate::refusal::refuse;
use mxrs_format::Limits;
use mxrs_format::onnx::{dtype, to_tensor};
use mxrs_types::DType;

/// Imports `ConstantOfShape`.
pub(crate) fn constant_of_shape(node: &mut Reading<'_, '_>) -> Answer {
    let Some(sizes) = node.constant_ints(0)?.filter(|sizes| !sizes.is_empty() && !sizes.contains(&0)) else {
        return refuse("a shape that is empty or without axes");
    };
    let (value, dtype) = match node.tensor("value")? {
        None => (0.0, DType::F32),
        Some(message) => {
            let tensor = to_tensor(message, &Limits::default())?;
            let value = tensor.cast(DType::F64).as_slice::<f64>()?.first().copied().unwrap_or(0.0);
            (value, tensor.dtype().unwrap_or(DType::F32))
        }
    };
    let attrs = [("shape", tuple(&sizes)), ("value", value.to_string()), ("dtype", dtype.name().into())];
    node.call("_full", &attrs, Vec::new())
}

/// Imports `EyeLike`. Its type is that of the attribute `dtype`, or that of its input.
pub(crate) fn eye_like(node: &mut Reading<'_, '_>) -> Answer {
    let (k, to) = (node.int("k", 0)?, node.int("dtype", 0)?);
    let data = node.operand(0)?;
    let to = if to == 0 { node.dtype(data) } else { i32::try_from(to).ok().and_then(dtype) };
    let Some(to) = to else { return refuse("its element type is not known, or has no counterpart") };
    let shape = node.known_shape(data, "its input")?;
    let [rows, columns] = shape[..] else { return refuse(format!("an input of shape {shape}, which is not a matrix")) };
    // The operator does not make bools.
    let made = if to == DType::Bool { DType::U8 } else { to };
    let attrs =
        [("N", rows.to_string()), ("M", columns.to_string()), ("k", k.to_string()), ("dtype", made.name().into())];
    let eye = node.call("_npi_eye", &attrs, Vec::new())?;
    if made == to { Ok(eye) } else { node.call("Cast", &[("dtype", to.name().into())], vec![eye]) }
}

/// Imports `Range` of constants.
pub(crate) fn range(node: &mut Reading<'_, '_>) -> Answer {
    let mut ends = [0.0; 3];
    let mut dtype = DType::F32;
    for (i, end) in ends.iter_mut().enumerate() {
        let Some(tensor) = node.array(i)? else { return refuse("its ends are not constants") };
        dtype = tensor.dtype().unwrap_or(dtype);
        *end = value_of(&tensor)?;
    }
    let attrs = [("start", ends[0]), ("stop", ends[1]), ("step", ends[2])].map(|(name, end)| (name, end.to_string()));
    let dtype = ("dtype", dtype.name().to_owned());
    node.call("_npi_arange", &[&attrs[..], &[dtype]].concat(), Vec::new())
}
