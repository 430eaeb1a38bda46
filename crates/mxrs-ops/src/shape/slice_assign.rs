//! Replaces a part of a tensor: `out` is lhs, with rhs in the ranges that `slice` takes with the same parameters.
//!
//! Gradient: lhs gets `ograd` with zeros in the ranges, rhs gets `ograd` in the ranges.
//!
//! MXNet: `_slice_assign`, also `_crop_assign`, `_npi_slice_assign`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::dtypes::MOVABLE;
use crate::families::gradients::{Answers, if_wanted, params_of};
use crate::families::indexing::for_each_index;
use crate::families::ranges::{RangeParams, known, learn_part, position};
use crate::inference::{unify, unify_dtypes};
use mxrs_op::{Gradient, GradientScope, InputNames, OpDef, Precision, Sample};

/// Defines the operator `_slice_assign`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_crop_assign", "_npi_slice_assign"],
        summary: "lhs, with rhs in ranges of axes",
        inputs: InputNames::Fixed(&["lhs", "rhs"]),
        infer_shape: |params, inputs, outputs| {
            let [lhs, rhs] = inputs else { return Ok(()) };
            unify(lhs, &mut outputs[0], "output")?;
            if lhs.ndim().is_none() {
                return Ok(());
            }
            let ranges = params.get::<RangeParams>().ranges(lhs)?;
            learn_part(&ranges, lhs, rhs)?;
            unify(lhs, &mut outputs[0], "output")
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "rhs"),
        dtypes: MOVABLE,
        inplace: &[(0, 0)],
        gradient: Gradient::By(|_, scope| gradient(scope)),
        reference: Some(|params, inputs, outputs, _| {
            let (out, rhs) = (&mut outputs[0], &inputs[1]);
            out.bytes.copy_from_slice(inputs[0].bytes);
            let shape = out.desc.shape.clone();
            let ranges = known(params.get::<RangeParams>().ranges(&(&shape).into()))?;
            let size = out.desc.dtype.size_of();
            let mut elements = rhs.bytes.chunks_exact(size);
            for_each_index(&rhs.desc.shape, |index| {
                let at = position(&ranges, &shape, index) * size;
                elements.next().into_iter().for_each(|from| out.bytes[at..at + size].copy_from_slice(from));
            });
            Ok(())
        }),
        samples,
        precision_float16: Some(Precision::follows),
        ..OpDef::new("_slice_assign").params::<RangeParams>()
    }
}

fn gradient(scope: &mut dyn GradientScope) -> Answers {
    let (head, attrs) = (scope.out_grad(0)?, params_of(scope));
    let by_lhs = if_wanted(scope, 0, |scope| Ok(scope.call("_slice_assign_scalar", attrs.clone(), &[head])?[0]))?;
    let by_rhs = if_wanted(scope, 1, |scope| Ok(scope.call("slice", attrs.clone(), &[head])?[0]))?;
    Ok(vec![by_lhs, by_rhs])
}

fn samples() -> Vec<Sample> {
    let of = |name, begin, end, step, lhs: &[usize], rhs: &[usize]| {
        Sample::new(name, [("begin", begin), ("end", end), ("step", step)], &[lhs, rhs])
    };
    vec![
        of("rows", "(1,)", "(3,)", "()", &[4, 5], &[2, 5]),
        of("block", "(0, 1)", "(2, -1)", "()", &[3, 5], &[2, 3]),
        of("steps", "(None, 4)", "(None, 0)", "(2, -2)", &[5, 6], &[3, 2]),
        of("one", "(0,)", "(1,)", "()", &[1], &[1]),
        of("empty", "(0, 0)", "(None, 2)", "()", &[0, 3], &[0, 2]),
    ]
}
