//! Operators that stretch a tensor to a larger shape by repeating axes of size 1. The gradient sums over the stretched axes.

use crate::dtypes::NUMBERS;
use crate::families::along::{self, Along};
use crate::families::broadcast::positions;
use crate::families::broadcast_back::SUM_LIKE;
use crate::families::indexing::gather_positions;
use crate::inference::unify_dtypes;
use mxrs_op::{Gradient, MovedParts, Moves, OpDef, Precision};
use mxrs_types::Shape;

/// Defines an operator that stretches its first input. The caller adds the summary, the shape inference and the samples.
pub fn define(name: &'static str) -> OpDef {
    OpDef {
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        dtypes: NUMBERS,
        precision: Precision::follows,
        gradient: Gradient::By(|_, scope| {
            let (head, data) = (scope.out_grad(0)?, scope.input(0));
            let mut answers = vec![None; scope.n_inputs()];
            answers[0] = Some(scope.call_one(SUM_LIKE, &[head, data])?);
            Ok(answers)
        }),
        moves: Moves::Parts(|_, inputs, outputs| Ok(stretched(inputs[0], outputs[0]))),
        reference: Some(|_, inputs, outputs, _| {
            let from = positions(&inputs[0].desc.shape, &outputs[0].desc.shape);
            gather_positions(&inputs[0], &mut outputs[0], &from);
            Ok(())
        }),
        ..OpDef::new(name)
    }
}

/// The parts of a tensor that is stretched: axes of size 1, and missing leading axes, are repeated.
fn stretched(data: &Shape, out: &Shape) -> Option<MovedParts> {
    let (strides, missing) = (data.strides(), out.ndim().checked_sub(data.ndim())?);
    let axis = |axis: usize| match axis.checked_sub(missing) {
        Some(own) if data[own] != 1 => Along::whole(out[axis], strides[own]),
        _ => Along::whole(out[axis], 0),
    };
    along::parts(0, &(0..out.ndim()).map(axis).collect::<Vec<_>>(), out, 0.0)
}
