//! The definition that elementwise operators with two inputs of equal shape share.

use crate::dtypes::NUMBERS;
use crate::inference::{unify_all, unify_dtypes};
use mxrs_op::{Accuracy, Fill, InputNames, OpDef, OpParams, Pointwise, ReferenceFn, Sample};
use mxrs_types::{DType, PartialShape, Result};

/// Defines an operator `out[i] = f(lhs[i], rhs[i])`; the shapes are equal.
pub fn define(
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
    reference: ReferenceFn,
) -> OpDef {
    OpDef {
        aliases,
        summary,
        inputs: InputNames::Fixed(&["lhs", "rhs"]),
        infer_shape,
        infer_dtype,
        dtypes: NUMBERS,
        inplace: &[(0, 0), (1, 0)],
        pointwise: Pointwise::Yes,
        accuracy: Accuracy::Elementwise,
        reference: Some(reference),
        samples,
        ..OpDef::new(name)
    }
}

fn infer_shape(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    unify_all(inputs, outputs, "rhs")
}

/// Infers that both inputs and the output have the same type.
pub fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    unify_dtypes(inputs.iter_mut().chain(outputs), "rhs")
}

fn samples() -> Vec<Sample> {
    let none: [(&str, &str); 0] = [];
    let special = crate::families::unary::special_values();
    let mut turned = special.clone();
    turned.rotate_left(3);
    vec![
        Sample::new("matrix", none, &[&[3, 5], &[3, 5]]),
        Sample::new("odd", none, &[&[2, 3, 7, 5], &[2, 3, 7, 5]]),
        Sample::new("one", none, &[&[1], &[1]]),
        Sample::new("scalar", none, &[&[], &[]]),
        Sample::new("empty", none, &[&[3, 0], &[3, 0]]),
        Sample::new("special", none, &[&[8], &[8]]).fill(0, Fill::Values(special)).fill(1, Fill::Values(turned)),
    ]
}
