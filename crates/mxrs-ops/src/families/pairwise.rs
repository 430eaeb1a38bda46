//! The definition that elementwise operators with two inputs of equal shape share.

use crate::families::unary;
use crate::inference::{unify_all, unify_dtypes};
use mxrs_op::{Fill, InputNames, OpDef, Sample};

/// Defines an operator `out[i] = f(lhs[i], rhs[i])`; the shapes are equal. The caller adds the summary and the
/// reference kernel.
pub fn define(name: &'static str) -> OpDef {
    OpDef {
        inputs: InputNames::Fixed(&["lhs", "rhs"]),
        infer_shape: |_, inputs, outputs| unify_all(inputs, outputs, "rhs"),
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "rhs"),
        inplace: &[(0, 0), (1, 0)],
        samples,
        ..unary::define(name)
    }
}

fn samples() -> Vec<Sample> {
    let special = unary::special_values();
    let mut turned = special.clone();
    turned.rotate_left(3);
    vec![
        Sample::plain("matrix", &[&[3, 5], &[3, 5]]),
        Sample::plain("odd", &[&[2, 3, 7, 5], &[2, 3, 7, 5]]),
        Sample::plain("one", &[&[1], &[1]]),
        Sample::plain("scalar", &[&[], &[]]),
        Sample::plain("empty", &[&[3, 0], &[3, 0]]),
        Sample::plain("special", &[&[8], &[8]]).fill(0, Fill::Values(special)).fill(1, Fill::Values(turned)),
    ]
}
