//! Product of two tensors over the last axis of lhs and the first of rhs: [a, b, k] and [k, c] give [a, b, c]. Two vectors
//! give `[1]`. With `transpose_a` the product is over the first axis of lhs, with `transpose_b` over the last of rhs.
//!
//! Gradient: products of `ograd` with the other tensor.
//!
//! MXNet: `dot`, also `_sparse_dot`. Dtypes: f32 f64 f16 bf16. `forward_stype` must be `default` or absent.

use crate::families::dots::{self, DotParams, Extents, Product};
use crate::inference::{OP, learn, learn_dim};
use mxrs_op::{OpDef, Sample};
use mxrs_types::{Error, PartialShape, Result, Shape};

struct Dot;

/// Splits the axes of a tensor with `ndim` axes: returns those that the result keeps, and the axis over which products are
/// summed.
fn axes(ndim: usize, is_sum_first: bool) -> (std::ops::Range<usize>, usize) {
    if is_sum_first { (1..ndim, 0) } else { (0..ndim - 1, ndim - 1) }
}

impl Product for Dot {
    const NAME: &'static str = "dot";
    const ALIASES: &'static [&'static str] = &["_sparse_dot"];
    const SUMMARY: &'static str = "product over the last axis of lhs and the first of rhs";
    const BACKWARD: [&'static str; 2] = ["_backward_dot_lhs", "_backward_dot_rhs"];

    fn infer_shape(
        params: &DotParams,
        lhs: &mut PartialShape,
        rhs: &mut PartialShape,
        out: &mut PartialShape,
    ) -> Result<()> {
        let (Some(a), Some(b)) = (lhs.dims().map(<[_]>::to_vec), rhs.dims().map(<[_]>::to_vec)) else { return Ok(()) };
        for (shape, dims, arg) in [(&*lhs, &a, "lhs"), (&*rhs, &b, "rhs")] {
            if dims.is_empty() {
                return Err(Error::shape(OP, arg, "at least one axis", shape));
            }
        }
        let (kept_a, sum_a) = axes(a.len(), params.transpose_a);
        let (kept_b, sum_b) = axes(b.len(), !params.transpose_b);
        learn_dim(rhs, sum_b, a[sum_a], "rhs")?;
        learn_dim(lhs, sum_a, b[sum_b], "lhs")?;
        let mut kept = [&a[kept_a], &b[kept_b]].concat();
        if kept.is_empty() {
            kept.push(Some(1));
        }
        learn(out, &PartialShape::new(kept), "output")
    }

    fn extents(params: &DotParams, lhs: &Shape, rhs: &Shape) -> Extents {
        let (kept_a, sum_a) = axes(lhs.ndim(), params.transpose_a);
        let (kept_b, _) = axes(rhs.ndim(), !params.transpose_b);
        Extents { batch: 1, m: lhs[kept_a].iter().product(), k: lhs[sum_a], n: rhs[kept_b].iter().product() }
    }

    fn samples() -> Vec<Sample> {
        let transposed = |name, a, b, lhs: &[usize], rhs: &[usize]| {
            Sample::new(name, [("transpose_a", a), ("transpose_b", b)], &[lhs, rhs])
        };
        vec![
            Sample::plain("matrices", &[&[3, 5], &[5, 4]]),
            Sample::plain("vectors", &[&[5], &[5]]),
            Sample::plain("more_axes", &[&[2, 3, 4], &[4, 2, 3]]),
            transposed("left", "True", "False", &[5, 3], &[5, 4]),
            transposed("right", "False", "True", &[3, 5], &[4, 5]),
            transposed("both", "True", "True", &[5, 3], &[4, 5]),
            Sample::plain("vector", &[&[3, 4], &[4]]),
            Sample::plain("empty", &[&[0, 3], &[3, 2]]),
            Sample::plain("no_terms", &[&[2, 0], &[0, 3]]),
        ]
    }
}

/// Defines the operator `dot`.
pub fn define() -> OpDef {
    dots::define::<Dot>()
}
