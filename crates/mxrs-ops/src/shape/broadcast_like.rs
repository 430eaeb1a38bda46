//! Stretches lhs to the shape of rhs. With `lhs_axes` and `rhs_axes`, only these axes of lhs get the sizes of these axes of
//! rhs.
//!
//! Gradient: `ograd`, summed over the stretched axes; rhs has no gradient.
//!
//! MXNet: `broadcast_like`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::families::stretch;
use crate::inference::{OP, bad_attribute, learn, resolve_axis};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{InputNames, OpDef, OpParams, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `broadcast_like`.
    pub struct BroadcastLikeParams for "broadcast_like" {
        /// The axes of lhs to stretch; all axes if absent.
        lhs_axes: Option<ShapeAttr> = None,
        /// The axes of rhs that have their sizes.
        rhs_axes: Option<ShapeAttr> = None,
    }
}

/// Defines the operator `broadcast_like`.
pub fn define() -> OpDef {
    OpDef {
        summary: "stretches lhs to the shape of rhs",
        inputs: InputNames::Fixed(&["lhs", "rhs"]),
        ignored_inputs: &[1],
        infer_shape,
        samples: || {
            vec![
                Sample::plain("all", &[&[1, 5], &[3, 5]]),
                Sample::plain("both", &[&[1, 1, 4], &[2, 3, 4]]),
                Sample::new("axes", [("lhs_axes", "(0,)"), ("rhs_axes", "(-1,)")], &[&[1, 2], &[3, 4]]),
                Sample::plain("one", &[&[1], &[1]]),
                Sample::plain("empty", &[&[1, 3], &[0, 3]]),
            ]
        },
        ..stretch::define("broadcast_like").params::<BroadcastLikeParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [lhs, rhs] = inputs else { return Ok(()) };
    let (Some(mut dims), Some(like)) = (lhs.dims().map(<[_]>::to_vec), rhs.dims()) else { return Ok(()) };
    let pairs: Vec<(usize, usize)> = match params.get() {
        BroadcastLikeParams { lhs_axes: None, rhs_axes: None } if dims.len() == like.len() => {
            (0..dims.len()).map(|axis| (axis, axis)).collect()
        }
        BroadcastLikeParams { lhs_axes: None, rhs_axes: None } => {
            return Err(Error::shape(OP, "rhs", format!("{} axes, as lhs", dims.len()), &*rhs));
        }
        BroadcastLikeParams { lhs_axes: Some(a), rhs_axes: Some(b) } if a.len() == b.len() => {
            let pair =
                |(a, b): (&i64, &i64)| Ok((resolve_axis(*a, dims.len(), "lhs")?, resolve_axis(*b, like.len(), "rhs")?));
            a.iter().zip(b.iter()).map(pair).collect::<Result<_>>()?
        }
        _ => return Err(bad_attribute("broadcast_like", "rhs_axes", "as many axes as lhs_axes", "another number")),
    };
    for (to, from) in pairs {
        match (dims[to], like[from]) {
            (Some(a), Some(b)) if a != 1 && a != b => {
                return Err(Error::shape(OP, "lhs", format!("1 or the sizes of {rhs}"), &*lhs));
            }
            (_, size) => dims[to] = size,
        }
    }
    learn(&mut outputs[0], &PartialShape::new(dims), "output")
}
