//! `Pooling`, exported as `MaxPool`, `AveragePool`, `LpPool` and their global forms.
//!
//! ONNX rounds the number of windows down, or up with `ceil_mode`. With a convention of MXNet that rounds up, the last
//! window extends beyond the end of the padded image. The positions beyond that end are called extra positions. They
//! have no effect on a maximum, like padding. So a maximum is exported with `ceil_mode` if every runtime then counts
//! the same windows, otherwise with more padding at the end. A mean divides by the number of positions of the window
//! within the padded image. So extra positions become padding that is not counted, and padding that is counted is
//! written as a `Pad` node before the pooling. A sum is written as a mean times the number of elements of a window.

use super::layout::{channels_first, channels_last};
use crate::export::call::{Answer, Call, scalar, sizes};
use crate::refusal::refuse;
use mxrs_format::onnx::AttributeProto;
use mxrs_ops::nn::pooling::{PoolType, PoolingParams};
use mxrs_ops::window::Window;
use mxrs_types::DType::{self, F16, F32, F64};
use mxrs_types::Shape;

/// The pooling windows of a call, per spatial axis.
struct Windows {
    kernel: Vec<usize>,
    stride: Vec<usize>,
    pad: Vec<usize>,
    /// Per axis, the number of positions by which the last window extends beyond the end of the padded image.
    extra: Vec<usize>,
    /// Whether `ceil_mode` gives the right number of windows in every runtime, even in those that drop a window which starts
    /// in the padding.
    is_ceil: bool,
}

impl Windows {
    fn new(params: &PoolingParams, window: &Window, space: &[usize], out: &[usize]) -> Self {
        let mut windows = Self {
            kernel: window.kernel.to_vec(),
            stride: window.stride.to_vec(),
            pad: window.pad.to_vec(),
            extra: Vec::new(),
            is_ceil: true,
        };
        for axis in 0..space.len() {
            let (kernel, stride, pad) = (window.kernel[axis], window.stride[axis], window.pad[axis]);
            let last = out[axis].saturating_sub(1) * stride;
            let padded = space[axis] + 2 * pad;
            windows.extra.push((last + kernel).saturating_sub(padded));
            let by_ceil = padded.saturating_sub(kernel).div_ceil(stride) + 1;
            windows.is_ceil &= by_ceil == out[axis] && last < space[axis] + pad;
        }
        debug_assert!(!params.global_pool);
        windows
    }

    fn has_extra(&self) -> bool {
        self.extra.iter().any(|cells| *cells > 0)
    }

    /// Whether the padding is at least as wide as the window. Runtimes refuse such padding if it is an attribute of a
    /// node.
    fn is_pad_wide(&self) -> bool {
        let axes = 0..self.kernel.len();
        axes.into_iter().any(|axis| self.pad[axis] + self.extra[axis] >= self.kernel[axis])
    }

    /// Writes the padding as a `Pad` node, so that the node after it needs no padding. Returns the name of the padded data.
    fn pad_before(&mut self, call: &mut Call<'_>, data: &str, dtype: DType, value: f64, with_extra: bool) -> Answer {
        let behind = self.pad.iter().zip(&self.extra).map(|(pad, extra)| if with_extra { pad + extra } else { *pad });
        let begin = [0, 0].into_iter().chain(sizes(&self.pad));
        let end = [0, 0].into_iter().chain(behind.map(|cells| cells as i64));
        let pads: Vec<i64> = begin.chain(end).collect();
        let pads = call.ints("pads", &pads)?;
        let value = call.scalar("padding", dtype, value)?;
        self.pad.fill(0);
        if with_extra {
            self.extra.fill(0);
        }
        Ok(call.step("Pad", &[data, &pads, &value], Vec::new()))
    }

    /// Attributes of a pooling node without `ceil_mode`: the extra positions are additional padding at the end.
    fn attributes(&self) -> Vec<AttributeProto> {
        let end = self.pad.iter().zip(&self.extra).map(|(pad, extra)| (pad + extra) as i64);
        vec![
            AttributeProto::ints("kernel_shape", sizes(&self.kernel)),
            AttributeProto::ints("pads", sizes(&self.pad).chain(end)),
            AttributeProto::ints("strides", sizes(&self.stride)),
        ]
    }

    /// Attributes of a pooling node that uses `ceil_mode`.
    fn ceil_attributes(&self) -> Vec<AttributeProto> {
        vec![
            AttributeProto::int("ceil_mode", 1),
            AttributeProto::ints("kernel_shape", sizes(&self.kernel)),
            AttributeProto::ints("pads", sizes(&self.pad).chain(sizes(&self.pad))),
            AttributeProto::ints("strides", sizes(&self.stride)),
        ]
    }
}

/// Exports `Pooling`.
pub(crate) fn pooling(call: &mut Call<'_>) -> Answer {
    call.require_dtype("MaxPool", &[F16, F32, F64])?;
    let params = call.params::<PoolingParams>();
    let (shape, out) = (call.shape(0), call.out_shape());
    let ndim = shape.ndim();
    let is_last = params.is_channels_last();
    let axes = if is_last { 1..ndim - 1 } else { 2..ndim };
    let (space, out_space) = (&shape[axes.clone()], &out[axes]);
    let mut data = call.input(0);
    if is_last {
        data = channels_first(call, &data, ndim);
    }
    let value = if params.global_pool {
        global(call, params, &data, space)?
    } else {
        let window = params.window(space)?;
        windowed(call, params, &data, Windows::new(params, &window, space, out_space))?
    };
    Ok(if is_last { channels_last(call, &value, ndim) } else { value })
}

fn global(call: &mut Call<'_>, params: &PoolingParams, data: &str, space: &[usize]) -> Answer {
    let ndim = space.len() as i64 + 2;
    Ok(match (params.pool_type, params.norm()?) {
        (PoolType::Max, _) => call.step("GlobalMaxPool", &[data], Vec::new()),
        (PoolType::Avg, _) => call.step("GlobalAveragePool", &[data], Vec::new()),
        (PoolType::Lp, 2) => call.step("GlobalLpPool", &[data], vec![AttributeProto::int("p", 2)]),
        (PoolType::Sum, _) | (PoolType::Lp, 1) => {
            let axes = call.ints("axes", &(2..ndim).collect::<Vec<_>>())?;
            call.step("ReduceSum", &[data, &axes], vec![AttributeProto::int("keepdims", 1)])
        }
        (PoolType::Lp, _) => return refuse_odd_norm(),
    })
}

fn windowed(call: &mut Call<'_>, params: &PoolingParams, data: &str, windows: Windows) -> Answer {
    match (params.pool_type, params.norm()?) {
        (PoolType::Max, _) => max(call, data, windows),
        (PoolType::Avg, _) => mean(call, params, data, windows),
        (PoolType::Sum, _) | (PoolType::Lp, 1) => sum(call, data, windows),
        (PoolType::Lp, 2) => {
            let mut windows = windows;
            let data = zeros_around(call, data, &mut windows)?;
            let mut attributes = windows.attributes();
            attributes.push(AttributeProto::int("p", 2));
            Ok(call.step("LpPool", &[data], attributes))
        }
        (PoolType::Lp, _) => refuse_odd_norm(),
    }
}

fn refuse_odd_norm() -> Answer {
    refuse("LpPool of ONNX has no signs, which an odd `p_value` keeps")
}

fn max(call: &mut Call<'_>, data: &str, mut windows: Windows) -> Answer {
    if windows.is_pad_wide() {
        let lowest = match call.dtype(0) {
            F16 => -65504.0,
            F64 => f64::MIN,
            _ => f64::from(f32::MIN),
        };
        let padded = windows.pad_before(call, data, call.dtype(0), lowest, true)?;
        return Ok(call.step("MaxPool", &[padded], windows.attributes()));
    }
    let attributes =
        if windows.has_extra() && windows.is_ceil { windows.ceil_attributes() } else { windows.attributes() };
    Ok(call.step("MaxPool", &[data], attributes))
}

fn mean(call: &mut Call<'_>, params: &PoolingParams, data: &str, mut windows: Windows) -> Answer {
    let is_padded = windows.pad.iter().any(|cells| *cells > 0);
    let counts = params.counts_padding() && is_padded;
    let mut data = data.to_owned();
    // Padding that counts in the mean is written as a `Pad` node in two cases. If the last window extends beyond the padded
    // image, ONNX would count both the padding and the positions beyond it, or neither. If the padding is as wide as the window,
    // ONNX refuses it in the pooling node.
    let is_written = counts && (windows.has_extra() || windows.is_pad_wide());
    if is_written {
        data = windows.pad_before(call, &data, call.dtype(0), 0.0, false)?;
    }
    if windows.is_pad_wide() {
        return refuse("a mean over a window that holds no cell of the image");
    }
    let mut attributes = windows.attributes();
    attributes.insert(0, AttributeProto::int("count_include_pad", i64::from(counts && !is_written)));
    Ok(call.step("AveragePool", &[data], attributes))
}

/// Writes all padding as a `Pad` node of zeros if the padding is too wide for an attribute. Zeros do not change a sum.
fn zeros_around(call: &mut Call<'_>, data: &str, windows: &mut Windows) -> Answer {
    if windows.is_pad_wide() { windows.pad_before(call, data, call.dtype(0), 0.0, true) } else { Ok(data.to_owned()) }
}

fn sum(call: &mut Call<'_>, data: &str, mut windows: Windows) -> Answer {
    let data = zeros_around(call, data, &mut windows)?;
    let mut attributes = windows.attributes();
    attributes.insert(0, AttributeProto::int("count_include_pad", 1));
    let mean = call.step("AveragePool", &[data], attributes);
    let cells: usize = windows.kernel.iter().product();
    let cells = scalar(call.dtype(0), Shape::scalar(), cells as f64)?;
    let cells = call.constant("cells", cells)?;
    Ok(call.step("Mul", &[mean, cells], Vec::new()))
}
