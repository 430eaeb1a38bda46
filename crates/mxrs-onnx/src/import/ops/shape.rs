//! Import of operators that move elements or change shapes. Sizes and positions must be constants.

use crate::import::node::{Answer, Reading, tuple};
use crate::refusal::refuse;
use mxrs_format::Limits;
use mxrs_format::onnx::to_tensor;
use mxrs_types::DType;

/// Imports `Concat`.
pub(crate) fn concat(node: &mut Reading<'_, '_>) -> Answer {
    let axis = node.int("axis", 1)?;
    let inputs = node.operands()?;
    node.call("Concat", &[("dim", axis.to_string()), ("num_args", inputs.len().to_string())], inputs)
}

/// Imports `Flatten`, only with axis 1.
pub(crate) fn flatten(node: &mut Reading<'_, '_>) -> Answer {
    node.require_int("axis", 1)?;
    let data = node.operand(0)?;
    node.call("Flatten", &[], vec![data])
}

/// Imports `Reshape`; the sizes 0 and -1 have the same special meaning in MXNet.
pub(crate) fn reshape(node: &mut Reading<'_, '_>) -> Answer {
    node.require_int("allowzero", 0)?;
    match node.constant_ints(1)? {
        Some(sizes) if !sizes.is_empty() => {
            let data = node.operand(0)?;
            node.call("Reshape", &[("shape", tuple(&sizes))], vec![data])
        }
        _ => refuse("a shape without axes"),
    }
}

/// Imports `Transpose`.
pub(crate) fn transpose(node: &mut Reading<'_, '_>) -> Answer {
    let axes = node.ints("perm")?.map_or("()".into(), tuple);
    let data = node.operand(0)?;
    node.call("transpose", &[("axes", axes)], vec![data])
}

/// Imports `Squeeze`.
pub(crate) fn squeeze(node: &mut Reading<'_, '_>) -> Answer {
    let axes = node.axes(13)?.map_or("None".into(), |axes| tuple(&axes));
    let data = node.operand(0)?;
    node.call("squeeze", &[("axis", axes)], vec![data])
}

/// Imports `Unsqueeze` as one `expand_dims` per axis.
pub(crate) fn unsqueeze(node: &mut Reading<'_, '_>) -> Answer {
    let Some(mut axes) = node.axes(13)? else { return refuse("no axes") };
    axes.sort_unstable();
    if axes.len() > 1 && axes[0] < 0 {
        return refuse("several axes counted from the end");
    }
    let data = node.operand(0)?;
    axes.iter().try_fold(data, |data, axis| node.call("expand_dims", &[("axis", axis.to_string())], vec![data]))
}

/// Imports `Slice` with steps of 1, as one `slice_axis` per axis.
pub(crate) fn slice(node: &mut Reading<'_, '_>) -> Answer {
    let (starts, ends, axes, steps) = if node.opset() >= 10 {
        (node.constant_ints(1)?, node.constant_ints(2)?, node.constant_ints(3)?, node.constant_ints(4)?)
    } else {
        let list = |list: Option<&[i64]>| list.map(<[i64]>::to_vec);
        (list(node.ints("starts")?), list(node.ints("ends")?), list(node.ints("axes")?), None)
    };
    let (starts, ends) = (starts.unwrap_or_default(), ends.unwrap_or_default());
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    if steps.is_some_and(|steps| steps.iter().any(|step| *step != 1)) {
        return refuse("steps other than 1 are not read");
    }
    if ends.len() != starts.len() || axes.len() != starts.len() {
        return refuse("lists of different lengths");
    }
    let mut data = node.operand(0)?;
    for ((start, end), axis) in starts.into_iter().zip(ends).zip(axes) {
        let shape = node.shape(data);
        let index = if axis < 0 { shape.ndim().map(|ndim| ndim as i64 + axis) } else { Some(axis) };
        let size = index.and_then(|index| shape.dim(usize::try_from(index).ok()?)).map(|size| size as i64);
        // Positions outside the axis are limited to its ends, as ONNX defines.
        let (start, end) = match size {
            Some(size) => (start.clamp(-size, size), (end < size).then_some(end.max(-size))),
            None => (start, (end <= i64::from(i32::MAX)).then_some(end)),
        };
        let end = end.map_or("None".into(), |end| end.to_string());
        data = node.call(
            "slice_axis",
            &[("axis", axis.to_string()), ("begin", start.to_string()), ("end", end)],
            vec![data],
        )?;
    }
    Ok(data)
}

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
