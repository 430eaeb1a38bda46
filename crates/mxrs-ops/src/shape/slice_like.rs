//! The first positions of axes, as many as another tensor has: `out[i, …] = data[i, …]` for `i` below the sizes of
//! shape_like, on the axes in `axes` or on all axes.
//!
//! Gradient: `ograd` at the elements that were taken, 0 elsewhere; shape_like has no gradient.
//!
//! MXNet: `slice_like`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::along::{self, Along};
use crate::families::indexing::flat;
use crate::families::moved::{self, Move, by_index};
use crate::inference::{OP, learn, resolve_axis};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{MovedParts, OpDef, RefInput, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `slice_like`.
    pub struct SliceLikeParams for "slice_like" {
        /// Axes that are cut; all axes if empty.
        axes: ShapeAttr = ShapeAttr::default(),
    }
}

struct SliceLike;

impl Move for SliceLike {
    type Params = SliceLikeParams;
    const NAME: &'static str = "slice_like";
    const SUMMARY: &'static str = "the first positions of axes";
    const BACKWARD: &'static str = "_backward_slice_like";
    const INPUTS: &'static [&'static str] = &["data", "shape_like"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "shape_like"];
    const IGNORED: &'static [usize] = &[1];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1, 2];

    fn infer_shape(params: &SliceLikeParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let [data, like] = inputs else { return Ok(()) };
        let (Some(mut dims), Some(n_like)) = (data.dims().map(<[_]>::to_vec), like.ndim()) else { return Ok(()) };
        if params.axes.is_empty() && n_like != dims.len() {
            return Err(Error::shape(OP, "shape_like", format!("{} axes, as data", dims.len()), &*like));
        }
        let axes: Vec<i64> = if params.axes.is_empty() { (0..n_like as i64).collect() } else { params.axes.to_vec() };
        for axis in axes {
            let (to, from) = (resolve_axis(axis, dims.len(), "data")?, resolve_axis(axis, n_like, "shape_like")?);
            let cut = like.dim(from);
            if let (Some(cut), Some(size)) = (cut, dims[to])
                && cut > size
            {
                return Err(Error::shape(OP, "shape_like", format!("at most {size} on axis {axis}"), &*like));
            }
            dims[to] = cut;
        }
        learn(&mut outputs[0], &PartialShape::new(dims), "output")
    }

    fn parts(_: &SliceLikeParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
        let axes: Vec<Along> =
            out.iter().zip(inputs[0].strides()).map(|(n, stride)| Along::whole(*n, stride)).collect();
        Ok(along::parts(0, &axes, out, 0.0))
    }

    fn sources(_: &SliceLikeParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
        Ok(by_index(out, |index| Some(flat(&inputs[0].desc.shape, index))))
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("all", &[&[4, 5], &[3, 2]]),
            Sample::new("one_axis", [("axes", "(1,)")], &[&[4, 5], &[7, 2]]),
            Sample::new("from_the_end", [("axes", "(-1,)")], &[&[2, 3, 5], &[4]]),
            Sample::plain("same", &[&[1], &[1]]),
            Sample::plain("empty", &[&[4, 5], &[0, 2]]),
        ]
    }
}

/// Defines the operator `slice_like`.
pub fn define() -> OpDef {
    moved::define::<SliceLike>()
}
