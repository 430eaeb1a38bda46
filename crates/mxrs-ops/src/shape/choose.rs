//! Chooses elements: `out[i] = x[i]` where the condition is not 0, else `y[i]`. A condition with one axis chooses slices along
//! the first axis of x and y.
//!
//! Gradient: x gets `ograd` where it was chosen and y elsewhere; the condition has no gradient.
//!
//! MXNet: `where`, also `_sparse_where`. Dtypes of x and y: f32 f64 f16 bf16 u8 i8 i32 i64; condition any of these.

use crate::dtypes::NUMBERS;
use crate::families::gradients::{Answers, if_wanted};
use crate::inference::{OP, learn, learn_dim, unify_all, unify_dtypes};
use crate::numeric;
use mxrs_op::{Fill, Gradient, GradientScope, InputNames, OpDef, OpParams, Precision, Sample};
use mxrs_types::{DType, Error, PartialShape, Result};

/// Defines the operator `where`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_where"],
        summary: "x where condition is not 0, else y",
        inputs: InputNames::Fixed(&["condition", "x", "y"]),
        infer_shape,
        infer_dtype,
        dtypes: NUMBERS,
        precision: Precision::widest,
        gradient: Gradient::By(|_, scope| gradient(scope)),
        reference: Some(|_, inputs, outputs, _| {
            let [condition, x, y] = inputs else { return Ok(()) };
            let size = x.desc.dtype.size_of();
            let conditions = numeric::read(condition);
            // The number of bytes that one element of the condition chooses.
            let len = x.bytes.len() / conditions.len().max(1);
            for (i, condition) in conditions.iter().enumerate().filter(|_| len >= size) {
                let from = if *condition != 0.0 { x } else { y };
                outputs[0].bytes[i * len..][..len].copy_from_slice(&from.bytes[i * len..][..len]);
            }
            Ok(())
        }),
        samples,
        ..OpDef::new("where")
    }
}

fn gradient(scope: &mut dyn GradientScope) -> Answers {
    let (head, condition) = (scope.out_grad(0)?, scope.input(0));
    let zeros = scope.call_one("zeros_like", &[head])?;
    let by_x = if_wanted(scope, 1, |scope| scope.call_one("where", &[condition, head, zeros]))?;
    let by_y = if_wanted(scope, 2, |scope| scope.call_one("where", &[condition, zeros, head]))?;
    Ok(vec![None, by_x, by_y])
}

fn infer_shape(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let Some((condition, branches)) = inputs.split_first_mut() else { return Ok(()) };
    unify_all(branches, outputs, "y")?;
    match (condition.ndim(), branches[0].ndim()) {
        (Some(1), Some(_)) => {
            learn_dim(condition, 0, branches[0].dim(0), "condition")?;
            learn_dim(&mut branches[0], 0, condition.dim(0), "x")?;
        }
        (Some(a), Some(b)) if a != b => {
            let expected = format!("one axis, or the shape {} of x", branches[0]);
            return Err(Error::shape(OP, "condition", expected, &*condition));
        }
        (Some(_), Some(_)) => {
            learn(condition, &branches[0].clone(), "condition")?;
            learn(&mut branches[0], &condition.clone(), "x")?;
        }
        _ => return Ok(()),
    }
    unify_all(branches, outputs, "y")
}

fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let [condition, branches @ ..] = inputs else { return Ok(()) };
    unify_dtypes(branches.iter_mut().chain(outputs), "y")?;
    *condition = condition.or(branches[0]);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, condition: &[usize], shape: &[usize]| {
        Sample::plain(name, &[condition, shape, shape]).fill(0, Fill::Integers(0, 2))
    };
    vec![
        of("elements", &[3, 5], &[3, 5]),
        of("rows", &[4], &[4, 2, 3]),
        of("vector", &[7], &[7]),
        of("integers", &[2, 3], &[2, 3]).dtype(0, DType::I32),
        of("one", &[1], &[1]),
        of("empty", &[0, 3], &[0, 3]),
    ]
}
