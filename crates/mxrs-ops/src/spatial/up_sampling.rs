//! Enlarges images. `nearest` repeats pixels: each input `[n, c, h, w]` is enlarged to the size of the first times `scale`,
//! and the results are concatenated along the channels, or summed. `bilinear` has the inputs data `[n, c, h, w]` and weight
//! `[c, 1, k, k]` with `k = 2 · scale - scale mod 2`, and interpolates by a transposed convolution of each channel.
//!
//! Gradient: of all inputs.
//!
//! MXNet: `UpSampling`. Dtypes: f32 f64 f16 bf16.

use crate::families::along::{self, Along};
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{OP, bad_attribute, learn, learn_dim, require_ndim};
use mxrs_op::{MovedParts, Moves, OpDef, OpParams, Precision, Sample, op_enum, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_enum! {
    /// How images are enlarged.
    pub enum SampleType { Nearest = "nearest", Bilinear = "bilinear" }
}

op_enum! {
    /// How several enlarged images are combined.
    pub enum MultiInputMode { Concat = "concat", Sum = "sum" }
}

op_params! {
    /// Parameters of `UpSampling`.
    pub struct UpSamplingParams for "UpSampling" {
        /// Size of the output relative to the first input.
        scale: i32,
        /// Number of channels, for `bilinear`; MXNet's transposed convolution needs it.
        num_filter: i32 = 0,
        /// How images are enlarged.
        sample_type: SampleType,
        /// How several enlarged images are combined.
        multi_input_mode: MultiInputMode = MultiInputMode::Concat,
        /// Number of inputs.
        num_args: i32,
        /// Accepted for compatibility with MXNet; has no effect.
        workspace: u64 = 512,
    }
}

/// The largest factor.
const MAX_SCALE: i32 = 1 << 15;

impl UpSamplingParams {
    fn is_bilinear(&self) -> bool {
        self.sample_type == SampleType::Bilinear
    }

    fn check(&self) -> Result<usize> {
        if !(1..=MAX_SCALE).contains(&self.scale) {
            return Err(bad_attribute("UpSampling", "scale", format!("1 to {MAX_SCALE}"), self.scale));
        }
        if self.num_args < 1 || (self.is_bilinear() && self.num_args != 2) {
            let expected = if self.is_bilinear() { "2: data and weight" } else { "at least one input" };
            return Err(bad_attribute("UpSampling", "num_args", expected, self.num_args));
        }
        Ok(self.scale as usize)
    }
}

struct UpSampling;

impl Formula for UpSampling {
    type Params = UpSamplingParams;
    const NAME: &'static str = "UpSampling";
    const SUMMARY: &'static str = "enlarges images";
    const BACKWARD: &'static str = "_backward_UpSampling";
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows);
    const INPUTS: &'static [&'static str] = &[];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd"];
    const VARIABLE: Option<[&'static str; 3]> = Some(["arg", "data", "num_args"]);

    fn n_inputs(params: &UpSamplingParams) -> usize {
        usize::try_from(params.num_args).unwrap_or(0)
    }

    fn infer_shape(params: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let scale = params.check()?;
        let ([first, others @ ..], [out]) = (inputs, outputs) else {
            return Err(bad_attribute("UpSampling", "num_args", "at least 1", params.num_args));
        };
        require_ndim(first, 4, "data")?;
        let scaled = |size: Option<usize>| size.and_then(|size| size.checked_mul(scale));
        learn(out, &PartialShape::new([first.dim(0), None, scaled(first.dim(2)), scaled(first.dim(3))]), "output")?;
        learn_dim(first, 0, out.dim(0), "data")?;
        let size = (2 * scale) - scale % 2;
        if params.is_bilinear() {
            let channels = usize::try_from(params.num_filter).ok().filter(|n| *n > 0);
            if channels.is_none() {
                return Err(bad_attribute("UpSampling", "num_filter", "the number of channels", params.num_filter));
            }
            learn_dim(first, 1, channels, "data")?;
            learn_dim(out, 1, channels, "output")?;
            let weight = PartialShape::new([channels, Some(1), Some(size), Some(size)]);
            return others.iter_mut().try_for_each(|other| learn(other, &weight, "weight"));
        }
        let mut channels = first.dim(1);
        for other in others {
            require_ndim(other, 4, "data")?;
            learn_dim(other, 0, out.dim(0), "data")?;
            let divides = |axis: usize| match (out.dim(axis), other.dim(axis)) {
                (Some(whole), Some(part)) => part == whole || (part > 0 && whole.is_multiple_of(part)),
                _ => true,
            };
            if !divides(2) || !divides(3) {
                return Err(Error::shape(OP, "data", format!("sizes that divide those of {out}"), &*other));
            }
            channels = match params.multi_input_mode {
                MultiInputMode::Sum => channels.or(other.dim(1)),
                MultiInputMode::Concat => channels.zip(other.dim(1)).and_then(|(a, b)| a.checked_add(b)),
            };
            if params.multi_input_mode == MultiInputMode::Sum {
                learn_dim(other, 1, channels, "data")?;
            }
        }
        learn_dim(out, 1, channels, "output")
    }

    fn part<T: Number>(params: &Self::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let out = &tensors.outputs[0];
        let (plane, point) = (part / (out[2] * out[3]), part % (out[2] * out[3]));
        let (image, channel) = (plane / out[1], plane % out[1]);
        let (row, column) = (point / out[3], point % out[3]);
        if params.is_bilinear() {
            emit(0, part, interpolated(params.check()?, tensors, plane, [row, column]));
            return Ok(());
        }
        let mut sum = T::of(0.0);
        let mut first = 0;
        for (input, shape) in tensors.inputs.iter().enumerate() {
            let own = match params.multi_input_mode {
                MultiInputMode::Sum => Some(channel),
                MultiInputMode::Concat => channel.checked_sub(first).filter(|channel| *channel < shape[1]),
            };
            first += shape[1];
            if let Some(own) = own {
                let (row, column) = (row * shape[2] / out[2], column * shape[3] / out[3]);
                sum = sum + tensors.at(input, ((image * shape[1] + own) * shape[2] + row) * shape[3] + column);
            }
        }
        emit(0, part, sum);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, kind, n, mode, shapes: &[&[usize]]| {
            let attrs = [
                ("scale", "2"),
                ("sample_type", kind),
                ("num_args", n),
                ("multi_input_mode", mode),
                ("num_filter", "3"),
            ];
            Sample::new(name, attrs, shapes)
        };
        vec![
            of("nearest", "nearest", "1", "concat", &[&[2, 3, 3, 4]]),
            of("concatenated", "nearest", "2", "concat", &[&[1, 2, 2, 3], &[1, 1, 4, 6]]),
            of("summed", "nearest", "2", "sum", &[&[1, 2, 2, 3], &[1, 2, 1, 1]]),
            of("bilinear", "bilinear", "2", "concat", &[&[2, 3, 3, 4], &[3, 1, 4, 4]]),
            of("empty", "nearest", "1", "concat", &[&[0, 2, 3, 3]]),
        ]
    }
}

/// An element of the transposed convolution of one channel.
fn interpolated<T: Number>(scale: usize, tensors: &Tensors<'_, T>, plane: usize, at: [usize; 2]) -> T {
    let (data, weight) = (&tensors.inputs[0], &tensors.inputs[1]);
    let pad = scale / 2;
    // The pairs of a row (or column) of data and one of the kernel whose products add to row (or column) `at` of the output.
    let meeting = |at: usize, size: usize, n_kernel: usize| {
        (0..size).filter_map(move |i| {
            let offset = (at + pad).checked_sub(i * scale).filter(|offset| *offset < n_kernel)?;
            Some((i, offset))
        })
    };
    let mut sum = T::of(0.0);
    for (i, k) in meeting(at[0], data[2], weight[2]) {
        for (j, l) in meeting(at[1], data[3], weight[3]) {
            let pixel = tensors.at(0, (plane * data[2] + i) * data[3] + j);
            sum = sum + pixel * tensors.at(1, (plane % data[1] * weight[2] + k) * weight[3] + l);
        }
    }
    sum
}

/// Defines the operator `UpSampling`.
pub fn define() -> OpDef {
    let companions: fn() -> Vec<OpDef> = || {
        let describe = |mut op: OpDef| {
            if op.name == UpSampling::BACKWARD {
                op.moves = Moves::Parts(|params, inputs, outputs| match outputs.len() {
                    1 => Ok(nearest(params, outputs, inputs[0]).map(|moved| moved.back(0))),
                    _ => Ok(None),
                });
            }
            op
        };
        (formula::define::<UpSampling>().companions)().into_iter().map(describe).collect()
    };
    let moves = Moves::Parts(|params, inputs, outputs| Ok(nearest(params, inputs, outputs[0])));
    OpDef { moves, companions, ..formula::define::<UpSampling>() }
}

/// The parts of images that are enlarged by repeating pixels; `None` if pixels are computed.
fn nearest(params: &OpParams, inputs: &[&Shape], out: &Shape) -> Option<MovedParts> {
    let params: &UpSamplingParams = params.get();
    if params.is_bilinear() || (params.multi_input_mode == MultiInputMode::Sum && inputs.len() > 1) {
        return None;
    }
    let (mut all, mut channel) = (MovedParts::default(), 0);
    for (i, data) in inputs.iter().enumerate() {
        let strides = data.strides();
        let enlarged = |axis: usize| {
            Along::nest(&[(data[axis], strides[axis]), (out[axis].checked_div(data[axis]).unwrap_or(0), 0)])
        };
        let axes = [Along::whole(data[0], strides[0]), Along::whole(data[1], strides[1]), enlarged(2), enlarged(3)];
        let mut moved = along::parts(i, &axes, out, 0.0)?;
        moved.parts.iter_mut().for_each(|part| part.to += channel * out.strides()[1]);
        channel += data[1];
        all.repeats |= moved.repeats;
        all.parts.extend(moved.parts);
    }
    Some(all)
}
