//! `_backward_reshape`, the backward operator of every operator that only changes the shape: takes (ograd, data), returns
//! ograd in data's shape. The output is a view; the content of data is not read.

use crate::dtypes::MOVABLE;
use crate::families::gradients::Answers;
use crate::inference::{OP, unify, unify_dtypes};
use crate::numeric::{self, reference};
use mxrs_op::{Gradient, GradientScope, InputNames, OpDef, OpParams, Precision, Sample, View};
use mxrs_types::Error;

const BACKWARD: &str = "_backward_reshape";

/// The gradient of an operator with one input that keeps the elements and their order. It is also the gradient of
/// `_backward_reshape` itself.
pub fn gradient(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let (head, data) = (scope.out_grad(0)?, scope.input(0));
    let mut answers = vec![None; scope.n_inputs()];
    answers[0] = Some(scope.call_one(BACKWARD, &[head, data])?);
    Ok(answers)
}

/// Defines an operator that keeps the elements and their order. Its output is a view.
pub fn define_view(name: &'static str) -> OpDef {
    OpDef {
        dtypes: MOVABLE,
        view: |_, _| View::Reshape,
        precision: Precision::follows,
        gradient: Gradient::By(gradient),
        reference: reference!(numeric::copy_bytes),
        ..OpDef::new(name)
    }
}

/// Defines the operator `_backward_reshape`, a companion of `Reshape`.
pub fn define() -> OpDef {
    OpDef {
        summary: "ograd in the shape of data",
        inputs: InputNames::Fixed(&["ograd", "data"]),
        infer_shape: |_, inputs, outputs| {
            let [ograd, data] = inputs else { return Ok(()) };
            unify(data, &mut outputs[0], "data")?;
            match (ograd.known(), data.known()) {
                (Some(from), Some(to)) if from.n_elements() != to.n_elements() => {
                    Err(Error::shape(OP, "data", format!("{} elements", from.n_elements()), to))
                }
                _ => Ok(()),
            }
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        dtypes: MOVABLE,
        view: |_, _| View::Reshape,
        ignored_inputs: &[1],
        gradient: Gradient::By(gradient),
        reference: reference!(numeric::copy_bytes),
        samples: || {
            vec![
                Sample::plain("from_flat", &[&[24], &[2, 3, 4]]),
                Sample::plain("to_matrix", &[&[2, 3, 4], &[6, 4]]),
                Sample::plain("one_axis_less", &[&[1, 5], &[5]]),
                Sample::plain("to_scalar", &[&[1], &[]]),
                Sample::plain("empty", &[&[0, 6], &[0, 2, 3]]),
            ]
        },
        ..OpDef::new(BACKWARD)
    }
}
