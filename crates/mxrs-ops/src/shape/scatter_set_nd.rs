//! `lhs` with slices of `rhs` at points, as in `scatter_nd`: `out[indices[0, j], …, indices[m - 1, j]] = rhs[j]`, and lhs
//! elsewhere. Negative indices count from the end; others outside the shape are refused. If points repeat, the last slice
//! wins.
//!
//! Gradient: lhs gets `ograd` except at the points, where it is 0; rhs gets the slices of `ograd` at the points; indices have no
//! gradient.
//!
//! MXNet: `_scatter_set_nd`, also `_npi_scatter_set_nd`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; indices any of these.

use crate::dtypes::NUMBERS;
use crate::families::gradients::params_of;
use crate::inference::{OP, learn, unify, unify_dtypes};
use crate::shape::gather_nd::slices;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Fill, Gradient, InputNames, OpDef, Precision, Sample, op_params};
use mxrs_types::{Error, PartialShape};

op_params! {
    /// Parameters of `_scatter_set_nd`.
    pub struct ScatterSetNdParams for "_scatter_set_nd" {
        /// Shape of lhs.
        shape: ShapeAttr,
    }
}

/// Defines the operator `_scatter_set_nd`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npi_scatter_set_nd"],
        summary: "slices put at points of a tensor",
        inputs: InputNames::Fixed(&["lhs", "rhs", "indices"]),
        infer_shape: |params, inputs, outputs| {
            let [lhs, rhs, indices] = inputs else { return Ok(()) };
            let shape = &params.get::<ScatterSetNdParams>().shape;
            learn(lhs, &PartialShape::new(shape.iter().map(|size| usize::try_from(*size).ok())), "lhs")?;
            unify(lhs, &mut outputs[0], "output")?;
            let (Some(out), Some(dims)) = (lhs.dims(), indices.dims()) else { return Ok(()) };
            let Some((n_axes, points)) = dims.split_first() else {
                return Err(Error::shape(OP, "indices", "at least one axis", &*indices));
            };
            match *n_axes {
                Some(n_axes) if n_axes > out.len() => {
                    Err(Error::shape(OP, "indices", format!("at most {} on axis 0", out.len()), &*indices))
                }
                Some(n_axes) => learn(rhs, &PartialShape::new([points, &out[n_axes..]].concat()), "rhs"),
                None => Ok(()),
            }
        },
        infer_dtype: |_, inputs, outputs| {
            let [lhs, rhs, indices] = inputs else { return Ok(()) };
            unify_dtypes([&mut *lhs, rhs, &mut outputs[0]], "rhs")?;
            *indices = indices.or(*lhs);
            Ok(())
        },
        dtypes: NUMBERS,
        gradient: Gradient::By(|_, scope| {
            let (head, rhs, indices) = (scope.out_grad(0)?, scope.input(1), scope.input(2));
            let attrs = params_of(scope);
            let zeros = scope.call_one("zeros_like", &[rhs])?;
            let by_lhs = scope.call("_scatter_set_nd", attrs, &[head, zeros, indices])?[0];
            Ok(vec![Some(by_lhs), Some(scope.call_one("gather_nd", &[head, indices])?), None])
        }),
        reference: Some(|_, inputs, outputs, _| {
            let out = &mut outputs[0];
            out.bytes.copy_from_slice(inputs[0].bytes);
            let (starts, slice) = slices(&out.desc.shape, &inputs[2])?;
            let size = out.desc.dtype.size_of();
            for (start, from) in starts.into_iter().zip(inputs[1].bytes.chunks_exact((slice * size).max(1))) {
                out.bytes[start * size..][..from.len()].copy_from_slice(from);
            }
            Ok(())
        }),
        samples: || {
            let points = Fill::Values(vec![0.0, 2.0, 1.0, 1.0, 3.0, 0.0]);
            let of = |name, shape, shapes: &[&[usize]]| Sample::new(name, [("shape", shape)], shapes);
            vec![
                of("elements", "(3, 4)", &[&[3, 4], &[3], &[2, 3]]).fill(2, points),
                of("rows", "(4, 2)", &[&[4, 2], &[3, 2], &[1, 3]]).fill(2, Fill::Values(vec![2.0, 0.0, 3.0])),
                of("one", "(1,)", &[&[1], &[1], &[1, 1]]).fill(2, Fill::Values(vec![0.0])),
                of("empty", "(2, 3)", &[&[2, 3], &[0, 3], &[1, 0]]),
            ]
        },
        precision_float16: Some(Precision::follows),
        ..OpDef::new("_scatter_set_nd").params::<ScatterSetNdParams>()
    }
}
