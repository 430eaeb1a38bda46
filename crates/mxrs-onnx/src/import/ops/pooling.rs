//! Import of pooling. If the padding at the end is larger than at the start, the node is accepted only if a pooling
//! convention of MXNet that rounds up has the same windows.

use crate::import::node::{Answer, Reading, flag, tuple};
use crate::refusal::{Refusal, refuse};
use mxrs_graph::Entry;

/// The pooling windows of a node, per spatial axis.
struct Windows {
    kernel: Vec<i64>,
    stride: Vec<i64>,
    pad: Vec<i64>,
    is_full: bool,
}

fn windows(node: &mut Reading<'_, '_>, data: Entry) -> Result<Windows, Refusal> {
    node.require_text("auto_pad", &["NOTSET", "VALID"])?;
    let Some(kernel) = node.ints("kernel_shape")?.map(<[i64]>::to_vec) else { return refuse("no `kernel_shape`") };
    let ndim = kernel.len();
    if node.ints("dilations")?.is_some_and(|dilations| dilations.iter().any(|d| *d != 1)) {
        return refuse("dilated windows are not read");
    }
    let stride = node.ints("strides")?.map_or(vec![1; ndim], <[i64]>::to_vec);
    let pads = node.ints("pads")?.map_or(vec![0; 2 * ndim], <[i64]>::to_vec);
    let is_ceil = node.int("ceil_mode", 0)? != 0;
    if stride.len() != ndim || pads.len() != 2 * ndim || kernel.iter().chain(&stride).any(|value| *value < 1) {
        return refuse("lists of different lengths, or sizes below 1");
    }
    // Kernels multiply these sizes.
    if kernel.iter().try_fold(1i64, |n, size| n.checked_mul(*size)).is_none() {
        return refuse(format!("windows of sizes {kernel:?}, which have too many elements"));
    }
    let (before, behind) = pads.split_at(ndim);
    let windows = |is_full| Windows { kernel: kernel.clone(), stride: stride.clone(), pad: before.to_vec(), is_full };
    let shape = node.shape(data);
    if before == behind {
        // ONNX leaves out a last window that would begin behind the image, MXNet does not.
        let is_behind = |axis: usize| {
            let Some(size) = shape.dim(axis + 2) else { return false };
            let [kernel, stride, pad] = [kernel[axis], stride[axis], before[axis]].map(i128::from);
            let last = -(-(size as i128 + 2 * pad - kernel)).div_euclid(stride);
            last * stride >= size as i128 + pad
        };
        if is_ceil && (0..ndim).any(is_behind) {
            return refuse("the last window begins behind the image");
        }
        return Ok(windows(is_ceil));
    }
    for axis in 0..ndim {
        let Some(size) = shape.dim(axis + 2) else {
            return node.unknown(data, "its input, whose padding differs on both sides,");
        };
        // These numbers are converted to 128 bits, so that their sums and products do not overflow.
        let [kernel, stride, before, behind] = [kernel[axis], stride[axis], before[axis], behind[axis]].map(i128::from);
        let room = size as i128 - kernel;
        let n_windows = (room + before + behind).div_euclid(stride);
        let n_full = -(-(room + 2 * before)).div_euclid(stride);
        if is_ceil || behind < before || n_windows != n_full {
            return refuse(format!("padding {pads:?}, which is not the same on both sides"));
        }
    }
    Ok(windows(true))
}

fn attrs(windows: &Windows, kind: &str) -> Vec<(&'static str, String)> {
    vec![
        ("kernel", tuple(&windows.kernel)),
        ("stride", tuple(&windows.stride)),
        ("pad", tuple(&windows.pad)),
        ("pool_type", kind.into()),
        ("pooling_convention", if windows.is_full { "full".into() } else { "valid".into() }),
    ]
}

/// Imports `MaxPool`.
pub(crate) fn max(node: &mut Reading<'_, '_>) -> Answer {
    node.require_int("storage_order", 0)?;
    let data = node.operand(0)?;
    let windows = windows(node, data)?;
    node.call("Pooling", &attrs(&windows, "max"), vec![data])
}

/// Imports `AveragePool`.
pub(crate) fn average(node: &mut Reading<'_, '_>) -> Answer {
    let data = node.operand(0)?;
    let windows = windows(node, data)?;
    let counts = node.int("count_include_pad", 0)? != 0;
    if counts && windows.is_full {
        return refuse("padding that counts and differs on both sides");
    }
    let mut attrs = attrs(&windows, "avg");
    attrs.push(("count_include_pad", flag(counts)));
    node.call("Pooling", &attrs, vec![data])
}

/// Imports `LpPool` with norm 2.
pub(crate) fn lp(node: &mut Reading<'_, '_>) -> Answer {
    node.require_int("p", 2)?;
    let data = node.operand(0)?;
    let windows = windows(node, data)?;
    let mut attrs = attrs(&windows, "lp");
    attrs.push(("p_value", "2".into()));
    node.call("Pooling", &attrs, vec![data])
}

/// Imports global pooling of the given kind.
pub(crate) fn global(node: &mut Reading<'_, '_>, kind: &str) -> Answer {
    let mut attrs = vec![("global_pool", flag(true)), ("pool_type", kind.to_owned())];
    if kind == "lp" {
        node.require_int("p", 2)?;
        attrs.push(("p_value", "2".into()));
    }
    let data = node.operand(0)?;
    node.call("Pooling", &attrs, vec![data])
}
