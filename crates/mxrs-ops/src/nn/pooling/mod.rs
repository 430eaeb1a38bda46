//! Pooling over one to three spatial axes: the maximum, mean, sum or p-norm of each window.
//!
//! Shapes: data [N, C, D?, H?, W], out [N, C, d?, h?, w]. In the layouts NWC, NHWC and NDHWC the channels come last.
//! `pooling_convention` sets the number of windows:
//! - `valid`: `h = floor((H + 2·pad - k) / stride) + 1`;
//! - `full`: the same quotient, rounded up;
//! - `same`, for one spatial axis without padding: `w = ceil(W / stride)`.
//!
//! With `global_pool` the window is the whole image, and stride and padding are ignored. A mean divides by the number
//! of elements of the window within the padded image, or within the image itself if `count_include_pad` is false. lp is
//! the p-th root of `Σ x^p`, with the sign of x for odd p. The maximum of a window without elements is the lowest
//! number; all other results for such a window are 0. The maximum of a window with a NaN is NaN.
//!
//! Max pooling has a second, hidden output, because MXNet's CPU build has one: a workspace. The output exists so that
//! outputs are counted as in MXNet; its content is unspecified.
//!
//! The gradient is computed by `_backward_Pooling(ograd, data, output)` for max and lp, and by
//! `_backward_Pooling_average(ograd, data)`, which needs only data's shape, for avg and sum. If a window has several
//! largest elements, the first in row-major order gets the gradient. A p-norm of 0 gives gradient 0 (MXNet: NaN for p
//! above 1).
//!
//! MXNet: `Pooling`, also `_npx_pooling`. Dtypes: f32 f64 f16 bf16.

mod backward;

use crate::dtypes::FLOATS;
use crate::families::indexing::for_each_index;
use crate::families::window::{PerAxis, SpatialView, Window, channel_axis, in_three, spatial_axis};
use crate::inference::{OP, bad_attribute, learn_dim, require_ndim, unify};
use crate::numeric;
use mxrs_op::param::{Choice, ShapeAttr};
use mxrs_op::{
    Accuracy, Fill, Gradient, OpDef, OpParams, OutputCount, Precision, RefInput, RefOutput, RunMode, Sample, op_enum,
    op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_enum! {
    /// The quantity that is computed for each window.
    pub enum PoolType { Max = "max", Avg = "avg", Sum = "sum", Lp = "lp" }
}

op_enum! {
    /// How the number of windows is rounded.
    pub enum PoolConvention { Valid = "valid", Full = "full", Same = "same" }
}

op_enum! {
    /// Order of the axes of data and output.
    pub enum PoolLayout {
        Ncw = "NCW",
        Nchw = "NCHW",
        Ncdhw = "NCDHW",
        Nwc = "NWC",
        Nhwc = "NHWC",
        Ndhwc = "NDHWC",
    }
}

op_params! {
    /// Parameters of `Pooling`.
    pub struct PoolingParams for "Pooling" {
        /// Size of the window on each spatial axis; ignored with `global_pool`.
        kernel: ShapeAttr = ShapeAttr::default(),
        /// The quantity that is computed for each window.
        pool_type: PoolType = PoolType::Max,
        /// Whether the window is the whole image.
        global_pool: bool = false,
        /// Read and ignored.
        cudnn_off: bool = false,
        /// How the number of windows is rounded.
        pooling_convention: PoolConvention = PoolConvention::Valid,
        /// Distance between windows; 1 if empty.
        stride: ShapeAttr = ShapeAttr::default(),
        /// Number of padding elements added on each side; 0 if empty.
        pad: ShapeAttr = ShapeAttr::default(),
        /// The p of lp pooling: 1, 2 or 3.
        p_value: Option<i32> = None,
        /// Whether a mean counts padding elements; true if absent.
        count_include_pad: Option<bool> = None,
        /// Order of axes; channels come before space if absent.
        layout: Option<PoolLayout> = None,
    }
}

impl PoolingParams {
    /// Whether the channels are the last axis.
    pub fn is_channels_last(&self) -> bool {
        matches!(self.layout, Some(PoolLayout::Nwc | PoolLayout::Nhwc | PoolLayout::Ndhwc))
    }

    /// Whether padding elements count in a mean.
    pub fn counts_padding(&self) -> bool {
        self.count_include_pad.unwrap_or(true)
    }

    /// Checks kernel, stride and padding, and returns them as a window. `space` are the spatial sizes of the image; a global
    /// window covers the whole image.
    ///
    /// # Errors
    /// Fails with [`mxrs_types::ErrorKind::Attribute`], which names the invalid parameter.
    pub fn window(&self, space: &[usize]) -> Result<Window> {
        if self.global_pool {
            let ones = PerAxis::from_elem(1, space.len());
            let pad = PerAxis::from_elem(0, space.len());
            return Ok(Window { kernel: space.into(), stride: ones.clone(), dilate: ones, pad });
        }
        let window = Window::new("Pooling", &self.kernel, &self.stride, &[], &self.pad)?;
        if window.ndim() != space.len() {
            let expected = format!("{} sizes for data of {} axes", space.len(), space.len() + 2);
            return Err(bad_attribute("Pooling", "kernel", expected, self.kernel.to_text()));
        }
        let is_same = self.pooling_convention == PoolConvention::Same;
        if is_same && (space.len() != 1 || window.pad.iter().any(|p| *p > 0)) {
            let expected = "valid or full; same is for one spatial axis without padding";
            return Err(bad_attribute("Pooling", "pooling_convention", expected, "same"));
        }
        Ok(window)
    }

    /// Number of windows on a spatial axis of size `size`; `None` if not even one fits.
    pub fn n_windows(&self, window: &Window, axis: usize, size: usize) -> Option<usize> {
        if self.global_pool {
            return Some(1);
        }
        let padded = size.saturating_add(2 * window.pad[axis]);
        match self.pooling_convention {
            PoolConvention::Valid => window.count(axis, size),
            PoolConvention::Full => Some(padded.checked_sub(window.kernel[axis])?.div_ceil(window.stride[axis]) + 1),
            PoolConvention::Same => Some(size.div_ceil(window.stride[axis])),
        }
    }

    /// The p of lp pooling; 1 for other pooling types.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Attribute`] if the p of lp pooling is missing or not 1, 2 or 3.
    pub fn norm(&self) -> Result<i32> {
        match (self.pool_type, self.p_value) {
            (PoolType::Lp, Some(p @ 1..=3)) => Ok(p),
            (PoolType::Lp, p) => {
                let got = p.map_or("None".into(), |p| p.to_string());
                Err(bad_attribute("Pooling", "p_value", "1, 2 or 3 for lp pooling", got))
            }
            _ => Ok(1),
        }
    }

    /// Whether the call has a workspace as second output, as in MXNet's CPU build. It has one for max pooling with an
    /// explicit kernel and channels before space.
    pub fn has_workspace_output(&self) -> bool {
        self.pool_type == PoolType::Max && (1..=3).contains(&self.kernel.len()) && !self.is_channels_last()
    }
}

/// Defines the operator `Pooling`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_pooling"],
        summary: "max, mean, sum, p-norm over windows",
        n_outputs: OutputCount::ByParams(|params| {
            1 + usize::from(params.get::<PoolingParams>().has_workspace_output())
        }),
        output_names: &["output", "workspace"],
        infer_shape,
        infer_dtype,
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        precision: Precision::follows,
        gradient: Gradient::By(backward::gradient),
        companions: backward::companions,
        reference: Some(pool),
        samples,
        ..OpDef::new("Pooling").params::<PoolingParams>()
    }
}

pub(crate) fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<PoolingParams>();
    let is_last = params.is_channels_last();
    let (data, [out, rest @ ..]) = (&mut inputs[0], outputs) else { return Ok(()) };
    // The rank of data, or else the rank that the parameters imply.
    let named =
        params.layout.map(|l| l.to_word().len()).or((!params.kernel.is_empty()).then_some(params.kernel.len() + 2));
    let Some(ndim) = data.ndim().or(out.ndim()).or(named) else { return Ok(()) };
    if !(3..=5).contains(&ndim) {
        return Err(Error::shape(OP, "data", "3 to 5 axes", &*data));
    }
    if let Some(layout) = params.layout {
        require_ndim(data, layout.to_word().len(), "data")?;
    }
    require_ndim(data, ndim, "data")?;
    require_ndim(out, ndim, "output")?;
    let window = params.window(&vec![1; ndim - 2])?;
    for axis in [0, channel_axis(ndim, is_last)] {
        learn_dim(out, axis, data.dim(axis), "output")?;
        learn_dim(data, axis, out.dim(axis), "data")?;
    }
    for i in 0..ndim - 2 {
        let axis = spatial_axis(i, is_last);
        let Some(size) = data.dim(axis) else {
            if params.global_pool {
                learn_dim(out, axis, Some(1), "output")?;
            }
            continue;
        };
        let n_windows = params.n_windows(&window, i, size).ok_or_else(|| {
            let expected = format!("at least {} cells on axis {axis} after padding", window.kernel[i]);
            Error::shape(OP, "data", expected, &*data)
        })?;
        learn_dim(out, axis, Some(n_windows), "output")?;
    }
    rest.iter_mut().try_for_each(|workspace| unify(out, workspace, "workspace"))
}

fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    crate::inference::unify_dtypes(inputs.iter_mut().chain(outputs), "output")
}

/// The part of a window on one axis that lies in the image, and the length of the window within the padded image.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// The first position in the image.
    pub begin: usize,
    /// The position after the last one.
    pub end: usize,
    /// The length of the window within the padded image.
    pub padded_len: usize,
}

/// The part of window `o` on a spatial axis of size `size` that lies in the image.
pub fn cut(window: &Window, axis: usize, o: usize, size: usize) -> Cut {
    let (pad, first) = (window.pad[axis], o * window.stride[axis]);
    // `first` and `end` are positions in the padded image: position 0 is the first padding element.
    let end = (first + window.kernel[axis]).min(size + 2 * pad);
    let inside = |i: usize| i.clamp(pad, size + pad) - pad;
    Cut { begin: inside(first), end: inside(end).max(inside(first)), padded_len: end.saturating_sub(first) }
}

/// Calls `visit` for every window with its flat position in out, the flat positions in data of its elements in
/// row-major order, and the divisor of a mean.
fn for_each_window(
    params: &PoolingParams,
    data: &Shape,
    out: &Shape,
    mut visit: impl FnMut(usize, &[usize], f64),
) -> Result<()> {
    for_each_place(params, data, out, |to, cells, n_padded| {
        let count = if params.counts_padding() { n_padded } else { cells.len() };
        visit(to, cells, count.max(1) as f64);
    })
}

/// Calls `visit` for every window with its flat position in out, the flat positions in data of its elements in
/// row-major order, and the number of its elements within the padded image.
pub(crate) fn for_each_place(
    params: &PoolingParams,
    data: &Shape,
    out: &Shape,
    mut visit: impl FnMut(usize, &[usize], usize),
) -> Result<()> {
    let n_spatial = data.ndim().saturating_sub(2);
    let [data, out] = [data, out].map(|shape| SpatialView::new(shape, params.is_channels_last()));
    let window = params.window(&data.space[3 - n_spatial..])?;
    let window = Window {
        kernel: in_three(&window.kernel, 1).as_slice().into(),
        stride: in_three(&window.stride, 1).as_slice().into(),
        dilate: in_three(&window.dilate, 1).as_slice().into(),
        pad: in_three(&window.pad, 0).as_slice().into(),
    };
    let mut cells = Vec::new();
    for n in 0..out.n {
        for c in 0..out.c {
            for_each_index(&out.space, |at| {
                let cuts = [0, 1, 2].map(|axis| cut(&window, axis, at[axis], data.space[axis]));
                cells.clear();
                for d in cuts[0].begin..cuts[0].end {
                    for h in cuts[1].begin..cuts[1].end {
                        cells.extend((cuts[2].begin..cuts[2].end).map(|w| data.at(n, c, [d, h, w])));
                    }
                }
                // Sizes of a window and of its padding come from a file, so the product may overflow.
                let n_padded = cuts.iter().fold(1usize, |n, cut| n.saturating_mul(cut.padded_len));
                visit(out.at(n, c, [at[0], at[1], at[2]]), &cells, n_padded);
            });
        }
    }
    Ok(())
}

/// Pools `x`; `lowest` is the maximum of an empty window.
pub(crate) fn pooled(params: &PoolingParams, data: &Shape, out: &Shape, x: &[f64], lowest: f64) -> Result<Vec<f64>> {
    let p = params.norm()?;
    let mut y = vec![0.0; out.n_elements()];
    for_each_window(params, data, out, |to, cells, count| {
        let values = cells.iter().map(|i| x[*i]);
        y[to] = match params.pool_type {
            PoolType::Max => values.fold(lowest, numeric::max_nan),
            PoolType::Sum => values.sum(),
            PoolType::Avg => values.sum::<f64>() / count,
            PoolType::Lp => {
                let powers: f64 = values.map(|v| v.powi(p)).sum();
                match p {
                    1 => powers,
                    2 => powers.sqrt(),
                    _ => powers.cbrt(),
                }
            }
        };
    })?;
    Ok(y)
}

fn pool(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let data = inputs[0].desc;
    let x = numeric::read(&inputs[0]);
    let y = pooled(params.get(), &data.shape, &outputs[0].desc.shape, &x, numeric::lowest(data.dtype))?;
    numeric::write(&mut outputs[0], &y);
    if let [_, workspace] = outputs {
        workspace.bytes.fill(0);
    }
    Ok(())
}

fn samples() -> Vec<Sample> {
    let halves = [("kernel", "(2, 2)"), ("stride", "(2, 2)")];
    let padded = |pool_type| [("kernel", "(3, 3)"), ("stride", "(2, 2)"), ("pad", "(1, 1)"), ("pool_type", pool_type)];
    vec![
        Sample::new("max", halves, &[&[2, 3, 8, 6]]),
        Sample::new("max_padded", padded("max"), &[&[1, 16, 9, 7]]).fill(0, Fill::Uniform(-2.0, -1.0)),
        Sample::new("avg_padded", padded("avg"), &[&[1, 3, 9, 7]]),
        Sample::new(
            "avg_without_padding",
            [("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("pool_type", "avg"), ("count_include_pad", "False")],
            &[&[1, 3, 5, 5]],
        ),
        Sample::new("lp_3", [("kernel", "(2, 2)"), ("pool_type", "lp"), ("p_value", "3")], &[&[1, 2, 4, 4]])
            .fill(0, Fill::Uniform(0.1, 1.0)),
        Sample::new("sum", padded("sum"), &[&[1, 2, 7, 7]]),
        Sample::new("lp", [("kernel", "(2, 2)"), ("pool_type", "lp"), ("p_value", "2")], &[&[1, 2, 5, 5]]),
        Sample::new(
            "max_full",
            [("kernel", "(3, 3)"), ("stride", "(2, 2)"), ("pooling_convention", "full")],
            &[&[1, 3, 8, 8]],
        ),
        Sample::new(
            "avg_full",
            [("kernel", "(3, 3)"), ("stride", "(2, 2)"), ("pooling_convention", "full"), ("pool_type", "avg")],
            &[&[1, 3, 8, 8]],
        ),
        Sample::new("global_max", [("global_pool", "True"), ("kernel", "(7, 7)")], &[&[2, 3, 5, 4]]),
        Sample::new("global_avg", [("global_pool", "True"), ("pool_type", "avg")], &[&[2, 16, 7, 7]]),
        Sample::new("same", [("kernel", "(3,)"), ("stride", "(2,)"), ("pooling_convention", "same")], &[&[1, 2, 7]]),
        Sample::new("one_axis", [("kernel", "(3,)"), ("stride", "(2,)")], &[&[2, 3, 9]]),
        Sample::new("three_axes", [("kernel", "(2, 2, 2)"), ("pool_type", "avg")], &[&[1, 2, 3, 4, 5]]),
        Sample::new("channels_last", [("kernel", "(2, 2)"), ("layout", "NHWC")], &[&[1, 4, 5, 3]]),
        Sample::new("no_images", halves, &[&[0, 3, 4, 4]]),
        Sample::new("avg_no_images", [("kernel", "(2, 2)"), ("pool_type", "avg")], &[&[0, 3, 4, 4]]),
        Sample::new("one_element", [("kernel", "(1, 1)")], &[&[1, 1, 1, 1]]),
    ]
}
