//! Grids for `BilinearSampler`. `affine`: data `[n, 6]` holds matrices `[2, 3]`, and the grid is the matrix applied to the
//! regular grid of `target_shape` (h, w). `warp`: data `[n, 2, h, w]` holds distances in pixels that are added to the regular
//! grid. The output is `[n, 2, h, w]`, x first, with coordinates from -1 to 1.
//!
//! Gradient: of data.
//!
//! MXNet: `GridGenerator`. Dtypes: f32 f64 f16 bf16.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{bad_attribute, learn, learn_dim, require_ndim};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpDef, OpParams, Precision, Sample, op_enum, op_params};
use mxrs_types::{PartialShape, Result};

op_enum! {
    /// How a grid is made.
    pub enum TransformType { Affine = "affine", Warp = "warp" }
}

op_params! {
    /// Parameters of `GridGenerator`.
    pub struct GridGeneratorParams for "GridGenerator" {
        /// How the grid is made: by a matrix, or by distances.
        transform_type: TransformType,
        /// Height and width of the grid, for `affine`.
        target_shape: ShapeAttr = ShapeAttr::new([0, 0]),
    }
}

/// The coordinate of row or column `i` of `n` on the regular grid from -1 to 1; -1 if there is only one.
pub fn regular(i: usize, n: usize) -> f64 {
    if n > 1 { -1.0 + 2.0 * i as f64 / (n as f64 - 1.0) } else { -1.0 }
}

/// Reads the height and width of a target.
///
/// # Errors
/// Fails unless they are two positive numbers.
pub fn target(op: &str, shape: &ShapeAttr) -> Result<[usize; 2]> {
    match shape.0.as_slice() {
        [height, width] if *height > 0 && *width > 0 => Ok([*height as usize, *width as usize]),
        _ => Err(bad_attribute(op, "target_shape", "two positive sizes", shape.to_text())),
    }
}

struct GridGenerator;

impl Formula for GridGenerator {
    type Params = GridGeneratorParams;
    const NAME: &'static str = "GridGenerator";
    const SUMMARY: &'static str = "grid of points for BilinearSampler";
    const BACKWARD: &'static str = "_backward_GridGenerator";
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows);
    const OUTPUTS: &'static [&'static str] = &["output", "grid_dst"];
    const N_HIDDEN: usize = 1;
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];

    fn infer_shape(params: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([data], [out, hidden @ ..]) = (inputs, outputs) else { return Ok(()) };
        require_ndim(out, 4, "output")?;
        learn_dim(out, 1, Some(2), "output")?;
        let rest = match params.transform_type {
            TransformType::Warp => {
                learn(data, out, "data")?;
                learn(out, data, "output")?;
                PartialShape::new([Some(2), out.dim(2), out.dim(3)])
            }
            TransformType::Affine => {
                let [height, width] = target("GridGenerator", &params.target_shape)?;
                require_ndim(data, 2, "data")?;
                learn_dim(data, 1, Some(6), "data")?;
                learn_dim(data, 0, out.dim(0), "data")?;
                learn(out, &PartialShape::new([data.dim(0), Some(2), Some(height), Some(width)]), "output")?;
                PartialShape::new([Some(3), height.checked_mul(width)])
            }
        };
        hidden.iter_mut().try_for_each(|hidden| learn(hidden, &rest, "grid_dst"))
    }

    fn part<T: Number>(params: &Self::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let out = &tensors.outputs[0];
        let (height, width) = (out[2], out[3]);
        let (plane, point) = (part / (height * width), part % (height * width));
        let (row, column) = (point / width, point % width);
        let value = match params.transform_type {
            TransformType::Affine => {
                let by = |i: usize, factor: f64| tensors.at(0, plane * 3 + i) * T::of(factor);
                by(0, regular(column, width)) + by(1, regular(row, height)) + by(2, 1.0)
            }
            TransformType::Warp => {
                let (place, size) = if plane % 2 == 0 { (column, width) } else { (row, height) };
                let half = T::of((size as f64 - 1.0) / 2.0);
                (tensors.at(0, part) + T::of(place as f64)) / half - T::of(1.0)
            }
        };
        emit(0, part, value);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let affine = [("transform_type", "affine"), ("target_shape", "(3, 4)")];
        vec![
            Sample::new("affine", affine, &[&[2, 6]]),
            Sample::new("warp", [("transform_type", "warp")], &[&[2, 2, 3, 4]]),
            Sample::new("square", [("transform_type", "affine"), ("target_shape", "(2, 2)")], &[&[1, 6]]),
            Sample::new("empty", affine, &[&[0, 6]]),
        ]
    }
}

/// Defines the operator `GridGenerator`.
pub fn define() -> OpDef {
    formula::define::<GridGenerator>()
}
