//! A rectangle of each image: `out[n, c, y, x] = data[n, c, y + first_y, x + first_x]`.
//!
//! The rectangle has the height and width of the second input, or, if there is only one, those of `h_w`. It begins at
//! `offset`, or is in the middle with `center_crop`; there an odd remainder is larger at the end.
//!
//! Gradient: `ograd` at the elements that were taken, 0 elsewhere; the second input has no gradient.
//!
//! MXNet: `Crop`, only in float32; its name with a small letter is another operator, [`slice`](super::slice). Dtypes: f32 f64
//! f16 bf16 u8 i8 i32 i64 bool.

use crate::families::along::{self, Along};
use crate::families::indexing::flat;
use crate::families::moved::{self, Move, by_index};
use crate::inference::{OP, bad_attribute, learn_dim, require_ndim};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{InputNames, MovedParts, OpDef, Precision, RefInput, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `Crop`.
    pub struct CropParams for "Crop" {
        /// Number of inputs: 1, or 2 if the second one gives height and width.
        num_args: i32,
        /// First row and first column of the rectangle.
        offset: ShapeAttr = ShapeAttr::new([0, 0]),
        /// Height and width of the rectangle, for one input.
        h_w: ShapeAttr = ShapeAttr::new([0, 0]),
        /// Whether the rectangle is in the middle of the image.
        center_crop: bool = false,
    }
}

impl CropParams {
    fn count(&self) -> usize {
        usize::try_from(self.num_args).unwrap_or(0)
    }

    /// Height (`i` 0) or width (`i` 1) of the rectangle, for one input.
    fn size(&self, i: usize) -> Result<usize> {
        let size = self.h_w.get(i).and_then(|size| usize::try_from(*size).ok()).filter(|size| *size > 0);
        size.ok_or_else(|| bad_attribute("Crop", "h_w", "two positive sizes", self.h_w.to_text()))
    }

    /// The first row (`i` 0) or column (`i` 1) of a rectangle of `size` rows or columns in an image of `of`.
    fn first(&self, i: usize, size: usize, of: usize) -> Option<usize> {
        let rest = of.checked_sub(size)?;
        if self.center_crop {
            return Some(rest / 2);
        }
        let first = self.offset.get(i).and_then(|first| usize::try_from(*first).ok());
        first.filter(|first| *first <= rest)
    }

    /// The first row and the first column for these shapes, which have passed inference.
    fn firsts(&self, data: &Shape, out: &Shape) -> Result<[usize; 2]> {
        let first = |i: usize| {
            let refuse = || Error::shape(OP, "data", format!("an image with the rectangle of {out}"), data);
            self.first(i, out[i + 2], data[i + 2]).ok_or_else(refuse)
        };
        Ok([first(0)?, first(1)?])
    }
}

struct Crop;

impl Move for Crop {
    type Params = CropParams;
    const NAME: &'static str = "Crop";
    const SUMMARY: &'static str = "a rectangle of images";
    const BACKWARD: &'static str = "_backward_Crop";
    const INPUTS: &'static [&'static str] = &["arg0", "arg1"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "arg0", "arg1"];
    const IGNORED: &'static [usize] = &[1];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1, 2];

    fn n_inputs(params: &CropParams) -> usize {
        params.count().clamp(1, 2)
    }

    fn infer_shape(params: &CropParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let (data, like) = match (params.num_args, inputs) {
            (1, [data]) => (data, None),
            (2, [data, like]) => (data, Some(like)),
            _ => return Err(bad_attribute("Crop", "num_args", "1 or 2", params.num_args)),
        };
        let out = &mut outputs[0];
        require_ndim(data, 4, "data")?;
        require_ndim(out, 4, "output")?;
        for axis in [0, 1] {
            learn_dim(out, axis, data.dim(axis), "output")?;
            learn_dim(data, axis, out.dim(axis), "data")?;
        }
        match like {
            Some(like) => {
                require_ndim(like, 4, "crop_like")?;
                for axis in [2, 3] {
                    learn_dim(out, axis, like.dim(axis), "output")?;
                    learn_dim(like, axis, out.dim(axis), "crop_like")?;
                }
            }
            None => [0, 1].into_iter().try_for_each(|i| learn_dim(out, i + 2, Some(params.size(i)?), "output"))?,
        }
        for i in [0, 1] {
            if let (Some(size), Some(of)) = (out.dim(i + 2), data.dim(i + 2))
                && params.first(i, size, of).is_none()
            {
                let at = if params.center_crop { "in the middle".into() } else { params.offset.to_text() };
                let expected = format!("room for {size} elements on axis {}, offset {at}", i + 2);
                return Err(Error::shape(OP, "data", expected, &*data));
            }
        }
        Ok(())
    }

    fn parts(params: &CropParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
        let data = inputs[0];
        let firsts = params.firsts(data, out)?;
        let axis = |(axis, stride): (usize, &usize)| {
            let first = if axis < 2 { 0 } else { firsts[axis - 2] };
            Along::new().then(first * stride, &[(out[axis], *stride as isize)])
        };
        let axes: Vec<Along> = data.strides().iter().enumerate().map(axis).collect();
        Ok(along::parts(0, &axes, out, 0.0))
    }

    fn sources(params: &CropParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
        let data = &inputs[0].desc.shape;
        let [row, column] = params.firsts(data, out)?;
        Ok(by_index(out, |index| Some(flat(data, &[index[0], index[1], index[2] + row, index[3] + column]))))
    }

    fn samples() -> Vec<Sample> {
        let one = ("num_args", "1");
        vec![
            Sample::new("rectangle", [one, ("h_w", "(2, 3)"), ("offset", "(1, 2)")], &[&[2, 3, 4, 5]]),
            Sample::new("middle", [one, ("h_w", "(2, 2)"), ("center_crop", "True")], &[&[1, 2, 5, 4]]),
            Sample::new("like", [("num_args", "2"), ("offset", "(1, 1)")], &[&[2, 2, 4, 5], &[1, 3, 2, 3]]),
            Sample::new("middle_like", [("num_args", "2"), ("center_crop", "True")], &[&[1, 2, 5, 4], &[2, 1, 3, 3]]),
            Sample::new("whole", [one, ("h_w", "(3, 4)")], &[&[1, 2, 3, 4]]),
            Sample::new("empty", [one, ("h_w", "(1, 1)")], &[&[0, 2, 2, 3]]),
        ]
    }
}

/// Defines the operator `Crop`.
pub fn define() -> OpDef {
    OpDef {
        inputs: InputNames::Variable {
            prefix: "arg",
            listed: "data",
            key: "num_args",
            count: |params| params.get::<CropParams>().count(),
        },
        precision: Precision::float32,
        precision_float16: Some(Precision::follows),
        ..moved::define::<Crop>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    #[test]
    fn rectangles_outside_the_image_are_refused() {
        let op = define();
        for (attrs, is_possible) in [
            (&[("h_w", "(2, 3)"), ("offset", "(2, 2)")][..], true),
            (&[("h_w", "(2, 3)"), ("offset", "(3, 2)")], false),
            (&[("h_w", "(2, 3)"), ("offset", "(-1, 0)")], false),
            (&[("h_w", "(2, 3)"), ("offset", "()")], false),
            (&[("h_w", "(5, 3)"), ("center_crop", "True")], false),
            (&[("h_w", "(2,)")], false),
            (&[], false),
        ] {
            let attrs: Attrs = attrs.iter().copied().chain([("num_args", "1")]).collect();
            let params = op.parse(&attrs).unwrap();
            let mut inputs = [PartialShape::from(Shape::from([1, 2, 4, 5]))];
            let mut outputs = [PartialShape::unknown()];
            assert_eq!(op.infer_shapes(&params, &mut inputs, &mut outputs).is_ok(), is_possible, "{attrs:?}");
        }
    }

    #[test]
    fn other_numbers_of_inputs_are_refused() {
        for op in [define(), (define().companions)().swap_remove(0)] {
            for num_args in [-1, 0, 3, 1000] {
                let params = op.parse(&Attrs::from([("num_args", num_args.to_string())])).unwrap();
                let mut inputs = vec![PartialShape::unknown(); op.n_inputs(&params)];
                let mut outputs = [PartialShape::unknown()];
                assert!(op.infer_shapes(&params, &mut inputs, &mut outputs).is_err(), "{} {num_args}", op.name);
            }
        }
    }
}
