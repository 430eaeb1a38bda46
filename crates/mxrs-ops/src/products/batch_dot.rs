//! Products of the matrices of two batches: lhs [b, m, k] and rhs [b, k, n] give [b, m, n]. More leading axes are allowed.
//! With `transpose_a` lhs is [b, k, m], with `transpose_b` rhs is [b, n, k].
//!
//! Gradient: products of `ograd` with the other batch.
//!
//! MXNet: `batch_dot`, also `_npx_batch_dot`. Dtypes: f32 f64 f16 bf16. `forward_stype` must be `default` or absent.

use crate::families::dots::{self, DotParams, Extents, Product};
use crate::inference::{OP, learn};
use mxrs_op::{OpDef, Sample};
use mxrs_types::{Error, PartialShape, Result, Shape};

struct BatchDot;

impl Product for BatchDot {
    const NAME: &'static str = "batch_dot";
    const ALIASES: &'static [&'static str] = &["_npx_batch_dot"];
    const SUMMARY: &'static str = "products of the matrices of two batches";
    const BACKWARD: [&'static str; 2] = ["_backward_batch_dot_lhs", "_backward_batch_dot_rhs"];

    fn infer_shape(
        params: &DotParams,
        lhs: &mut PartialShape,
        rhs: &mut PartialShape,
        out: &mut PartialShape,
    ) -> Result<()> {
        let Some(ndim) = lhs.ndim().or(rhs.ndim()).or(out.ndim()) else { return Ok(()) };
        for (shape, arg) in [(&mut *lhs, "lhs"), (&mut *rhs, "rhs"), (&mut *out, "output")] {
            if ndim < 3 {
                return Err(Error::shape(OP, arg, "at least 3 axes", &*shape));
            }
            learn(shape, &PartialShape::of_rank(ndim), arg)?;
        }
        let (row, column) = (ndim - 2, ndim - 1);
        let (m, k_of_lhs) = if params.transpose_a { (column, row) } else { (row, column) };
        let (k_of_rhs, n) = if params.transpose_b { (column, row) } else { (row, column) };
        let first = |sizes: [Option<usize>; 3]| sizes.into_iter().flatten().next();
        let batch: Vec<Option<usize>> =
            (0..row).map(|axis| first([lhs.dim(axis), rhs.dim(axis), out.dim(axis)])).collect();
        let m_size = first([lhs.dim(m), out.dim(row), None]);
        let k_size = first([lhs.dim(k_of_lhs), rhs.dim(k_of_rhs), None]);
        let n_size = first([rhs.dim(n), out.dim(column), None]);
        let shape = |sizes: [Option<usize>; 2], is_swapped: bool| {
            let [a, b] = sizes;
            PartialShape::new([&batch[..], &if is_swapped { [b, a] } else { [a, b] }].concat())
        };
        learn(lhs, &shape([m_size, k_size], params.transpose_a), "lhs")?;
        learn(rhs, &shape([k_size, n_size], params.transpose_b), "rhs")?;
        learn(out, &shape([m_size, n_size], false), "output")
    }

    fn extents(params: &DotParams, lhs: &Shape, rhs: &Shape) -> Extents {
        let (row, column) = (lhs.ndim() - 2, lhs.ndim() - 1);
        let (m, k) = if params.transpose_a { (column, row) } else { (row, column) };
        let n = if params.transpose_b { row } else { column };
        Extents { batch: lhs[..row].iter().product(), m: lhs[m], k: lhs[k], n: rhs[n] }
    }

    fn samples() -> Vec<Sample> {
        let transposed = |name, a, b, lhs: &[usize], rhs: &[usize]| {
            Sample::new(name, [("transpose_a", a), ("transpose_b", b)], &[lhs, rhs])
        };
        vec![
            Sample::plain("matrices", &[&[2, 3, 5], &[2, 5, 4]]),
            transposed("left", "True", "False", &[2, 5, 3], &[2, 5, 4]),
            transposed("right", "False", "True", &[2, 3, 5], &[2, 4, 5]),
            transposed("both", "True", "True", &[2, 5, 3], &[2, 4, 5]),
            Sample::plain("one", &[&[1, 1, 1], &[1, 1, 1]]),
            Sample::plain("empty", &[&[0, 2, 3], &[0, 3, 2]]),
        ]
    }
}

/// Defines the operator `batch_dot`.
pub fn define() -> OpDef {
    dots::define::<BatchDot>()
}
