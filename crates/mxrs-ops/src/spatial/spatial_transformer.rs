//! Samples an image at an affine grid: `GridGenerator` (affine) followed by `BilinearSampler`. Data `[n, c, h, w]` and loc
//! `[n, 6]` give `[n, c, oh, ow]` with `target_shape` (oh, ow). Jaderberg et al., arXiv:1506.02025.
//!
//! Gradient: of data and of loc.
//!
//! MXNet: `SpatialTransformer`. Dtypes: f32 f64 f16 bf16.

use super::grid_generator::{regular, target};
use crate::families::bilinear::{around, weighted};
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{bad_attribute, learn, require_ndim};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpDef, OpParams, Precision, Sample, op_enum, op_params};
use mxrs_types::{PartialShape, Result};

op_enum! {
    /// How a grid is made.
    pub enum AffineOnly { Affine = "affine" }
}

op_enum! {
    /// How an image is sampled.
    pub enum SamplerType { Bilinear = "bilinear" }
}

op_params! {
    /// Parameters of `SpatialTransformer`.
    pub struct SpatialTransformerParams for "SpatialTransformer" {
        /// Height and width of the output.
        target_shape: ShapeAttr = ShapeAttr::new([0, 0]),
        /// How the grid is made.
        transform_type: AffineOnly,
        /// How the image is sampled.
        sampler_type: SamplerType,
        /// Accepted for compatibility with MXNet; has no effect.
        cudnn_off: Option<bool> = None,
    }
}

struct SpatialTransformer;

impl Formula for SpatialTransformer {
    type Params = SpatialTransformerParams;
    const NAME: &'static str = "SpatialTransformer";
    const SUMMARY: &'static str = "samples an image at an affine grid";
    const BACKWARD: &'static str = "_backward_SpatialTransformer";
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows);
    const INPUTS: &'static [&'static str] = &["data", "loc"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "loc"];
    const OUTPUTS: &'static [&'static str] = &["output", "grid_dst", "grid_src"];
    const N_HIDDEN: usize = 2;
    const DIFFERENTIATED: &'static [usize] = &[0, 1];

    fn infer_shape(params: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([data, loc], [out, hidden @ ..]) = (inputs, outputs) else { return Ok(()) };
        let [height, width] = target("SpatialTransformer", &params.target_shape)?;
        let Some(points) = height.checked_mul(width) else {
            return Err(bad_attribute(
                "SpatialTransformer",
                "target_shape",
                "sizes whose product fits into 64 bits",
                params.target_shape.to_text(),
            ));
        };
        require_ndim(data, 4, "data")?;
        learn(out, &PartialShape::new([data.dim(0), data.dim(1), Some(height), Some(width)]), "output")?;
        learn(loc, &PartialShape::new([out.dim(0), Some(6)]), "loc")?;
        learn(out, &PartialShape::new([loc.dim(0), None, None, None]), "output")?;
        learn(data, &PartialShape::new([out.dim(0), out.dim(1), None, None]), "data")?;
        let rest = [PartialShape::new([Some(3), Some(points)]), PartialShape::new([out.dim(0), Some(2), Some(points)])];
        hidden.iter_mut().zip(rest).try_for_each(|(hidden, rest)| learn(hidden, &rest, "grid"))
    }

    fn part<T: Number>(_: &Self::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let (data, out) = (&tensors.inputs[0], &tensors.outputs[0]);
        let (image, point) = (part / (out[2] * out[3]), part % (out[2] * out[3]));
        let (row, column) = (regular(point / out[3], out[2]), regular(point % out[3], out[3]));
        let place = |axis: usize, size: usize| {
            let by = |i: usize, factor: f64| tensors.at(1, image / out[1] * 6 + axis * 3 + i) * T::of(factor);
            (by(0, column) + by(1, row) + by(2, 1.0) + T::of(1.0)) * T::of((size as f64 - 1.0) / 2.0)
        };
        let (x, y) = (place(0, data[3]), place(1, data[2]));
        let pixel = |(at, weight)| (tensors.at(0, image * data[2] * data[3] + at), weight);
        emit(0, part, weighted(around(y, x, data[2], data[3]).map(pixel)));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, size, data: &[usize], loc: &[usize]| {
            let attrs = [("target_shape", size), ("transform_type", "affine"), ("sampler_type", "bilinear")];
            Sample::new(name, attrs, &[data, loc])
        };
        vec![
            of("images", "(3, 4)", &[2, 3, 4, 5], &[2, 6]),
            of("larger", "(5, 5)", &[1, 1, 3, 3], &[1, 6]),
            of("point", "(2, 2)", &[1, 1, 2, 2], &[1, 6]),
            of("empty", "(2, 2)", &[0, 1, 2, 2], &[0, 6]),
        ]
    }
}

/// Defines the operator `SpatialTransformer`.
pub fn define() -> OpDef {
    formula::define::<SpatialTransformer>()
}
