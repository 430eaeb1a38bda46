//! Transposed convolution over one to three spatial axes: the gradient of a convolution with respect to its data.
//!
//! `out[n, o, y] = bias[o] + Σ_c Σ_k data[n, c, x] · weight[c, o, k]` over all `x` and `k` with
//! `y = x · stride + k · dilate - pad`. Data [N, C, D?, H?, W], weight [C, O/groups, kd?, kh?, kw] and bias `[O]` unless
//! `no_bias` give [N, O, d?, h?, w] with `h = stride · (H - 1) + dilate · (kh - 1) + 1 - 2 · pad + adj`. `target_shape`, if it is
//! not 0, replaces pad and adj by those that give this size.
//!
//! Gradient: of data, weight and bias.
//!
//! MXNet: `Deconvolution`, also `_npx_deconvolution`. Dtypes: f32 f64 f16 bf16. Layouts with the channels last are not built.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::indexing::for_each_index;
use crate::families::window::Window;
use crate::inference::{OP, bad_attribute, learn, learn_dim, require_ndim};
use crate::nn::convolution::CudnnTune;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpDef, OpParams, Precision, Sample, op_enum, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_enum! {
    /// Order of the axes of data and output.
    pub enum DeconvLayout { Ncw = "NCW", Nchw = "NCHW", Ncdhw = "NCDHW", Nhwc = "NHWC", Ndhwc = "NDHWC" }
}

op_params! {
    /// Parameters of `Deconvolution`.
    pub struct DeconvolutionParams for "Deconvolution" {
        /// Size of the window on each spatial axis.
        kernel: ShapeAttr,
        /// Distance between windows in the output; 1 if empty.
        stride: ShapeAttr = ShapeAttr::default(),
        /// Distance between neighboring elements of a window; 1 if empty.
        dilate: ShapeAttr = ShapeAttr::default(),
        /// Elements of the output that are left out on each side; 0 if empty.
        pad: ShapeAttr = ShapeAttr::default(),
        /// Elements that are added at the end of the output; 0 if empty.
        adj: ShapeAttr = ShapeAttr::default(),
        /// Size of the output, which then decides pad and adj.
        target_shape: ShapeAttr = ShapeAttr::default(),
        /// Number of output channels.
        num_filter: u32,
        /// Number of groups that the channels are split into.
        num_group: u32 = 1,
        /// MXNet's workspace limit; read and ignored.
        workspace: u64 = 512,
        /// Whether there is no bias input.
        no_bias: bool = true,
        /// Read and ignored.
        cudnn_tune: Option<CudnnTune> = None,
        /// Read and ignored.
        cudnn_off: bool = false,
        /// Order of axes; channels come before space if absent.
        layout: Option<DeconvLayout> = None,
    }
}

impl DeconvolutionParams {
    fn window(&self) -> Result<Window> {
        if matches!(self.layout, Some(DeconvLayout::Nhwc | DeconvLayout::Ndhwc)) {
            return Err(Error::not_built("Deconvolution with the channels last", "only layouts NC… are built"));
        }
        Window::new("Deconvolution", &self.kernel, &self.stride, &self.dilate, &self.pad)
    }

    /// The size of the output, and the padding, on one axis.
    fn extent(&self, window: &Window, axis: usize, size: usize) -> Result<[usize; 2]> {
        let adj = if self.adj.is_empty() { Some(0) } else { self.adj.get(axis).copied() };
        let Some(adj) = adj.and_then(|adj| usize::try_from(adj).ok()).filter(|adj| *adj < window.stride[axis]) else {
            let expected = "a number below the stride for each axis of the kernel";
            return Err(bad_attribute("Deconvolution", "adj", expected, self.adj.to_text()));
        };
        let whole = window.stride[axis].saturating_mul(size.saturating_sub(1)).saturating_add(window.span(axis));
        let is_wrong = || Error::shape(OP, "data", "an image that gives a positive output", format!("{size} elements"));
        if self.target_shape.iter().all(|target| *target == 0) {
            let padded = whole.saturating_add(adj).checked_sub(2 * window.pad[axis]);
            return Ok([padded.filter(|size| *size > 0).ok_or_else(is_wrong)?, window.pad[axis]]);
        }
        let target = self.target_shape.get(axis).and_then(|target| usize::try_from(*target).ok());
        match target.filter(|target| *target > 0 && *target <= whole) {
            Some(target) => Ok([target, (whole - target).div_ceil(2)]),
            None => {
                let expected = format!("at most {whole} on axis {axis}");
                Err(bad_attribute("Deconvolution", "target_shape", expected, self.target_shape.to_text()))
            }
        }
    }
}

struct Deconvolution;

impl Formula for Deconvolution {
    type Params = DeconvolutionParams;
    const NAME: &'static str = "Deconvolution";
    const ALIASES: &'static [&'static str] = &["_npx_deconvolution"];
    const SUMMARY: &'static str = "1-d, 2-d, 3-d transposed convolution";
    const BACKWARD: &'static str = "_backward_Deconvolution";
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::short);
    const INPUTS: &'static [&'static str] = &["data", "weight", "bias"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "weight", "bias"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1, 2];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[3];

    fn n_inputs(params: &Self::Params) -> usize {
        if params.no_bias { 2 } else { 3 }
    }

    fn infer_shape(params: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([data, weight, bias @ ..], [out]) = (inputs, outputs) else { return Ok(()) };
        let window = params.window()?;
        let (filters, groups) = (params.num_filter as usize, params.num_group as usize);
        if groups == 0 || filters == 0 || !filters.is_multiple_of(groups) {
            let expected = "positive numbers, num_filter a multiple of num_group";
            let got = format!("{groups} for num_filter {filters}");
            return Err(bad_attribute("Deconvolution", "num_group", expected, got));
        }
        require_ndim(data, window.ndim() + 2, "data")?;
        require_ndim(out, window.ndim() + 2, "output")?;
        learn_dim(data, 0, out.dim(0), "data")?;
        if data.dim(1).is_some_and(|c| !c.is_multiple_of(groups)) {
            return Err(Error::shape(OP, "data", format!("a multiple of {groups} channels"), &*data));
        }
        let kernel = window.kernel.iter().map(|size| Some(*size));
        let of_weight = [data.dim(1), Some(filters / groups)].into_iter().chain(kernel);
        learn(weight, &PartialShape::new(of_weight), "weight")?;
        learn_dim(data, 1, weight.dim(0), "data")?;
        bias.iter_mut().try_for_each(|bias| learn(bias, &PartialShape::new([Some(filters)]), "bias"))?;
        let size = |axis: usize| data.dim(axis + 2).map(|size| Ok(params.extent(&window, axis, size)?[0])).transpose();
        let space = (0..window.ndim()).map(size).collect::<Result<Vec<_>>>()?;
        learn(out, &PartialShape::new([data.dim(0), Some(filters)].into_iter().chain(space)), "output")
    }

    fn part<T: Number>(params: &Self::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let window = params.window()?;
        let ([data, weight, ..], out) = (tensors.inputs, &tensors.outputs[0]) else { return Ok(()) };
        let points: usize = out[2..].iter().product();
        let (plane, mut point) = (part / points, part % points);
        let (image, filter) = (plane / out[1], plane % out[1]);
        // For each axis, the pairs of a position in data and a position in the kernel whose products add to this element.
        let mut meetings: Vec<Vec<[usize; 2]>> = Vec::new();
        for axis in (0..window.ndim()).rev() {
            let at = point % out[axis + 2] + params.extent(&window, axis, data[axis + 2])?[1];
            point /= out[axis + 2];
            let place = |k: usize| {
                let start = at.checked_sub(k * window.dilate[axis])?;
                let x = start / window.stride[axis];
                (start.is_multiple_of(window.stride[axis]) && x < data[axis + 2]).then_some([x, k])
            };
            meetings.insert(0, (0..window.kernel[axis]).filter_map(place).collect());
        }
        let mut sum = if params.no_bias { T::of(0.0) } else { tensors.at(2, filter) };
        let (of_group, group_size) = (weight[1], data[1] / params.num_group as usize);
        let sizes: Vec<usize> = meetings.iter().map(Vec::len).collect();
        for channel in filter / of_group * group_size..(filter / of_group + 1) * group_size {
            for_each_index(&sizes, |index| {
                let met = |which: usize, shape: &[usize], first: usize| {
                    (0..index.len()).fold(first, |at, axis| at * shape[axis + 2] + meetings[axis][index[axis]][which])
                };
                let from = met(0, data, image * data[1] + channel);
                let by = met(1, weight, channel * of_group + filter % of_group);
                sum = sum + tensors.at(0, from) * tensors.at(1, by);
            });
        }
        emit(0, part, sum);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let (three, filters) = (("kernel", "(3, 3)"), ("num_filter", "4"));
        let with = |more: [(&'static str, &'static str); 2]| [three, filters, more[0], more[1]];
        let plain = with([("stride", "(2, 2)"), ("pad", "(1, 1)")]);
        vec![
            Sample::new("strides", plain, &[&[2, 3, 4, 3], &[3, 4, 3, 3]]),
            Sample::new("groups", with([("num_group", "2"), ("dilate", "(1, 2)")]), &[&[1, 4, 3, 3], &[4, 2, 3, 3]]),
            Sample::new("bias", with([("no_bias", "False"), ("adj", "(0, 0)")]), &[&[1, 2, 2, 2], &[2, 4, 3, 3], &[4]]),
            Sample::new(
                "target",
                with([("target_shape", "(6, 5)"), ("stride", "(2, 2)")]),
                &[&[1, 2, 3, 3], &[2, 4, 3, 3]],
            ),
            Sample::new("line", [("kernel", "(2,)"), ("num_filter", "1")], &[&[1, 1, 1], &[1, 1, 2]]),
            Sample::new("empty", plain, &[&[0, 3, 4, 3], &[3, 4, 3, 3]]),
        ]
    }
}

/// Defines the operator `Deconvolution`.
pub fn define() -> OpDef {
    formula::define::<Deconvolution>()
}
