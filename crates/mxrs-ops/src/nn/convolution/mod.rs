//! Convolution over one to three spatial axes, in the sense of neural networks (cross-correlation).
//!
//! `out[n, o, y] = bias[o] + Σ_c Σ_k data[n, c, y·stride + k·dilate - pad] · weight[o, c, k]`, `c` over the group of
//! `o`.
//!
//! Shapes: data [N, C, D?, H?, W], weight [O, C/groups, kd?, kh?, kw], bias `[O]` unless `no_bias`, out [N, O, d?, h?,
//! w] with `h = (H + 2·pad - dilate·(kh - 1) - 1) / stride + 1`. In the layouts NHWC and NDHWC, the channels come last
//! in data, out and weight ([O, kh, kw, C/groups]). Elements outside data count as 0.
//!
//! Its gradients are computed by `_backward_Convolution_data`, `_backward_Convolution_weight` and
//! `_backward_Convolution_bias`. `_backward_Convolution_offset` computes the gradient of an offset per channel, a
//! number that is added to all elements of a channel of data.
//!
//! MXNet: `Convolution`, also `_npx_convolution`. Dtypes: f32 f64 f16 bf16, the same for all tensors.

mod backward;
pub mod offset;

pub(crate) use backward::Convolution;

use crate::families::indexing::{around_axis, for_each_index};
use crate::families::products;
use crate::families::window::{SpatialView, Window, channel_axis, in_three, spatial_axis};
use crate::fused;
use crate::inference::{OP, bad_attribute, learn, learn_dim, require_ndim};
use crate::numeric;
use mxrs_op::param::{Choice, ShapeAttr};
use mxrs_op::{OpDef, Precision, RefInput, Sample, op_enum, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_enum! {
    /// How MXNet's cuDNN code chooses an algorithm. Read and ignored.
    pub enum CudnnTune { Fastest = "fastest", LimitedWorkspace = "limited_workspace", Off = "off" }
}

op_enum! {
    /// Order of the axes of data and output.
    pub enum ConvLayout { Ncw = "NCW", Nchw = "NCHW", Ncdhw = "NCDHW", Nhwc = "NHWC", Ndhwc = "NDHWC" }
}

op_params! {
    /// Parameters of `Convolution`.
    pub struct ConvolutionParams for "Convolution" {
        /// Size of the window on each spatial axis.
        kernel: ShapeAttr,
        /// Distance between windows; 1 if empty.
        stride: ShapeAttr = ShapeAttr::default(),
        /// Distance between neighboring elements of a window; 1 if empty.
        dilate: ShapeAttr = ShapeAttr::default(),
        /// Zeros added on each side; 0 if empty.
        pad: ShapeAttr = ShapeAttr::default(),
        /// Number of output channels.
        num_filter: u32,
        /// Number of groups that the channels are split into.
        num_group: u32 = 1,
        /// MXNet's workspace limit; read and ignored.
        workspace: u64 = 1024,
        /// Whether there is no bias input.
        no_bias: bool = false,
        /// Read and ignored.
        cudnn_tune: Option<CudnnTune> = None,
        /// Read and ignored.
        cudnn_off: bool = false,
        /// Order of axes; channels come before space if absent.
        layout: Option<ConvLayout> = None,
    }
}

impl ConvolutionParams {
    /// Checks kernel, stride, dilation and padding.
    ///
    /// # Errors
    /// Fails with [`mxrs_types::ErrorKind::Attribute`], which names the invalid parameter.
    pub fn window(&self) -> Result<Window> {
        let window = Window::new("Convolution", &self.kernel, &self.stride, &self.dilate, &self.pad)?;
        if let Some(layout) = self.layout
            && layout.to_word().len() != window.ndim() + 2
        {
            let expected = format!("a layout of {} axes for this kernel", window.ndim() + 2);
            return Err(bad_attribute("Convolution", "layout", expected, layout.to_word()));
        }
        Ok(window)
    }

    /// Whether the channels are the last axis.
    pub fn is_channels_last(&self) -> bool {
        matches!(self.layout, Some(ConvLayout::Nhwc | ConvLayout::Ndhwc))
    }
}

/// Defines the operator `Convolution`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_convolution"],
        summary: "1-d, 2-d, 3-d convolution",
        precision: Precision::short,
        companions: || {
            let mut companions = products::companions::<Convolution>();
            companions.extend([
                offset::define(),
                fused::convolution::define(),
                fused::conv_depthwise::define(),
                fused::scaled_convolution::define(),
            ]);
            companions
        },
        samples,
        ..products::operator::<Convolution>()
    }
}

/// Infers the shapes of the inputs (`data`, `weight` and, if there is one, `bias`) and of the output.
fn infer_shape(params: &ConvolutionParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let window = params.window()?;
    let is_last = params.is_channels_last();
    let (filters, groups) = (params.num_filter as usize, params.num_group as usize);
    if groups == 0 || filters == 0 || !filters.is_multiple_of(groups) {
        let expected = "positive numbers, num_filter a multiple of num_group";
        return Err(bad_attribute("Convolution", "num_group", expected, format!("{groups} for num_filter {filters}")));
    }
    let ndim = window.ndim() + 2;
    let c_axis = channel_axis(ndim, is_last);
    let [data, weight, rest @ ..] = inputs else { return Ok(()) };
    let out = &mut outputs[0];
    require_ndim(data, ndim, "data")?;
    require_ndim(weight, ndim, "weight")?;
    require_ndim(out, ndim, "output")?;

    learn_dim(weight, 0, Some(filters), "weight")?;
    for (i, size) in window.kernel.iter().enumerate() {
        learn_dim(weight, spatial_axis(i, is_last), Some(*size), "weight")?;
    }
    if let Some(channels) = data.dim(c_axis) {
        if !channels.is_multiple_of(groups) {
            return Err(Error::shape(OP, "data", format!("channels in {groups} equal groups"), &*data));
        }
        learn_dim(weight, c_axis, Some(channels / groups), "weight")?;
    }
    learn_dim(data, c_axis, weight.dim(c_axis).and_then(|c| c.checked_mul(groups)), "data")?;
    if let [bias] = rest {
        learn(bias, &PartialShape::new([Some(filters)]), "bias")?;
    }

    learn_dim(out, 0, data.dim(0), "output")?;
    learn_dim(data, 0, out.dim(0), "data")?;
    learn_dim(out, c_axis, Some(filters), "output")?;
    for i in 0..window.ndim() {
        let axis = spatial_axis(i, is_last);
        if let Some(size) = data.dim(axis) {
            let n_windows = window.count(i, size).ok_or_else(|| {
                let expected = format!("at least {} cells on axis {axis} after padding", window.span(i));
                Error::shape(OP, "data", expected, &*data)
            })?;
            learn_dim(out, axis, Some(n_windows), "output")?;
        } else if window.stride[i] == 1 {
            let size = out.dim(axis).and_then(|n| n.checked_add(window.span(i) - 1)?.checked_sub(2 * window.pad[i]));
            learn_dim(data, axis, size, "data")?;
        }
    }
    Ok(())
}

/// Calls `visit` for every product of an element of data and an element of the weight. The arguments are the flat
/// positions of the element of data, of the element of the weight, and of the output element to whose sum the product
/// belongs.
fn for_each_product(
    params: &ConvolutionParams,
    [data, weight, out]: [&Shape; 3],
    mut visit: impl FnMut(usize, usize, usize),
) -> Result<()> {
    let window = params.window()?;
    let [data, weight, out] = [data, weight, out].map(|s| SpatialView::new(s, params.is_channels_last()));
    let (stride, dilate, pad) = (in_three(&window.stride, 1), in_three(&window.dilate, 1), in_three(&window.pad, 0));
    let filters_per_group = (out.c / params.num_group as usize).max(1);
    // Position in data of element `k` of window `o` on an axis; `None` if the element lies in the padding.
    let place = |axis: usize, o: usize, k: usize| {
        (o * stride[axis] + k * dilate[axis]).checked_sub(pad[axis]).filter(|i| *i < data.space[axis])
    };
    for n in 0..out.n {
        for o in 0..out.c {
            let first_channel = o / filters_per_group * weight.c;
            for_each_index(&out.space, |at| {
                let to = out.at(n, o, [at[0], at[1], at[2]]);
                for_each_index(&weight.space, |k| {
                    let from = [place(0, at[0], k[0]), place(1, at[1], k[1]), place(2, at[2], k[2])];
                    let [Some(d), Some(h), Some(w)] = from else { return };
                    for c in 0..weight.c {
                        let cell = weight.at(o, c, [k[0], k[1], k[2]]);
                        visit(data.at(n, first_channel + c, [d, h, w]), cell, to);
                    }
                });
            });
        }
    }
    Ok(())
}

/// Computes the output, of shape `out`, from the inputs `data`, `weight` and, if there is one, `bias`. The values are in
/// row-major order and not yet rounded.
fn values(params: &ConvolutionParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<f64>> {
    let [data, weight] = [&inputs[0].desc.shape, &inputs[1].desc.shape];
    let (x, w) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    let mut y = vec![0.0; out.n_elements()];
    if let Some(bias) = inputs.get(2).map(numeric::read) {
        let (_, channels, inner) = around_axis(out, channel_axis(out.ndim(), params.is_channels_last()));
        y.iter_mut().enumerate().for_each(|(i, y)| *y = bias[i / inner % channels]);
    }
    for_each_product(params, [data, weight, out], |data, weight, out| y[out] += x[data] * w[weight])?;
    Ok(y)
}

fn samples() -> Vec<Sample> {
    let square = [("kernel", "(3, 3)"), ("num_filter", "4"), ("pad", "(1, 1)")];
    vec![
        Sample::new("padded_3x3", square, &[&[2, 3, 7, 9], &[4, 3, 3, 3], &[4]]),
        Sample::new(
            "strided_without_bias",
            [("kernel", "(3, 3)"), ("num_filter", "16"), ("stride", "(2, 2)"), ("pad", "(1, 1)"), ("no_bias", "True")],
            &[&[1, 16, 8, 8], &[16, 16, 3, 3]],
        ),
        Sample::new(
            "one_by_one",
            [("kernel", "(1, 1)"), ("num_filter", "5"), ("no_bias", "True")],
            &[&[2, 8, 5, 5], &[5, 8, 1, 1]],
        ),
        Sample::new(
            "groups",
            [("kernel", "(3, 3)"), ("num_filter", "6"), ("num_group", "3")],
            &[&[1, 6, 5, 5], &[6, 2, 3, 3], &[6]],
        ),
        Sample::new(
            "depthwise",
            [("kernel", "(3, 3)"), ("num_filter", "8"), ("num_group", "8"), ("pad", "(1, 1)"), ("no_bias", "True")],
            &[&[1, 8, 6, 6], &[8, 1, 3, 3]],
        ),
        Sample::new(
            "dilated",
            [("kernel", "(3, 2)"), ("num_filter", "2"), ("dilate", "(2, 3)"), ("pad", "(2, 0)")],
            &[&[1, 2, 7, 8], &[2, 2, 3, 2], &[2]],
        ),
        Sample::new(
            "asymmetric",
            [("kernel", "(1, 7)"), ("num_filter", "3"), ("stride", "(1, 2)"), ("pad", "(0, 3)")],
            &[&[1, 3, 5, 11], &[3, 3, 1, 7], &[3]],
        ),
        Sample::new(
            "one_axis",
            [("kernel", "(3,)"), ("num_filter", "4"), ("stride", "(2,)")],
            &[&[2, 3, 11], &[4, 3, 3], &[4]],
        ),
        Sample::new(
            "three_axes",
            [("kernel", "(2, 3, 3)"), ("num_filter", "4"), ("pad", "(0, 1, 1)")],
            &[&[1, 2, 4, 5, 5], &[4, 2, 2, 3, 3], &[4]],
        ),
        Sample::new(
            "channels_last",
            [("kernel", "(3, 3)"), ("num_filter", "4"), ("layout", "NHWC"), ("pad", "(1, 1)")],
            &[&[2, 5, 6, 3], &[4, 3, 3, 3], &[4]],
        ),
        Sample::new("no_images", square, &[&[0, 3, 5, 5], &[4, 3, 3, 3], &[4]]),
        Sample::new("one_element", [("kernel", "(1, 1)"), ("num_filter", "1")], &[&[1, 1, 1, 1], &[1, 1, 1, 1], &[1]]),
    ]
}
