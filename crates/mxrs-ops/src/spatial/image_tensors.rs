//! Images as tensors: `_image_to_tensor` makes `[c, h, w]` of an image `[h, w, c]`, or `[n, c, h, w]` of a batch, and divides by 255;
//! `_image_normalize` computes `(data - mean) / std` for each channel of `[c, h, w]` or `[n, c, h, w]`.
//!
//! Gradient: of data. MXNet has that of `_image_normalize`.
//!
//! MXNet: also `_npx__image_to_tensor` and `_npx__image_normalize`. Dtypes: `_image_to_tensor` f32 f64 f16 bf16 u8 i8 i32 i64, with
//! results in f32; `_image_normalize` f32 f64 f16 bf16.

use super::image_moves::row_axis;
use crate::dtypes::NUMBERS;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{OP, bad_attribute, learn, learn_dtype, unify};
use mxrs_op::param::{Floats, NoParams};
use mxrs_op::{Accuracy, OpDef, OpParams, Precision, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result};

op_params! {
    /// Parameters of `_image_normalize`.
    pub struct NormalizeParams for "_image_normalize" {
        /// What is subtracted: one number, or one for each channel.
        mean: Floats = Floats([0.0; 4].into_iter().collect()),
        /// What is divided by: one number, or one for each channel.
        std: Floats = Floats([1.0; 4].into_iter().collect()),
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[formula::define::<ToTensor>, formula::define::<Normalize>];

struct ToTensor;

impl Formula for ToTensor {
    type Params = NoParams;
    const NAME: &'static str = "_image_to_tensor";
    const ALIASES: &'static [&'static str] = &["_npx__image_to_tensor"];
    const SUMMARY: &'static str = "an image with channels first, from 0 to 1";
    const BACKWARD: &'static str = "_backward_image_to_tensor";
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
    const DTYPES: &'static [DType] = NUMBERS;
    const BACKWARD_DTYPES: Option<&'static [DType]> = Some(&[DType::F32]);
    const ACCURACY: Accuracy = Accuracy::Elementwise;
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows);

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let turn = |shape: &PartialShape, order: [usize; 3]| {
            let dims = shape.dims().unwrap_or_default();
            let (batch, image) = dims.split_at(dims.len() - 3);
            PartialShape::new(batch.iter().copied().chain(order.map(|axis| image[axis])))
        };
        if row_axis(&inputs[0], "data")?.is_some() {
            let out = turn(&inputs[0], [2, 0, 1]);
            learn(&mut outputs[0], &out, "output")?;
        }
        if row_axis(&outputs[0], "output")?.is_some() {
            let data = turn(&outputs[0], [1, 2, 0]);
            learn(&mut inputs[0], &data, "data")?;
        }
        Ok(())
    }

    fn infer_dtype(_: &NoParams, _: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        learn_dtype(&mut outputs[0], DType::F32, "output")
    }

    fn part<T: Number>(_: &NoParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let shape = &tensors.outputs[0];
        let [channels, height, width] = [3, 2, 1].map(|i| shape[shape.ndim() - i]);
        let (plane, pixel) = (part / (height * width), part % (height * width));
        let at = (plane / channels * height * width + pixel) * channels + plane % channels;
        emit(0, part, tensors.at(0, at) / T::of(255.0));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("picture", &[&[4, 5, 3]]),
            Sample::plain("batch", &[&[2, 4, 3, 3]]),
            Sample::plain("gray", &[&[3, 4, 1]]),
            Sample::plain("empty", &[&[0, 2, 2, 3]]),
        ]
    }
}

struct Normalize;

impl NormalizeParams {
    /// The mean and the deviation of a channel.
    fn of_channel(&self, channel: usize) -> [f64; 2] {
        [&self.mean, &self.std].map(|numbers| f64::from(numbers.0[channel.min(numbers.0.len() - 1)]))
    }
}

impl Formula for Normalize {
    type Params = NormalizeParams;
    const NAME: &'static str = "_image_normalize";
    const ALIASES: &'static [&'static str] = &["_npx__image_normalize"];
    const SUMMARY: &'static str = "out = (data - mean) / std for each channel";
    const BACKWARD: &'static str = "_backward_image_normalize";
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
    const ACCURACY: Accuracy = Accuracy::Elementwise;
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows);

    fn infer_shape(params: &NormalizeParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        unify(&mut inputs[0], &mut outputs[0], "output")?;
        let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
        if !(3..=4).contains(&ndim) {
            return Err(Error::shape(OP, "data", "an image [c, h, w] or a batch [n, c, h, w]", &inputs[0]));
        }
        let Some(channels) = inputs[0].dim(ndim - 3) else { return Ok(()) };
        if channels != 1 && channels != 3 {
            return Err(Error::shape(OP, "data", "one or three channels", &inputs[0]));
        }
        for (name, numbers) in [("mean", &params.mean), ("std", &params.std)] {
            if numbers.0.len() != 1 && numbers.0.len() != channels {
                let expected = format!("one number, or {channels}, one for each channel");
                return Err(bad_attribute("_image_normalize", name, expected, numbers.0.len()));
            }
        }
        Ok(())
    }

    fn part<T: Number>(
        params: &NormalizeParams,
        tensors: &Tensors<'_, T>,
        part: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        let shape = &tensors.inputs[0];
        let [channels, height, width] = [3, 2, 1].map(|i| shape[shape.ndim() - i]);
        let [mean, deviation] = params.of_channel(part / (height * width) % channels);
        emit(0, part, (tensors.at(0, part) - T::of(mean)) / T::of(deviation));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let three = [("mean", "(0.5, 0.4, 0.3)"), ("std", "(0.2, 0.3, 0.4)")];
        let one = [("mean", "(0.5,)"), ("std", "(2,)")];
        vec![
            Sample::new("picture", three, &[&[3, 2, 4]]),
            Sample::new("batch", three, &[&[2, 3, 2, 2]]),
            Sample::new("gray", one, &[&[1, 3, 3]]),
            Sample::new("empty", one, &[&[0, 3, 2, 2]]),
        ]
    }
}
