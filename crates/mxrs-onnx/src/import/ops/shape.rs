//! Import of operators that move elements or change shapes. Sizes and positions must be constants.

use crate::import::node::{Answer, Reading, tuple};
use crate::refusal::refuse;
use mxrs_format::Tensor;
use mxrs_graph::Entry;
use mxrs_types::{DType, PartialShape, Shape};

/// Imports `Concat`.
pub(crate) fn concat(node: &mut Reading<'_, '_>) -> Answer {
    let axis = node.int("axis", 1)?;
    let inputs = node.operands()?;
    node.call("Concat", &[("dim", axis.to_string()), ("num_args", inputs.len().to_string())], inputs)
}

/// The position of an axis that may count from the end.
pub(super) fn place(shape: &PartialShape, axis: i64) -> Option<usize> {
    let ndim = shape.ndim()? as i64;
    usize::try_from(if axis < 0 { axis + ndim } else { axis }).ok().filter(|axis| (*axis as i64) < ndim)
}

/// The product of sizes, which a file states; `None` if it does not fit.
pub(super) fn product(sizes: &[usize]) -> Option<i64> {
    sizes.iter().try_fold(1i64, |all, size| all.checked_mul(i64::try_from(*size).ok()?))
}

/// Moves the last axis of a tensor of `ndim` axes to another place.
pub(super) fn move_last_to(node: &mut Reading<'_, '_>, data: Entry, ndim: usize, axis: usize) -> Answer {
    if axis + 1 >= ndim {
        return Ok(data);
    }
    let mut axes: Vec<i64> = (0..ndim as i64 - 1).collect();
    axes.insert(axis, ndim as i64 - 1);
    node.call("transpose", &[("axes", tuple(&axes))], vec![data])
}

/// Imports `Flatten`.
pub(crate) fn flatten(node: &mut Reading<'_, '_>) -> Answer {
    let axis = node.int("axis", 1)?;
    let data = node.operand(0)?;
    if axis == 1 {
        return node.call("Flatten", &[], vec![data]);
    }
    let shape = node.shape(data);
    let place = if shape.ndim().is_some_and(|ndim| ndim as i64 == axis) { shape.ndim() } else { place(&shape, axis) };
    let shape = node.known_shape(data, "its input")?;
    let Some(axis) = place else { return refuse(format!("axis {axis} of {shape}")) };
    let Some(rows) = product(&shape[..axis]) else { return refuse(format!("a product of sizes of {shape}")) };
    node.call("Reshape", &[("shape", tuple(&[rows, -1]))], vec![data])
}

/// Imports `Reshape`; the sizes 0 and -1 have the same special meaning in MXNet.
pub(crate) fn reshape(node: &mut Reading<'_, '_>) -> Answer {
    let takes_zero = node.int("allowzero", 0)? != 0;
    let sizes = if node.opset() < 5 { node.ints("shape")?.map(<[i64]>::to_vec) } else { node.constant_ints(1)? };
    match sizes {
        Some(sizes) if takes_zero && sizes.contains(&0) => refuse("a shape without elements"),
        Some(sizes) if sizes.is_empty() => {
            let data = node.operand(0)?;
            node.call("_np_reshape", &[("newshape", "()".into())], vec![data])
        }
        Some(sizes) => {
            let data = node.operand(0)?;
            node.call("Reshape", &[("shape", tuple(&sizes))], vec![data])
        }
        None => refuse("its shape is not a constant"),
    }
}

/// Imports `Expand`: both shapes are broadcast to each other.
pub(crate) fn expand(node: &mut Reading<'_, '_>) -> Answer {
    let Some(sizes) = node.constant_ints(1)? else { return refuse("its shape is not a constant") };
    let data = node.operand(0)?;
    let shape = node.known_shape(data, "its input")?;
    let ndim = shape.ndim().max(sizes.len());
    let of = |list: &[i64], axis: usize| (axis + list.len()).checked_sub(ndim).map_or(1, |i| list[i]);
    let own: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
    let joined: Vec<i64> = (0..ndim)
        .map(|axis| match (of(&own, axis), of(&sizes, axis)) {
            (1, other) => other,
            (size, _) => size,
        })
        .collect();
    node.call("_npi_broadcast_to", &[("shape", tuple(&joined))], vec![data])
}

/// Imports `Shape` of a value as a constant, if the sizes that it gives are known.
pub(crate) fn shape_of(node: &mut Reading<'_, '_>) -> Answer {
    let (start, end) = (node.int("start", 0)?, node.int("end", i64::MAX)?);
    let data = node.operand(0)?;
    let shape = node.shape(data);
    let Some(dims) = shape.dims() else { return node.unknown(data, "its input") };
    let ndim = dims.len() as i64;
    let at = |i: i64| (if i < 0 { i.saturating_add(ndim) } else { i }).clamp(0, ndim) as usize;
    let sizes = dims.get(at(start)..at(end)).unwrap_or(&[]);
    let sizes: Option<Vec<i64>> = sizes.iter().map(|size| size.map(|size| size as i64)).collect();
    let Some(sizes) = sizes else { return node.unknown(data, "its input") };
    let constant = Tensor::from_slice([sizes.len()], &sizes)?;
    node.constant(constant)
}

/// Imports `Size` of a value whose shape is known, as a constant.
pub(crate) fn size_of(node: &mut Reading<'_, '_>) -> Answer {
    let data = node.operand(0)?;
    let shape = node.known_shape(data, "its input")?;
    let constant = Tensor::from_slice(Shape::from([]), &[shape.n_elements() as i64])?;
    node.constant(constant)
}

/// Imports `Split`.
pub(crate) fn split(node: &mut Reading<'_, '_>) -> Answer {
    let axis = node.int("axis", 0)?;
    let sizes = if node.opset() < 13 { node.ints("split")?.map(<[i64]>::to_vec) } else { node.constant_ints(1)? };
    node.ignore(&["num_outputs"]);
    let data = node.operand(0)?;
    let n = node.n_wanted();
    let shape = node.shape(data);
    let size = place(&shape, axis).and_then(|axis| shape.dim(axis));
    let sizes = match (sizes, size) {
        (Some(sizes), _) => sizes,
        (None, Some(size)) => {
            // The last part is smaller if the parts cannot be equal.
            let (each, size) = (size.div_ceil(n.max(1)) as i64, size as i64);
            (0..n as i64).map(|i| each.min(size - i * each)).collect()
        }
        (None, None) => return node.unknown(data, "its input"),
    };
    let whole = sizes.iter().try_fold(0i64, |sum, size| sum.checked_add(*size));
    let is_whole = whole.is_some_and(|whole| size.is_none_or(|size| whole == size as i64));
    if sizes.len() != n || sizes.iter().any(|size| *size <= 0) || !is_whole {
        let size = size.map_or("?".into(), |size| size.to_string());
        return refuse(format!("{n} parts of sizes {sizes:?} of an axis of {size} elements"));
    }
    // The operator takes the position at which each part begins.
    let begins: Vec<i64> = sizes[..n - 1]
        .iter()
        .scan(0, |at, size| {
            *at += size;
            Some(*at)
        })
        .collect();
    let begins = [vec![0], begins].concat();
    let attrs = [("indices", tuple(&begins)), ("axis", axis.to_string()), ("squeeze_axis", "False".into())];
    let first = node.call("_split_v2", &attrs, vec![data])?;
    for index in 1..n {
        node.set_output(index, node.output_of(first, index as u32));
    }
    Ok(first)
}

/// Imports `DepthToSpace`. In the mode `CRD`, the channels of the input are ordered by output channel first and by position
/// in the block second. MXNet's operator has the other order, so this mode is imported as reshapes and a transpose.
pub(crate) fn depth_to_space(node: &mut Reading<'_, '_>) -> Answer {
    let (block, mode) = (node.int("blocksize", 1)?, node.text("mode")?);
    let data = node.operand(0)?;
    if mode.as_deref() != Some("CRD") {
        return node.call("depth_to_space", &[("block_size", block.to_string())], vec![data]);
    }
    let shape = node.known_shape(data, "its input")?;
    let Ok(sizes) = <[usize; 4]>::try_from(&shape[..]) else { return refuse(format!("an input of shape {shape}")) };
    let [n, c, h, w] = sizes.map(|size| size as i64);
    let Some(channels) = c.checked_div(block.saturating_mul(block)) else { return refuse("blocks without elements") };
    let apart = node.call("Reshape", &[("shape", tuple(&[n, channels, block, block, h, w]))], vec![data])?;
    let moved = node.call("transpose", &[("axes", "(0, 1, 4, 2, 5, 3)".into())], vec![apart])?;
    node.call(
        "Reshape",
        &[("shape", tuple(&[n, channels, h.saturating_mul(block), w.saturating_mul(block)]))],
        vec![moved],
    )
}

/// Imports `SpaceToDepth`.
pub(crate) fn space_to_depth(node: &mut Reading<'_, '_>) -> Answer {
    let block = node.int("blocksize", 1)?;
    let data = node.operand(0)?;
    node.call("space_to_depth", &[("block_size", block.to_string())], vec![data])
}

/// Imports `Pad` of the inner axes of tensors with 4 or 5 axes, by constants, edges or reflection.
pub(crate) fn pad(node: &mut Reading<'_, '_>) -> Answer {
    let mode = node.text("mode")?.unwrap_or_else(|| "constant".into());
    let pads = if node.opset() < 11 { node.ints("pads")?.map(<[i64]>::to_vec) } else { node.constant_ints(1)? };
    let value = match node.opset() < 11 {
        true => node.float("value", 0.0)?.into(),
        false if node.has_input(2) => match node.array(2)? {
            Some(value) => super::elementwise::value_of(&value)?,
            None => return refuse("its value is not a constant"),
        },
        false => 0.0,
    };
    let data = node.operand(0)?;
    let Some(pads) = pads else { return refuse("its widths are not constants") };
    let ndim = node.known_ndim(data, "its input")?;
    if node.has_input(3) || pads.len() != 2 * ndim || pads.iter().any(|pad| *pad < 0) {
        return refuse(format!("widths {pads:?} of {ndim} axes"));
    }
    if !matches!(mode.as_str(), "constant" | "edge" | "reflect") || !matches!(ndim, 4 | 5) {
        return refuse(format!("mode {mode} with {ndim} axes"));
    }
    // ONNX lists the widths before all axes, then those behind all axes. MXNet lists both widths of each axis together.
    let widths: Vec<i64> = (0..ndim).flat_map(|axis| [pads[axis], pads[ndim + axis]]).collect();
    let attrs = [("mode", mode), ("pad_width", tuple(&widths)), ("constant_value", value.to_string())];
    node.call("Pad", &attrs, vec![data])
}

/// Imports `Resize` and `Upsample` by the nearest element, if each element of an image becomes a square of elements.
pub(crate) fn resize(node: &mut Reading<'_, '_>) -> Answer {
    let mode = node.text("mode")?.unwrap_or_else(|| "nearest".into());
    node.ignore(&["cubic_coeff_a", "extrapolation_value", "exclude_outside", "antialias", "keep_aspect_ratio_policy"]);
    // Before version 11, ONNX defines only one way to find the nearest element. Ways other than the two that are accepted
    // below would not repeat each element equally often.
    let usual = if node.opset() < 11 { ["asymmetric", "floor"] } else { ["half_pixel", "round_prefer_floor"] };
    let places = node.text("coordinate_transformation_mode")?.unwrap_or_else(|| usual[0].into());
    let rounding = node.text("nearest_mode")?.unwrap_or_else(|| usual[1].into());
    if !matches!((&places[..], &rounding[..]), ("half_pixel", "round_prefer_floor") | ("asymmetric", "floor")) {
        return refuse(format!("the nearest element by {places} and {rounding}"));
    }
    if mode != "nearest" || node.ints("axes")?.is_some() {
        return refuse(format!("mode {mode}"));
    }
    let data = node.operand(0)?;
    let ndim = node.known_ndim(data, "its input")?;
    if ndim != 4 {
        return refuse(format!("an input of {ndim} axes; images have 4"));
    }
    let at = if node.node.op_type == "Upsample" { 1 } else { 2 };
    let scales: Vec<f64> = if node.has_input(3) {
        let Some(sizes) = node.constant_ints(3)? else { return refuse("its sizes are not constants") };
        let shape = node.known_shape(data, "its input")?;
        sizes.iter().zip(shape.iter()).map(|(to, from)| *to as f64 / *from as f64).collect()
    } else {
        match node.array(at)? {
            Some(scales) => scales.cast(DType::F64).as_slice::<f64>()?.to_vec(),
            None => return refuse("its scales are not constants"),
        }
    };
    match scales[..] {
        [1.0, 1.0, rows, columns] if rows == columns && rows.fract() == 0.0 && rows >= 1.0 => {
            let attrs = [("scale", rows.to_string()), ("sample_type", "nearest".into()), ("num_args", "1".into())];
            node.call("UpSampling", &attrs, vec![data])
        }
        _ => refuse(format!("scales {scales:?}")),
    }
}

/// Imports `Transpose`.
pub(crate) fn transpose(node: &mut Reading<'_, '_>) -> Answer {
    let axes = node.ints("perm")?.map_or("()".into(), tuple);
    let data = node.operand(0)?;
    node.call("transpose", &[("axes", axes)], vec![data])
}

/// Imports `Squeeze`. If no axis is left, MXNet's older operator keeps one, so the operator of `mxnet.numpy` is called.
pub(crate) fn squeeze(node: &mut Reading<'_, '_>) -> Answer {
    let axes = node.axes(13)?;
    let data = node.operand(0)?;
    let shape = node.shape(data);
    let is_scalar = match &axes {
        Some(axes) => shape.ndim() == Some(axes.len()),
        None => shape.known().is_some_and(|shape| shape.iter().all(|size| *size == 1)),
    };
    let axes = axes.map_or("None".into(), |axes| tuple(&axes));
    node.call(if is_scalar { "_np_squeeze" } else { "squeeze" }, &[("axis", axes)], vec![data])
}

/// Imports `Unsqueeze` as one `expand_dims` per axis.
pub(crate) fn unsqueeze(node: &mut Reading<'_, '_>) -> Answer {
    let Some(mut axes) = node.axes(13)? else { return refuse("no axes") };
    let data = node.operand(0)?;
    if axes.iter().any(|axis| *axis < 0) && axes.len() > 1 {
        let ndim = node.known_ndim(data, "its input")?;
        let after = (ndim + axes.len()) as i64;
        axes.iter_mut().filter(|axis| **axis < 0).for_each(|axis| *axis += after);
    }
    axes.sort_unstable();
    axes.iter().try_fold(data, |data, axis| node.call("expand_dims", &[("axis", axis.to_string())], vec![data]))
}

/// Imports `Slice`: one `slice_axis` per axis, and one `slice` for each axis with a step other than 1.
pub(crate) fn slice(node: &mut Reading<'_, '_>) -> Answer {
    let (starts, ends, axes, steps) = if node.opset() >= 10 {
        (node.constant_ints(1)?, node.constant_ints(2)?, node.constant_ints(3)?, node.constant_ints(4)?)
    } else {
        let list = |list: Option<&[i64]>| list.map(<[i64]>::to_vec);
        (list(node.ints("starts")?), list(node.ints("ends")?), list(node.ints("axes")?), None)
    };
    let (starts, ends) = (starts.unwrap_or_default(), ends.unwrap_or_default());
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()].iter().any(|n| *n != starts.len()) {
        return refuse("lists of different lengths");
    }
    if starts.len() > Shape::MAX_NDIM {
        return refuse(format!("slices of {} axes, at most {} are read", starts.len(), Shape::MAX_NDIM));
    }
    let mut data = node.operand(0)?;
    for (((start, end), axis), step) in starts.into_iter().zip(ends).zip(axes).zip(steps) {
        let shape = node.shape(data);
        if step != 1 {
            data = stepped(node, data, [start, end, step], axis)?;
            continue;
        }
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

/// Every `step`-th element of an axis, from `start` on and before `end`.
fn stepped(node: &mut Reading<'_, '_>, data: Entry, [start, end, step]: [i64; 3], axis: i64) -> Answer {
    let shape = node.shape(data);
    let ndim = node.known_ndim(data, "its input")?;
    let Some(axis) = place(&shape, axis) else { return refuse(format!("axis {axis} of {shape}")) };
    let Some(size) = shape.dim(axis).map(|size| size as i64) else { return node.unknown(data, "its input") };
    if size == 0 {
        return refuse("an axis without elements");
    }
    let from_start = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
    // ONNX limits both ends to the axis. If the step is negative and `end` lies before the first element, the slice
    // includes the first element, which MXNet writes as `None`.
    let (start, end) = match step > 0 {
        true => (from_start(start).clamp(0, size), Some(from_start(end).clamp(0, size))),
        false => (from_start(start).clamp(0, size - 1), Some(from_start(end)).filter(|end| *end >= 0)),
    };
    if step == 0 || end.is_some_and(|end| if step > 0 { end <= start } else { end >= start }) {
        return refuse("a slice without elements");
    }
    let list = |value: Option<i64>| {
        let word = value.map_or("None".into(), |value| value.to_string());
        let all: Vec<String> = (0..ndim).map(|i| if i == axis { word.clone() } else { "None".into() }).collect();
        format!("({},)", all.join(", "))
    };
    node.call("slice", &[("begin", list(Some(start))), ("end", list(end)), ("step", list(Some(step)))], vec![data])
}
