//! Samples an image at points of a grid. Data `[n, c, h, w]` and grid `[n, 2, oh, ow]` give `[n, c, oh, ow]`. The grid holds
//! x, then y, each from -1 (first column or row) to 1 (last). Values between pixels are interpolated bilinearly; pixels
//! outside the image are 0. Jaderberg et al., arXiv:1506.02025.
//!
//! Gradient: of data and of grid.
//!
//! MXNet: `BilinearSampler`. Dtypes: f32 f64 f16 bf16.

use crate::families::bilinear::{around, weighted};
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{learn, learn_dim, require_ndim};
use mxrs_op::{OpDef, OpParams, Precision, Sample, op_params};
use mxrs_types::{PartialShape, Result};

op_params! {
    /// Parameters of `BilinearSampler`.
    pub struct BilinearSamplerParams for "BilinearSampler" {
        /// Accepted for compatibility with MXNet; has no effect.
        cudnn_off: Option<bool> = None,
    }
}

struct BilinearSampler;

impl Formula for BilinearSampler {
    type Params = BilinearSamplerParams;
    const NAME: &'static str = "BilinearSampler";
    const SUMMARY: &'static str = "samples an image at the points of a grid";
    const BACKWARD: &'static str = "_backward_BilinearSampler";
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows);
    const INPUTS: &'static [&'static str] = &["data", "grid"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "grid"];
    const OUTPUTS: &'static [&'static str] = &["output", "tmp"];
    const N_HIDDEN: usize = 1;
    const DIFFERENTIATED: &'static [usize] = &[0, 1];

    fn infer_shape(_: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([data, grid], [out, hidden @ ..]) = (inputs, outputs) else { return Ok(()) };
        require_ndim(data, 4, "data")?;
        require_ndim(grid, 4, "grid")?;
        learn_dim(grid, 1, Some(2), "grid")?;
        let sizes = [data.dim(0).or(grid.dim(0)), data.dim(1), grid.dim(2), grid.dim(3)];
        learn(out, &PartialShape::new(sizes), "output")?;
        learn(data, &PartialShape::new([out.dim(0), out.dim(1), None, None]), "data")?;
        learn(grid, &PartialShape::new([out.dim(0), Some(2), out.dim(2), out.dim(3)]), "grid")?;
        let points = PartialShape::new([out.dim(0), out.dim(2), out.dim(3), Some(2)]);
        hidden.iter_mut().try_for_each(|hidden| learn(hidden, &points, "tmp"))
    }

    fn part<T: Number>(_: &Self::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let (data, out) = (&tensors.inputs[0], &tensors.outputs[0]);
        let (pixels, points) = (data[2] * data[3], out[2] * out[3]);
        let (image, point) = (part / points, part % points);
        let of_grid = |axis: usize| tensors.at(1, (image / out[1] * 2 + axis) * points + point);
        let place = |axis: usize, size: usize| (of_grid(axis) + T::of(1.0)) * T::of((size as f64 - 1.0) / 2.0);
        let (x, y) = (place(0, data[3]), place(1, data[2]));
        let pixel = |(at, weight)| (tensors.at(0, image * pixels + at), weight);
        emit(0, part, weighted(around(y, x, data[2], data[3]).map(pixel)));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("images", &[&[2, 3, 4, 5], &[2, 2, 3, 2]]),
            Sample::plain("outside", &[&[1, 1, 3, 3], &[1, 2, 4, 4]]).fill(1, mxrs_op::Fill::Uniform(-1.7, 1.7)),
            Sample::plain("row", &[&[1, 2, 1, 4], &[1, 2, 2, 3]]),
            Sample::plain("one", &[&[1, 1, 2, 2], &[1, 2, 1, 1]]),
            Sample::plain("empty", &[&[0, 1, 2, 2], &[0, 2, 1, 1]]),
        ]
    }
}

/// Defines the operator `BilinearSampler`.
pub fn define() -> OpDef {
    formula::define::<BilinearSampler>()
}
