//! `_backward_reshape`, the backward operator of every operator that only changes the shape: takes (ograd, data), returns
//! ograd in data's shape. The output is a view; the content of data is not read.

use crate::dtypes::MOVABLE;
use crate::families::gradients::Answers;
use crate::inference::{OP, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{Gradient, GradientScope, InputNames, OpDef, OpParams, Sample, View};
use mxrs_types::{Error, Result};

const BACKWARD: &str = "_backward_reshape";

/// The gradient of an operator with one input that keeps the elements and their order. It is also the gradient of
/// `_backward_reshape` itself.
pub fn gradient(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let (head, data) = (scope.out_grad(0)?, scope.input(0));
    let mut answers = vec![None; scope.n_inputs()];
    answers[0] = Some(scope.call_one(BACKWARD, &[head, data])?);
    Ok(answers)
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
        reference: Some(|_, inputs, outputs, _| -> Result<()> {
            numeric::copy_bytes(inputs, outputs);
            Ok(())
        }),
        samples: || {
            let none: [(&str, &str); 0] = [];
            vec![
                Sample::new("from_flat", none, &[&[24], &[2, 3, 4]]),
                Sample::new("to_matrix", none, &[&[2, 3, 4], &[6, 4]]),
                Sample::new("one_axis_less", none, &[&[1, 5], &[5]]),
                Sample::new("to_scalar", none, &[&[1], &[]]),
                Sample::new("empty", none, &[&[0, 6], &[0, 2, 3]]),
            ]
        },
        ..OpDef::new(BACKWARD)
    }
}
