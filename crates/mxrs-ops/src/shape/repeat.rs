//! Repeats every element along an axis: `out[…, i, …] = data[…, i / repeats, …]`. Without an axis, the elements of the
//! flattened data are repeated.
//!
//! Gradient: the sum of `ograd` over all copies of an element.
//!
//! MXNet: `repeat`, also `_np_repeat`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::along::{self, Along};
use crate::families::indexing::flat;
use crate::families::moved::{self, Move, by_index};
use crate::inference::{bad_attribute, learn, product, resolve_axis};
use mxrs_op::{MovedParts, OpDef, RefInput, Sample, op_params};
use mxrs_types::{PartialShape, Result, Shape};

op_params! {
    /// Parameters of `repeat`.
    pub struct RepeatParams for "repeat" {
        /// Number of copies of each element.
        repeats: i32,
        /// Axis along which elements are repeated; the flattened data if absent.
        axis: Option<i32> = None,
    }
}

struct Repeat;

impl Move for Repeat {
    type Params = RepeatParams;
    const NAME: &'static str = "repeat";
    const ALIASES: &'static [&'static str] = &["_np_repeat"];
    const SUMMARY: &'static str = "repeats every element";
    const BACKWARD: &'static str = "_backward_repeat";

    fn infer_shape(params: &RepeatParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let Ok(repeats) = usize::try_from(params.repeats) else {
            return Err(bad_attribute("repeat", "repeats", "no negative number", params.repeats));
        };
        let Some(mut dims) = inputs[0].dims().map(<[_]>::to_vec) else { return Ok(()) };
        // A product that overflows stays unknown, and the call is refused because its shape is unknown.
        let many = |size: Option<usize>| size.and_then(|size| size.checked_mul(repeats));
        let out = match params.axis {
            None => vec![many(product(&dims))],
            Some(axis) => {
                let axis = resolve_axis(i64::from(axis), dims.len(), "data")?;
                dims[axis] = many(dims[axis]);
                dims
            }
        };
        learn(&mut outputs[0], &PartialShape::new(out), "output")
    }

    fn parts(params: &RepeatParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
        let (data, repeats) = (inputs[0], params.repeats as usize);
        let Some(axis) = params.axis else {
            return Ok(along::parts(0, &[Along::nest(&[(data.n_elements(), 1), (repeats, 0)])], out, 0.0));
        };
        let axis = resolve_axis(i64::from(axis), data.ndim(), "data")?;
        let of = |(i, stride): (usize, usize)| match i == axis {
            true => Along::nest(&[(data[i], stride), (repeats, 0)]),
            false => Along::whole(data[i], stride),
        };
        let axes: Vec<Along> = data.strides().into_iter().enumerate().map(of).collect();
        Ok(along::parts(0, &axes, out, 0.0))
    }

    fn sources(params: &RepeatParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
        let (data, repeats) = (&inputs[0].desc.shape, params.repeats as usize);
        let Some(axis) = params.axis else {
            return Ok((0..out.n_elements()).map(|i| Some(i / repeats)).collect());
        };
        let axis = resolve_axis(i64::from(axis), data.ndim(), "data")?;
        Ok(by_index(out, |index| {
            let mut index = index.to_vec();
            index[axis] /= repeats;
            Some(flat(data, &index))
        }))
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::new("flat", [("repeats", "2")], &[&[2, 3]]),
            Sample::new("rows", [("repeats", "3"), ("axis", "0")], &[&[2, 3]]),
            Sample::new("last", [("repeats", "2"), ("axis", "-1")], &[&[2, 3, 4]]),
            Sample::new("once", [("repeats", "1"), ("axis", "0")], &[&[1]]),
            Sample::new("never", [("repeats", "0"), ("axis", "1")], &[&[2, 3]]),
            Sample::new("empty", [("repeats", "2"), ("axis", "1")], &[&[0, 3]]),
        ]
    }
}

/// Defines the operator `repeat`.
pub fn define() -> OpDef {
    moved::define::<Repeat>()
}
