//! Moves of the pixels of images `[h, w, c]` or batches `[n, h, w, c]`: `_image_crop`, a rectangle of an image;
//! `_image_flip_left_right` and `_image_flip_top_bottom`, mirrored images, without a batch.
//!
//! Gradient: `ograd` at the places of the pixels. MXNet has that of `_image_crop`. It leaves the middle column or row of a mirrored
//! image unset, if their number is odd.
//!
//! MXNet: also `_npx__image_crop` and so on. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::indexing::flat;
use crate::families::moved::{by_index, moves};
use crate::inference::{OP, bad_attribute, learn, require_ndim, unify};
use mxrs_op::param::NoParams;
use mxrs_op::{RefInput, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_image_crop`.
    pub struct CropParams for "_image_crop" {
        /// First column.
        x: i32,
        /// First row.
        y: i32,
        /// Number of columns.
        width: i32,
        /// Number of rows.
        height: i32,
    }
}

impl CropParams {
    /// The first row and the first column, and the numbers of rows and of columns.
    fn rectangle(&self) -> Result<[[usize; 2]; 2]> {
        let read = |name: &str, value: i32, least: usize| match usize::try_from(value) {
            Ok(value) if value >= least => Ok(value),
            _ => Err(bad_attribute("_image_crop", name, format!("at least {least}"), value)),
        };
        let first = [read("y", self.y, 0)?, read("x", self.x, 0)?];
        Ok([first, [read("height", self.height, 1)?, read("width", self.width, 1)?]])
    }
}

/// Requires an image or a batch of images, if the number of axes is known. Returns the axis of the rows.
pub(super) fn row_axis(shape: &PartialShape, arg: &str) -> Result<Option<usize>> {
    match shape.ndim() {
        Some(ndim @ (3 | 4)) => Ok(Some(ndim - 3)),
        Some(_) => Err(Error::shape(OP, arg, "an image [h, w, c] or a batch [n, h, w, c]", shape)),
        None => Ok(None),
    }
}

fn samples_of_flip() -> Vec<Sample> {
    vec![
        Sample::plain("picture", &[&[4, 5, 3]]),
        Sample::plain("gray", &[&[3, 4, 1]]),
        Sample::plain("one", &[&[1, 1, 2]]),
        Sample::plain("empty", &[&[0, 4, 3]]),
    ]
}

/// Infers the shapes of an image and of its mirrored form.
fn infer_flip(inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    require_ndim(&mut inputs[0], 3, "data")?;
    unify(&mut inputs[0], &mut outputs[0], "output")
}

/// The positions of the elements if one axis is reversed.
fn flipped(out: &Shape, axis: usize) -> Vec<Option<usize>> {
    by_index(out, |index| {
        let mut index = index.to_vec();
        index[axis] = out[axis] - 1 - index[axis];
        Some(flat(out, &index))
    })
}

moves! {
    Crop(CropParams) "_image_crop" ["_npx__image_crop"] ["data"] "a rectangle of an image", {
        fn infer_shape(params: &CropParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            let [first, sizes] = params.rectangle()?;
            let Some(rows) = row_axis(&inputs[0], "data")? else { return Ok(()) };
            let mut dims = inputs[0].dims().unwrap_or_default().to_vec();
            for (i, axis) in [rows, rows + 1].into_iter().enumerate() {
                if dims[axis].is_some_and(|size| size < first[i].saturating_add(sizes[i])) {
                    let expected = format!("at least {} elements on axis {axis}", first[i].saturating_add(sizes[i]));
                    return Err(Error::shape(OP, "data", expected, &inputs[0]));
                }
                dims[axis] = Some(sizes[i]);
            }
            learn(&mut outputs[0], &PartialShape::new(dims), "output")
        }
        fn sources(params: &CropParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            let ([first, _], data) = (params.rectangle()?, &inputs[0].desc.shape);
            let rows = data.ndim() - 3;
            Ok(by_index(out, |index| {
                let mut index = index.to_vec();
                index[rows] += first[0];
                index[rows + 1] += first[1];
                Some(flat(data, &index))
            }))
        }
        fn samples() -> Vec<Sample> {
            let of = |name, [x, y, width, height]: [&str; 4], shape: &[usize]| {
                Sample::new(name, [("x", x), ("y", y), ("width", width), ("height", height)], &[shape])
            };
            vec![
                of("picture", ["1", "2", "3", "2"], &[4, 5, 3]),
                of("batch", ["0", "1", "2", "3"], &[2, 4, 3, 3]),
                of("whole", ["0", "0", "4", "3"], &[3, 4, 1]),
                of("empty", ["0", "0", "1", "1"], &[0, 2, 2, 3]),
            ]
        }
    }
    FlipLeftRight(NoParams) "_image_flip_left_right" ["_npx__image_flip_left_right"] ["data"] "an image with reversed columns", {
        fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            infer_flip(inputs, outputs)
        }
        fn sources(_: &NoParams, _: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            Ok(flipped(out, 1))
        }
        fn samples() -> Vec<Sample> {
            samples_of_flip()
        }
    }
    FlipTopBottom(NoParams) "_image_flip_top_bottom" ["_npx__image_flip_top_bottom"] ["data"] "an image with reversed rows", {
        fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            infer_flip(inputs, outputs)
        }
        fn sources(_: &NoParams, _: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            Ok(flipped(out, 0))
        }
        fn samples() -> Vec<Sample> {
            samples_of_flip()
        }
    }
}
