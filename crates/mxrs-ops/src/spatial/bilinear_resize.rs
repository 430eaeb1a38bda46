//! Resizes an image by bilinear interpolation: data `[n, c, h, w]` gives `[n, c, oh, ow]`. With `align_corners` the centers
//! of the corner pixels of both images coincide; without it, the outer borders of the corner pixels coincide.
//!
//! Gradient: of data. `like`, of which only the shape matters, has none.
//!
//! MXNet: `_contrib_BilinearResize2D`. Dtypes: f32 f64 f16 bf16.

use crate::families::bilinear::{around, weighted};
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{OP, bad_attribute, learn, require_ndim};
use mxrs_op::{OpDef, OpParams, Precision, Sample, op_enum, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_enum! {
    /// What decides the size of the output.
    pub enum ResizeMode {
        Size = "size",
        OddScale = "odd_scale",
        Like = "like",
        ToEvenDown = "to_even_down",
        ToEvenUp = "to_even_up",
        ToOddDown = "to_odd_down",
        ToOddUp = "to_odd_up",
    }
}

op_params! {
    /// Parameters of `_contrib_BilinearResize2D`.
    pub struct BilinearResizeParams for "_contrib_BilinearResize2D" {
        /// Height of the output, for `size` without scales.
        height: i32 = 1,
        /// Width of the output, for `size` without scales.
        width: i32 = 1,
        /// Height of the output relative to that of data.
        scale_height: Option<f32> = None,
        /// Width of the output relative to that of data.
        scale_width: Option<f32> = None,
        /// What decides the size of the output.
        mode: ResizeMode = ResizeMode::Size,
        /// Whether the corner pixels of both images coincide.
        align_corners: bool = true,
    }
}

impl BilinearResizeParams {
    /// The size of the output on an axis on which data has size `size`, and `like` the size `like`.
    fn resized(&self, size: Option<usize>, like: Option<usize>, fixed: i32, scale: Option<f32>) -> Option<i64> {
        let scaled = |size: usize| (size as f32 * scale.unwrap_or(1.0)) as i64;
        match self.mode {
            ResizeMode::Size if scale.is_none() => Some(i64::from(fixed)),
            ResizeMode::Size => Some(scaled(size?)),
            ResizeMode::OddScale if size?.is_multiple_of(2) => Some(scaled(size?)),
            ResizeMode::OddScale => Some(scaled(size?.saturating_sub(1)).saturating_add(1)),
            ResizeMode::Like => Some(like? as i64),
            ResizeMode::ToEvenDown => Some((size? - size? % 2) as i64),
            ResizeMode::ToEvenUp => Some((size? + size? % 2) as i64),
            ResizeMode::ToOddDown => Some(size? as i64 - i64::from(size?.is_multiple_of(2))),
            ResizeMode::ToOddUp => Some(size? as i64 + i64::from(size?.is_multiple_of(2))),
        }
    }
}

struct BilinearResize;

impl Formula for BilinearResize {
    type Params = BilinearResizeParams;
    const NAME: &'static str = "_contrib_BilinearResize2D";
    const SUMMARY: &'static str = "resizes an image by bilinear interpolation";
    const BACKWARD: &'static str = "_backward_contrib_BilinearResize2D";
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows);
    const INPUTS: &'static [&'static str] = &["data", "like"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "like"];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1, 2];

    fn n_inputs(params: &Self::Params) -> usize {
        if params.mode == ResizeMode::Like { 2 } else { 1 }
    }

    fn infer_shape(params: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([data, like @ ..], [out]) = (inputs, outputs) else { return Ok(()) };
        require_ndim(data, 4, "data")?;
        let of_like = |axis: usize| like.first().and_then(|like| like.dim(axis));
        let height = params.resized(data.dim(2), of_like(2), params.height, params.scale_height);
        let width = params.resized(data.dim(3), of_like(3), params.width, params.scale_width);
        for (name, size) in [("height", height), ("width", width)] {
            if size.is_some_and(|size| size < 1) {
                return Err(bad_attribute(Self::NAME, name, "a size of at least 1", size.unwrap_or(0)));
            }
        }
        if data.dim(2) == Some(0) || data.dim(3) == Some(0) {
            return Err(Error::shape(OP, "data", "an image with pixels", &*data));
        }
        let [height, width] = [height, width].map(|size| size.map(|size| size as usize));
        learn(out, &PartialShape::new([data.dim(0), data.dim(1), height, width]), "output")?;
        learn(data, &PartialShape::new([out.dim(0), out.dim(1), None, None]), "data")
    }

    fn part<T: Number>(params: &Self::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let (data, out) = (&tensors.inputs[0], &tensors.outputs[0]);
        let (plane, point) = (part / (out[2] * out[3]), part % (out[2] * out[3]));
        let place = |i: usize, from: usize, to: usize| {
            let ratio = |from: f64, to: f64| if to > 0.0 { from / to } else { 0.0 };
            let at = match params.align_corners {
                true => ratio(from as f64 - 1.0, to as f64 - 1.0) * i as f64,
                false => (from as f64 / to as f64 * (i as f64 + 0.5) - 0.5).max(0.0),
            };
            T::of(at.min(from as f64 - 1.0))
        };
        let (y, x) = (place(point / out[3], data[2], out[2]), place(point % out[3], data[3], out[3]));
        let pixels = around(y, x, data[2], data[3]);
        emit(0, part, weighted(pixels.map(|(at, weight)| (tensors.at(0, plane * data[2] * data[3] + at), weight))));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let size = [("height", "5"), ("width", "3")];
        vec![
            Sample::new("corners", size, &[&[2, 3, 4, 5]]),
            Sample::new("areas", [size[0], size[1], ("align_corners", "False")], &[&[1, 2, 3, 4]]),
            Sample::new("like", [("mode", "like")], &[&[1, 2, 3, 3], &[1, 1, 6, 5]]),
            Sample::new("scaled", [("scale_height", "2"), ("scale_width", "0.5")], &[&[1, 1, 3, 4]]),
            Sample::new("odd", [("mode", "to_odd_up")], &[&[1, 1, 3, 4]]),
            Sample::new("empty", size, &[&[0, 2, 3, 3]]),
        ]
    }
}

/// Defines the operator `_contrib_BilinearResize2D`.
pub fn define() -> OpDef {
    formula::define::<BilinearResize>()
}
